/**
 * Objects of one resource found by the value of a field or a label, so that a list whose selector fixes one costs what it returns. An index is made when
 * lists without it have looked at as much as making it takes, and its values are few enough of all there are to be worth it, some milliseconds at a time;
 * from then on each change keeps it, until another one is paid for that has no place and no list has used this one for long.
 * What it takes of an object is a place in a list: the values themselves stand with the entries (selected.ts).
 */

import type { CompiledSelector } from '../../api/objects/label-selector.ts'
import { createLruMap, type LruMap } from '../../base/lru.ts'
import type { Runtime } from '../../base/runtime.ts'
import { setBounded } from '../../base/set-bounded.ts'
import { type Steps, stepsInTurns } from '../../base/turns.ts'
import type { CacheEntry } from './entry.ts'
import { type EntrySelection, type FieldsOf, fieldValue, readLabel, type SelectedFields } from './selected.ts'

export interface FieldIndexes {
  /**
   * The entries that have the rarest of the values that the selection fixes, in no particular order; they may fail its other terms. undefined
   * where no index says that they are few: then one is made for others to ask, where that is worth it. `countTo`: how many there are in the
   * range that is asked about, counted no further than it is told; where it holds no more than an index would find, it is gone through.
   */
  find(selection: EntrySelection, selected: SelectedFields, countTo: (most: number) => number): Found | undefined
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
/** Of the fields of one resource, and as many of its labels; the one that was asked longest ago goes. */
const MOST_INDEXES = 4
/** One that was asked by one of the last so many lists stays. */
const LISTS_KEPT_FOR = 256
/** Fields and labels without an index of which it is known what lists by them have looked at. */
const MOST_UNPAID = 64
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
  /** The number of the last list that did. */
  asked: number
}

/** `entries`: those that can be read, as they are when the iteration comes to them. */
export function createFieldIndexes(
  runtime: Runtime,
  size: () => number,
  entries: () => Iterable<CacheEntry>,
): FieldIndexes {
  const indexes = new Map<string, Index>()
  /** How many objects there were when a value was found to be too frequent. */
  let frequent: Map<string, { readonly size: number; readonly changes: number }> | undefined
  /** Names of those that stay. */
  const standing = new Set<string>()
  /** How many objects lists have looked at for want of this index. */
  let paid: LruMap<string, number> | undefined
  let building = false
  let lists = 0
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
    const index: Index = { read, fieldsOf, buckets: new Map(), complete: false, asked: lists }
    indexes.set(name, index)
    return index
  }

  /** What has to go for another one; undefined: nothing may. */
  function inTheWay(wanted: string): readonly string[] | undefined {
    const alike = [...indexes].filter(([name]) => !standing.has(name) && isLabel(name) === isLabel(wanted))
    if (alike.length < MOST_INDEXES) return []
    const [name, { asked }] = alike.reduce((a, b) => (b[1].asked < a[1].asked ? b : a))
    return lists - asked > LISTS_KEPT_FOR ? [name] : undefined
  }

  function pay({ field }: Term, looked: number): number {
    paid ??= createLruMap(MOST_UNPAID)
    const sum = (paid.get(field) ?? 0) + looked
    paid.set(field, sum)
    return sum
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
      frequent ??= new Map()
      for (const { field, value } of terms)
        setBounded(frequent, MOST_FREQUENT, `${field}=${value}`, { size: size(), changes })
      return
    }
    const { field, read, fieldsOf } = terms[counts.indexOf(fewest)] as Term
    const going = inTheWay(field)
    if (going === undefined) return
    for (const name of going) indexes.delete(name)
    yield* fill(begin(field, read, fieldsOf))
  }

  /** A value that was too frequent is so until there are twice as many objects, or as many changes as there were objects. */
  function isFrequent({ field, value }: Term): boolean {
    const then = frequent?.get(`${field}=${value}`)
    return then !== undefined && size() < 2 * then.size && changes < then.changes + then.size
  }

  /** `looked`: at so many objects, as there is no index. To count each value and to fill one index takes as much again for each. */
  function ask(terms: readonly Term[], looked: number): void {
    const missing = terms.filter((term) => !isFrequent(term) && !indexes.has(term.field))
    const price = (1 + missing.length) * size()
    const wanted = missing
      .filter((term) => pay(term, looked) >= price)
      .filter(({ field }) => inTheWay(field) !== undefined)
    if (building || wanted.length === 0) return
    building = true
    for (const { field } of wanted) paid?.delete(field)
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
    find(selection, selected, countTo) {
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
      const fewest = best === undefined ? size() : sizeOf(best.bucket)
      const isFew = fewest * WORTH_FINDING <= size()
      const most = isFew ? fewest : Math.floor(size() / WORTH_FINDING)
      const inRange = countTo(most + 1)
      if (inRange <= most) return undefined
      lists++
      if (best === undefined || !isFew) {
        if (size() >= WORTH_INDEXING) ask(terms, inRange)
        return undefined
      }
      const { index, term, bucket } = best
      index.asked = lists
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
      frequent = undefined
      paid = undefined
    },
  }
}

const NONE: readonly CacheEntry[] = Object.freeze([])
/** No field begins so. */
const LABEL = 'label '
const isLabel = (name: string): boolean => name.startsWith(LABEL)

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
    field: `${LABEL}${key}`,
    value: values[0] as string,
    read: readLabel(key, selected),
    fieldsOf,
  }))
  return [...ofFields, ...ofLabels]
}

const fixesOneValue = ({ operator, values }: CompiledSelector['requirements'][number]): boolean =>
  ['=', '==', 'in'].includes(operator) && values.length === 1
