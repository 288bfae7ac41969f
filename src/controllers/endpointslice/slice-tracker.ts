/**
 * What the controller has written of each service's slices. Until its informer shows that, a plan made by the informer's slices
 * would put the same endpoints into further slices.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'

/** A watch event that does not come in this time will not come; the informer counts as up to date again. */
const timeoutMs = 300_000

interface Written {
  /** undefined: the slice was deleted. */
  readonly generation: number | undefined
  readonly resourceVersion: string | undefined
  readonly at: number
}

export interface SliceTracker {
  wrote(service: KubeObject, slice: KubeObject): void
  deletes(service: KubeObject, slice: KubeObject): void
  /** It was not deleted, or may not have been. */
  keeps(service: KubeObject, slice: KubeObject): void
  /** `slices`: all of the service that the informer has. */
  isBehind(service: KubeObject, slices: readonly KubeObject[]): boolean
  /** Whether an event of the informer tells of something that was not written here, or was waited for. */
  isNews(service: KubeObject, slice: KubeObject, type: 'changed' | 'gone'): boolean
  /** Called when the Service has been deleted. */
  forget(service: KubeObject): void
}

export function createSliceTracker(clock: Clock): SliceTracker {
  /** By the service's uid and the slice's. */
  const written = new Map<string, Map<string, Written>>()
  /** Services for which the informer was behind when it was last asked. */
  const waiting = new Set<string>()
  const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? ''
  const note = (service: KubeObject, slice: KubeObject, generation: number | undefined) => {
    const { resourceVersion } = slice.metadata
    const own = written.get(uidOf(service)) ?? new Map<string, Written>()
    written.set(uidOf(service), own.set(uidOf(slice), { generation, resourceVersion, at: clock.monotonic() }))
  }
  return {
    wrote: (service, slice) => note(service, slice, slice.metadata.generation ?? 0),
    deletes: (service, slice) => note(service, slice, undefined),
    keeps: (service, slice) => void written.get(uidOf(service))?.delete(uidOf(slice)),
    isBehind(service, slices) {
      waiting.delete(uidOf(service))
      const own = written.get(uidOf(service))
      if (own === undefined) return false
      const seen = new Map(slices.map((slice) => [uidOf(slice), slice.metadata]))
      for (const [uid, { generation, at }] of own) {
        const slice = seen.get(uid)
        const behind =
          generation === undefined
            ? slice !== undefined && slice.deletionTimestamp === undefined
            : slice === undefined || (slice.generation ?? 0) < generation
        if (!behind) continue
        if (clock.monotonic() - at <= timeoutMs) {
          waiting.add(uidOf(service))
          return true
        }
        own.delete(uid)
      }
      return false
    },
    isNews(service, slice, type) {
      const own = written.get(uidOf(service))
      const last = own?.get(uidOf(slice))
      if (type === 'gone') own?.delete(uidOf(slice))
      if (waiting.has(uidOf(service)) || last === undefined) return true
      // Owners and annotations are no news: a slice of a service that goes stays when it is orphaned.
      return type === 'gone' ? last.generation !== undefined : last.generation !== (slice.metadata.generation ?? 0)
    },
    forget(service) {
      written.delete(uidOf(service))
      waiting.delete(uidOf(service))
    },
  }
}
