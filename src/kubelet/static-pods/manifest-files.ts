/**
 * Manifests as files: one, or those of a folder (API concept: --pod-manifest-path). They are read again when the folder tells of a
 * change, and every so often in any case. Files whose names begin with a dot are none.
 */
import { type FSWatcher, readdirSync, readFileSync, type Stats, statSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Pod } from '../pod.ts'
import { staticPodOf } from './static-pod.ts'
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

  /** Undefined: what was there before stays. */
  function podsNow(): readonly Pod[] | undefined {
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
      return names.sort().flatMap((name) => podIn(join(root, name)))
    } catch (error) {
      complain(root, error)
      return undefined
    }
  }

  function podIn(file: string): readonly Pod[] {
    try {
      return statSync(file).isFile() ? [podOf(file)] : []
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') complain(file, error)
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
            soon ??= machineClock.setTimer(SETTLE_MS, 'manifests have changed', look)
          })
          watcher.on('error', unwatch)
        } catch {
          // It is not there, or is not told of: the next look finds it.
        }
      }
      const look = () => {
        soon?.cancel()
        soon = undefined
        timer?.cancel()
        if (signal.aborted) return
        follow()
        const pods = podsNow()
        if (pods !== undefined) tell(pods)
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
