/** A collection, followed from its list on by a watch. */
import type { KubeObject } from '../../src/api/object.ts'
import type { ResourceClient } from '../../src/client/client.ts'

const LONGEST_MS = 60_000

export interface Followed {
  /** Resolves when it is so of what there is, by name. @throws Error after a minute */
  until(what: string, isSo: (all: ReadonlyMap<string, KubeObject>) => boolean): Promise<void>
}

/** Lists at once: all that happens from here on is seen. */
export async function follow(resource: ResourceClient): Promise<Followed> {
  const { metadata, items } = await resource.list()
  const all = new Map(items.map((object) => [object.metadata.name ?? '', object]))
  return {
    async until(what, isSo) {
      if (isSo(all)) return
      const end = new AbortController()
      const timer = setTimeout(() => end.abort(), LONGEST_MS)
      try {
        const events = await resource.watch({ resourceVersion: metadata.resourceVersion }, end.signal)
        for (let event = await events.next(); event !== undefined; event = await events.next()) {
          const { name = '' } = event.object.metadata
          if (event.type === 'DELETED') all.delete(name)
          else all.set(name, event.object)
          if (isSo(all)) return
        }
        throw new Error(`${end.signal.aborted ? 'after a minute' : 'at the end of the watch'} still not: ${what}`)
      } finally {
        clearTimeout(timer)
        end.abort()
      }
    },
  }
}
