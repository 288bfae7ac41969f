/**
 * Objects of one resource found by the value of a field or a label, so that a list whose selector fixes one costs what it returns. An index is made when
 * lists ask for it and its values are few enough of all there are to be worth it, some milliseconds at a time; from then on each change keeps it.
 * What it takes of an object is a place in a list: the values themselves stand with the entries (selected.ts).
 */
import type { LabelSelector } from '../../api/objects/label-selector.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type Steps, stepsInTurns } from '../../base/turns.ts'
import type { CacheEntry } from './entry.ts'
import { type EntrySelection, type FieldsOf, fieldValue, readLabel, type SelectedFields } from './selected.ts'

export interface FieldIndexes {
  /**
   * The entries that have the rarest of the values that the selection fixes, in no particular order; they may fail its other terms. undefined
   * where no index says that they are few: then one is made for the next to ask, where that is worth it.
   */
  find(selection: EntrySelection, selected: SelectedFields): Found | undefined
  /** Those that have this value, in no particular order: by an index that is made at once where there is none, and stays. */
  each(field: OwnField, selected: SelectedFields, value: string): Iterable<CacheEntry>
  change(entry: CacheEntry | undefined, previous: CacheEntry | undefined): void
  /** What there is has been replaced, or fields are read otherwise. */
  clear(): void
}

/** A field that objects of a kind are selected by. */
export interface OwnField {
  readonly field: string
  readonly fieldsOf: FieldsOf | undefined
  readonly namespaced: boolean
}

interface Found {
  readonly entries: Iterable<CacheEntry>
  readonly size: number
  /** Whether an entry that is there no longer has that value. */
  has(entry: CacheEntry): boolean
}

/** Fewer objects than this are looked at one by one. */
const WORTH_INDEXING = 256
/** An index is worth its place where a value leaves no more than this part of all. */
const WORTH_FINDING = 8
/** Of one resource; the one that was asked longest ago goes. */
const MOST_INDEXES = 4
/** Values that were found to be too frequent to ask again. */
const MOST_FREQUENT = 64
/** More entries than these of one value stand in a set: a list is copied at each change. */
const MOST_IN_LIST = 16

/** undefined: an object without that label. */
type Read = (entry: CacheEntry) => string | undefined
type Bucket = readonly CacheEntry[] | Set<CacheEntry>

interface Index {
  readonly read: Read
  readonly fieldsOf: FieldsOf | undefined
  readonly buckets: Map<string, Bucket>
  /** Lists may ask it: all that was there when it was begun is in. */
  complete: boolean
}

/** `entries`: those that can be read, as they are when the iteration comes to them. */
export function createFieldIndexes(
  runtime: Runtime,
  size: () => number,
  entries: () => Iterable<CacheEntry>,
): FieldIndexes {
  /** In the order in which they were asked, the last at the end. */
  const indexes = new Map<string, Index>()
  /** How many objects there were when a value was found to be too frequent. */
  const frequent = new Map<string, { readonly size: number; readonly changes: number }>()
  /** Names of those that stay. */
  const standing = new Set<string>()
  let building = false
  let era = 0
  let changes = 0

  function add({ read, buckets }: Index, entry: CacheEntry): void {
    const value = read(entry)
    if (value === undefined) return
    const there = buckets.get(value)
    if (there === undefined) buckets.set(value, [entry])
    else if (there instanceof Set) there.add(entry)
    else if (!there.includes(entry))
      buckets.set(value, there.length < MOST_IN_LIST ? [...there, entry] : new Set([...there, entry]))
  }

  function remove({ read, buckets }: Index, entry: CacheEntry): void {
    const value = read(entry)
    if (value === undefined) return
    const there = buckets.get(value)
    if (there instanceof Set) {
      if (there.delete(entry) && there.size === 0) buckets.delete(value)
    } else if (there?.includes(entry)) {
      if (there.length === 1) buckets.delete(value)
      else
        buckets.set(
          value,
          there.filter((other) => other !== entry),
        )
    }
  }

  function begin(name: string, read: Read, fieldsOf: FieldsOf | undefined): Index {
    const index: Index = { read, fieldsOf, buckets: new Map(), complete: false }
    if (indexes.size >= MOST_INDEXES + standing.size) {
      const oldest = indexes.keys().find((known) => !standing.has(known))
      if (oldest !== undefined) indexes.delete(oldest)
    }
    indexes.set(name, index)
    return index
  }

  /** What is told of a change meanwhile and what is come to later are the same entries: each is in once. */
  function* fill(index: Index): Steps<void> {
    for (const entry of entries()) {
      add(index, entry)
      yield
    }
    index.complete = true
  }

  function* build(terms: readonly Term[]): Steps<void> {
    const began = era
    const counts = terms.map(() => 0)
    for (const entry of entries()) {
      for (const [i, { read, value }] of terms.entries())
        if (read(entry) === value) counts[i] = (counts[i] as number) + 1
      yield
    }
    if (era !== began) return
    const fewest = Math.min(...counts)
    if (fewest * WORTH_FINDING > size()) {
      if (frequent.size >= MOST_FREQUENT) frequent.clear()
      for (const term of terms) frequent.set(`${term.field}=${term.value}`, { size: size(), changes })
      return
    }
    const { field, read, fieldsOf } = terms[counts.indexOf(fewest)] as Term
    yield* fill(begin(field, read, fieldsOf))
  }

  /** A value that was too frequent is so until there are twice as many objects, or as many changes as there were objects. */
  function isFrequent({ field, value }: Term): boolean {
    const then = frequent.get(`${field}=${value}`)
    return then !== undefined && size() < 2 * then.size && changes < then.changes + then.size
  }

  function ask(terms: readonly Term[]): void {
    const wanted = terms.filter((term) => !isFrequent(term) && !indexes.has(term.field))
    if (building || wanted.length === 0) return
    building = true
    stepsInTurns(runtime, 'field index', build(wanted))
      .catch((error: unknown) => {
        for (const { field } of wanted) if (indexes.get(field)?.complete === false) indexes.delete(field)
        runtime.log.error('a field could not be indexed', error)
      })
      .finally(() => {
        building = false
      })
  }

  function standingIndex({ field, fieldsOf, namespaced }: OwnField, selected: SelectedFields): Index {
    const known = indexes.get(field)
    standing.add(field)
    if (known?.complete && known.fieldsOf === fieldsOf) return known
    const index = begin(field, fieldValue(field, selected, namespaced), fieldsOf)
    for (const entry of entries()) add(index, entry)
    index.complete = true
    return index
  }

  const sizeOf = (bucket: Bucket) => (bucket instanceof Set ? bucket.size : bucket.length)

  return {
    find(selection, selected) {
      const terms = termsOf(selection, selected)
      if (terms.length === 0) return undefined
      let best: { readonly index: Index; readonly term: Term; readonly bucket: Bucket } | undefined
      for (const term of terms) {
        const index = indexes.get(term.field)
        if (index === undefined || !index.complete) continue
        if (index.fieldsOf !== term.fieldsOf) {
          if (!standing.has(term.field)) indexes.delete(term.field)
          continue
        }
        const bucket = index.buckets.get(term.value) ?? NONE
        if (best === undefined || sizeOf(bucket) < sizeOf(best.bucket)) best = { index, term, bucket }
      }
      if (best === undefined || sizeOf(best.bucket) * WORTH_FINDING > size()) {
        if (size() >= WORTH_INDEXING) ask(terms)
        return undefined
      }
      const { index, term, bucket } = best
      indexes.delete(term.field)
      indexes.set(term.field, index)
      return { entries: bucket, size: sizeOf(bucket), has: (entry) => term.read(entry) === term.value }
    },
    each: (field, selected, value) => standingIndex(field, selected).buckets.get(value) ?? NONE,
    change(entry, previous) {
      changes++
      for (const [field, index] of indexes) {
        try {
          if (previous !== undefined) remove(index, previous)
          if (entry !== undefined) add(index, entry)
        } catch (error) {
          // It is made anew when it is asked for again.
          indexes.delete(field)
          runtime.log.error(`the index of ${field} is given up`, error)
        }
      }
    },
    clear() {
      era++
      indexes.clear()
      frequent.clear()
    },
  }
}

const NONE: readonly CacheEntry[] = Object.freeze([])

interface Term {
  readonly field: string
  readonly value: string
  readonly read: Read
  readonly fieldsOf: FieldsOf | undefined
}

/** What the selection fixes, but the namespace, which is a part of the key. */
function termsOf({ fields, labels, fieldsOf, namespaced }: EntrySelection, selected: SelectedFields): Term[] {
  const ofFields = fields
    .filter(({ field, negated }) => !negated && field !== 'metadata.namespace')
    .map(({ field, value }) => ({
      field,
      value,
      read: fieldValue(field, selected, namespaced),
      fieldsOf: field === 'metadata.name' ? undefined : fieldsOf,
    }))
  const ofLabels = labels.requirements.filter(fixesOneValue).map(({ key, values }) => ({
    // No field begins so.
    field: `label ${key}`,
    value: values[0] as string,
    read: readLabel(key, selected),
    fieldsOf,
  }))
  return [...ofFields, ...ofLabels]
}

const fixesOneValue = ({ operator, values }: LabelSelector['requirements'][number]): boolean =>
  ['=', '==', 'in'].includes(operator) && values.length === 1
