/** What a change is to a watch with selectors (API concept: efficient detection of changes). */
import type { WatchEvent } from '../../api/request.ts'
import type { CacheEntry, ServedForm } from './entry.ts'
import type { Change } from './event-log.ts'

/**
 * An object that comes to match is ADDED, one that still does MODIFIED, one that no longer does DELETED, in its last matching state. Undefined: it did not match
 * before and does not now.
 */
export function addedModifiedOrDeleted(
  change: Change,
  matches: (entry: CacheEntry) => boolean,
  form: ServedForm | undefined,
  withPrevious: boolean,
): WatchEvent | undefined {
  const { entry, previous } = change
  const is = entry !== undefined && matches(entry)
  const was = previous !== undefined && matches(previous)
  if (is && was && withPrevious) return { type: 'MODIFIED', object: entry.object, previous: previous.object }
  if (is) return change.event(was ? 'MODIFIED' : 'ADDED', form)
  return was ? change.event('DELETED', form) : undefined
}
