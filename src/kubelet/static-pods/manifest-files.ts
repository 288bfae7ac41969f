/**
 * Manifests as files: one, or those of a folder (API concept: --pod-manifest-path). They are read again when the folder tells of a
 * change, and every so often in any case: a file that cannot be read any more counts as removed only then, so that one may be written in
 * several steps. Files whose names begin with a dot are none. Of several files with one pod the last by its name counts.
 */
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Pod } from '../pod.ts'
import { fullNameOf, staticPodOf } from './static-pod.ts'
import type { StaticPodSource } from './static-pods.ts'

export interface ManifestFilesOptions {
  readonly runtime: Runtime
  /** A folder, or a file. It may be away for a while. */
  readonly path: string
  readonly nodeName: string
  /** Milliseconds; default 20 seconds. */
  readonly everyMs?: number
}

export const FILE_CHECK_MS = 20_000
/** What is written in several steps is read once. */
const SETTLE_MS = 100
const MOST_BYTES = 10 * 1024 * 1024

interface Look {
  /** What is said against each file: it is logged when it is new. */
  readonly complaints: Map<string, string>
  /** By file of the folder, in the order of names: what it says, or said when it could be read. */
  readonly readable: Map<string, Pod>
}

export function manifestFiles({
  runtime,
  path,
  nodeName,
  everyMs = FILE_CHECK_MS,
}: ManifestFilesOptions): StaticPodSource {
  const { clock, machineClock, log } = runtime
  const root = resolve(path)
  let last: Look = { complaints: new Map(), readable: new Map() }

  /** Undefined: what was there before stays. `patient`: a file that cannot be read may just be written. */
  function podsNow(patient: boolean): readonly Pod[] | undefined {
    const before = last
    const look: Look = { complaints: new Map(), readable: new Map() }
    const complain = (file: string, error: unknown): void => {
      const text = messageOf(error)
      look.complaints.set(file, text)
      if (before.complaints.get(file) !== text)
        log.error('A manifest of a static pod cannot be used', error, { path: file })
    }
    last = look
    try {
      if (!statSync(root).isDirectory()) return [podOf(root)]
      const names = readdirSync(root).filter((name) => !name.startsWith('.'))
      for (const file of names.sort().map((name) => join(root, name))) {
        try {
          if (statSync(file).isFile()) look.readable.set(file, podOf(file))
        } catch (error) {
          if (isMissing(error)) continue
          complain(file, error)
          const pod = before.readable.get(file)
          if (patient && pod !== undefined) look.readable.set(file, pod)
        }
      }
    } catch (error) {
      complain(root, error)
      if (isMissing(error)) return []
      last = { ...look, readable: before.readable }
      return undefined
    }
    return oneOfEach(look.readable, complain)
  }

  function podOf(file: string): Pod {
    const { size } = statSync(file)
    if (size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`)
    return staticPodOf(readFileSync(file), { source: 'file', place: file, nodeName, seenAt: clock.now() })
  }

  return {
    name: 'file',
    start(tell, signal) {
      let watcher: FSWatcher | undefined
      let timer: Timer | undefined
      let soon: Timer | undefined

      const unwatch = () => {
        watcher?.close()
        watcher = undefined
      }
      const follow = () => {
        if (watcher !== undefined) return
        try {
          watcher = watch(root, { persistent: false }, (type) => {
            // A file that is replaced is another one.
            if (type === 'rename') unwatch()
            soon ??= machineClock.setTimer(SETTLE_MS, 'manifests have changed', () => read(true))
          })
          watcher.on('error', unwatch)
        } catch {
          // It is not there, or is not told of: the next look finds it.
        }
      }
      const read = (patient: boolean) => {
        soon?.cancel()
        soon = undefined
        if (signal.aborted) return
        follow()
        const pods = podsNow(patient)
        if (pods !== undefined) tell(pods)
      }
      const look = () => {
        read(false)
        if (signal.aborted) return
        timer = machineClock.setTimer(everyMs, 'manifests are looked at', look, { everyMs, goesOn: true })
      }
      signal.addEventListener(
        'abort',
        () => {
          unwatch()
          timer?.cancel()
          soon?.cancel()
        },
        { once: true },
      )
      look()
    },
  }
}

/** Of several files with one pod the last. */
function oneOfEach(files: Look['readable'], complain: (file: string, error: Error) => void): readonly Pod[] {
  const chosen = new Map<string, readonly [string, Pod]>()
  for (const [file, pod] of files) {
    const fullName = fullNameOf(pod)
    const other = chosen.get(fullName)?.[0]
    if (other !== undefined)
      complain(other, new Error(`it is passed over, since ${file} has the same pod: give one of them another name`))
    chosen.set(fullName, [file, pod])
  }
  return [...chosen.values()].map(([, pod]) => pod)
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'
