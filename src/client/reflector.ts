/**
 * Reflector: keeps a sink at the server's state by one list and then watches, each from the resourceVersion reached. A
 * broken watch is taken up again where it broke; one that is too old (410) begins with a new list.
 */
import type { KubeObject } from '../api/object.ts'
import type { WatchEvent } from '../api/request.ts'
import { isExpired, StatusError } from '../api/status.ts'
import { sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { ListOptions, ResourceClient } from './client.ts'

export interface ReflectorSink<T extends KubeObject> {
  /** The whole state, at `resourceVersion`. */
  replace(items: readonly T[], resourceVersion: string): Promise<void> | void
  /** ADDED, MODIFIED, DELETED; in the order of the server's revisions. */
  apply(event: WatchEvent & { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' }): void
  /** Nothing changed up to this version. */
  bookmark(resourceVersion: string): void
}

const firstBackoffMs = 800
const maxBackoffMs = 30_000
/** A watch that ends sooner than this and brought nothing counts as failed. */
const shortWatchMs = 1000
/** A watch is asked to last so long, or up to twice that: taken up anew, watches spread over servers. */
const SHORTEST_WATCH_SECONDS = 300

/** Resolves when `signal` is aborted; failures are logged and tried again with a growing, jittered wait. */
export async function runReflector<T extends KubeObject>(
  runtime: Runtime,
  resource: Pick<ResourceClient<T>, 'gvr' | 'list' | 'watch'>,
  options: ListOptions,
  sink: ReflectorSink<T>,
  signal: AbortSignal,
  /** `endless`: watches last until they are ended, since there are no servers to spread over. */
  { endless = false } = {},
): Promise<void> {
  const { clock, random, log } = runtime
  const subject = `${resource.gvr.group}/${resource.gvr.version}, Resource=${resource.gvr.resource}`
  let failures = 0
  let version: string | undefined
  // A cached list first; after a 410 the caches may be what is stale, so the next list asks for the newest.
  let listFrom: string | undefined = '0'

  const pause = async () => {
    const wait = Math.min(firstBackoffMs * 2 ** Math.min(failures, 10), maxBackoffMs)
    failures++
    await sleep(clock, wait * (1 + random.float()), signal)
  }

  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const list = await resource.list({
          ...options,
          ...(listFrom === undefined ? {} : { resourceVersion: listFrom }),
        })
        if (signal.aborted) return
        version = list.metadata.resourceVersion
        await sink.replace(list.items, version)
        if (signal.aborted) return
        listFrom = '0'
      }
      const quiet = await watchFrom(version)
      if (signal.aborted) return
      if (quiet) await pause()
    } catch (error) {
      if (signal.aborted) return
      if (isExpired(error)) {
        log.info(4, 'Watch too old, listing again', { type: subject })
        version = undefined
        listFrom = undefined
        if (failures++ > 1) await pause().catch(() => {})
        continue
      }
      log.info(2, 'Failed to list or watch', { type: subject, err: String(error) })
      // What was refused may be refused for what we know; what was not answered at all is only taken up again.
      if (error instanceof StatusError && error.code !== 429) version = undefined
      await pause().catch(() => {})
    }
  }

  /** True when the watch ended at once without bringing anything. */
  async function watchFrom(from: string): Promise<boolean> {
    const startedAt = clock.monotonic()
    let events = 0
    const watch = new AbortController()
    const stop = () => watch.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    try {
      const reader = await resource.watch(
        {
          ...options,
          resourceVersion: from,
          allowWatchBookmarks: true,
          ...(endless ? {} : { timeoutSeconds: Math.floor(SHORTEST_WATCH_SECONDS * (1 + random.float())) }),
        },
        watch.signal,
      )
      for (;;) {
        const first = await reader.next()
        if (first === undefined || signal.aborted) break
        take(first)
        for (const event of reader.drain()) take(event)
      }
    } finally {
      signal.removeEventListener('abort', stop)
      watch.abort()
    }
    return events === 0 && clock.monotonic() - startedAt < shortWatchMs

    function take(event: WatchEvent) {
      if (signal.aborted) return
      events++
      failures = 0
      version = event.object.metadata.resourceVersion ?? version
      if (event.type === 'BOOKMARK') sink.bookmark(version ?? '')
      else if (event.type !== 'ERROR') sink.apply(event as Parameters<typeof sink.apply>[0])
    }
  }
}
