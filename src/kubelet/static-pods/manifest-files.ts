/**
 * Manifests as files: one, or those of a folder (API concept: --pod-manifest-path). They are read again when the folder tells of a
 * change, and every so often in any case: a file that cannot be read any more counts as removed only then, so that one may be written in
 * several steps. Files whose names begin with a dot are none. Of several files with one pod the last by its name counts.
 */
import { type FSWatcher, readdirSync, readFileSync, type Stats, statSync, watch } from 'node:fs'
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

export function manifestFiles({
  runtime,
  path,
  nodeName,
  everyMs = FILE_CHECK_MS,
}: ManifestFilesOptions): StaticPodSource {
  const { clock, machineClock, log } = runtime
  const root = resolve(path)
  /** What was last said against each file, so that it is said once. */
  const complaints = new Map<string, string>()
  /** By file of the folder: what it said when it could be read. */
  const readable = new Map<string, Pod>()

  function complain(file: string, error: unknown): void {
    const text = messageOf(error)
    if (complaints.get(file) === text) return
    complaints.set(file, text)
    log.error('A manifest of a static pod cannot be used', error, { path: file })
  }

  function podOf(file: string): Pod {
    const { size } = statSync(file)
    if (size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`)
    const pod = staticPodOf(readFileSync(file), { source: 'file', place: file, nodeName, seenAt: clock.now() })
    complaints.delete(file)
    return pod
  }

  /** Undefined: what was there before stays. `patient`: a file that cannot be read may just be written. */
  function podsNow(patient: boolean): readonly Pod[] | undefined {
    let stat: Stats
    try {
      stat = statSync(root)
    } catch (error) {
      complain(root, error)
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined
    }
    try {
      if (!stat.isDirectory()) return [podOf(root)]
      complaints.delete(root)
      const names = readdirSync(root).filter((name) => !name.startsWith('.'))
      const pods = names.sort().flatMap((name) => podIn(join(root, name), patient))
      return [...new Map(pods.map((pod) => [fullNameOf(pod), pod])).values()]
    } catch (error) {
      complain(root, error)
      return undefined
    }
  }

  function podIn(file: string, patient: boolean): readonly Pod[] {
    try {
      const pod = statSync(file).isFile() ? podOf(file) : undefined
      if (pod !== undefined) readable.set(file, pod)
      return pod === undefined ? [] : [pod]
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isGone) complain(file, error)
      const before = readable.get(file)
      if (patient && !isGone && before !== undefined) return [before]
      readable.delete(file)
      return []
    }
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
