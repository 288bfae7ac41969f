/**
 * Which watchers a change concerns, found by what their selectors fix: a name, the value of a field or of a label, the
 * namespace. A change is offered to the watchers found under its values, before and after it; what other watchers wait for
 * costs it nothing. Watchers whose selectors fix nothing read the event log.
 */
import type { CacheEntry } from './entry.ts'
import type { Change } from './event-log.ts'
import { type EntrySelection, fieldValue, nameInKey, readLabel, type SelectedFields } from './selected.ts'
import type { Woken } from './when-watchers-are-told.ts'

export interface Offered extends Woken {
  /** Called with each change that its selectors may match. `sequence`: the change's number in the event log. */
  offer(change: Change, sequence: number): void
}

/** What a watch fixes: entries under `prefix` that have one of `values`. */
export interface Interest {
  readonly prefix: string
  readonly facet: string
  readonly read: (entry: CacheEntry) => string | undefined
  readonly values: readonly string[]
}

export interface Interests {
  add(watcher: Offered, interest: Interest): void
  remove(watcher: Offered, interest: Interest): void
  /** Offers the change to the watchers that it may concern, and adds these to `told`. */
  offer(change: Change, sequence: number, told: Set<Woken>): void
}

/** A label selector with more values than this is held against every change. */
const MOST_VALUES = 16

/** The most telling thing that a watch fixes; undefined when it fixes nothing. `root` is the resource's own prefix. */
export function interestOf(
  root: string,
  prefix: string,
  selection: EntrySelection | undefined,
  selected: SelectedFields,
): Interest | undefined {
  // Changes are found by the whole resource and by namespaces, not by other beginnings of keys.
  if (!prefix.endsWith('/')) return undefined
  const fixed = selection?.fields.filter(({ negated }) => !negated) ?? []
  const name = fixed.find(({ field }) => field === 'metadata.name')
  if (name) return { prefix, facet: 'metadata.name', read: ({ key }) => nameInKey(key), values: [name.value] }
  const [field] = fixed
  if (selection && field)
    return {
      prefix,
      facet: `field ${field.field}`,
      read: fieldValue(field.field, selected, selection.namespaced),
      values: [field.value],
    }
  const label = selection?.labels.requirements.find(
    ({ operator, values }) => ['=', '==', 'in'].includes(operator) && values.length <= MOST_VALUES,
  )
  if (label) {
    const { key, values } = label
    return { prefix, facet: `label ${key}`, read: readLabel(key, selected), values }
  }
  return prefix === root ? undefined : { prefix, facet: 'namespace', read: () => '', values: [''] }
}

interface Facet {
  readonly read: Interest['read']
  readonly watchers: Map<string, Set<Offered>>
  /** How many watch the whole resource, and how many a part of it. */
  everywhere: number
  scoped: number
}

export function createInterests(root: string): Interests {
  const facets = new Map<string, Facet>()
  const placeOf = (prefix: string, value: string) => `${prefix}\u0000${value}`

  function tell(facet: Facet, change: Change, sequence: number, value: string | undefined, told: Set<Woken>): void {
    if (value === undefined) return
    if (facet.everywhere > 0) tellAt(facet, placeOf(root, value), change, sequence, told)
    if (facet.scoped === 0) return
    const scope = change.key.slice(0, change.key.lastIndexOf('/') + 1)
    if (scope.length > root.length) tellAt(facet, placeOf(scope, value), change, sequence, told)
  }

  function tellAt({ watchers }: Facet, place: string, change: Change, sequence: number, told: Set<Woken>): void {
    for (const watcher of watchers.get(place) ?? []) {
      watcher.offer(change, sequence)
      told.add(watcher)
    }
  }

  return {
    add(watcher, { prefix, facet: name, read, values }) {
      let facet = facets.get(name)
      if (!facet) {
        facet = { read, watchers: new Map(), everywhere: 0, scoped: 0 }
        facets.set(name, facet)
      }
      if (prefix === root) facet.everywhere++
      else facet.scoped++
      for (const value of values) {
        const place = placeOf(prefix, value)
        const there = facet.watchers.get(place)
        if (there) there.add(watcher)
        else facet.watchers.set(place, new Set([watcher]))
      }
    },
    remove(watcher, { prefix, facet: name, values }) {
      const facet = facets.get(name)
      if (!facet) return
      if (prefix === root) facet.everywhere--
      else facet.scoped--
      for (const value of values) {
        const place = placeOf(prefix, value)
        const there = facet.watchers.get(place)
        if (there?.delete(watcher) && there.size === 0) facet.watchers.delete(place)
      }
      if (facet.everywhere + facet.scoped === 0) facets.delete(name)
    },
    offer(change, sequence, told) {
      const { entry, previous } = change
      for (const facet of facets.values()) {
        const now = entry && facet.read(entry)
        const before = previous && facet.read(previous)
        tell(facet, change, sequence, now, told)
        if (before !== now) tell(facet, change, sequence, before, told)
      }
    },
  }
}
