/** metadata.managedFields as a list of entries: read, written, identified, sorted and capped. */
import type { JsonObject, ManagedFieldsEntry } from '../object.ts'
import { isMap } from '../values/maps-and-lists.ts'
import { type FieldSet, MEMBER, type MutableFieldSet, sortedElements, union } from './fieldset.ts'
import { canonicalPathElement, compareText } from './pathelement.ts'

/** One manager's entry; `fields` is undefined when it owns nothing (it is then left out when written). */
export interface Managed {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  /** metav1.Time text; undefined when the entry has none. */
  readonly time: string | undefined
  readonly fields: FieldSet | undefined
}

/** Only so many Update entries are kept; older ones are merged. */
const MAX_UPDATE_MANAGERS = 10
const OLD_UPDATES_MANAGER = 'ancient-changes'
const MAX_DEPTH = 200

type Identity = Pick<Managed, 'manager' | 'operation' | 'apiVersion' | 'subresource'>

/** Whether two entries are one manager's: an applier stays the same whatever version it applies in. */
export function sameManager(a: Identity, b: Identity): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/**
 * Entries as this server wrote them: sets are taken as they are. Of several of one manager, which writes of a Scale leave, the
 * last counts.
 */
export function readManaged(entries: readonly ManagedFieldsEntry[] | undefined): Managed[] {
  if (entries === undefined || entries === null) return []
  const managed = entries.map(
    (entry): Managed => ({
      manager: entry.manager ?? '',
      operation: entry.operation ?? 'Update',
      apiVersion: entry.apiVersion ?? '',
      subresource: entry.subresource ?? '',
      time: entry.time,
      fields: rootOf(entry.fieldsV1 as FieldSet | undefined),
    }),
  )
  const isLast = (entry: Managed, i: number) => !managed.some((other, j) => j > i && sameManager(other, entry))
  return managed.length > 1 && !managed.every(isLast) ? managed.filter(isLast) : managed
}

/** The empty object at the root is the set without members. */
function rootOf(fields: FieldSet | undefined): FieldSet | undefined {
  if (fields === undefined || fields === null) return undefined
  for (const key in fields) {
    if (key !== '.') return fields
  }
  return undefined
}

/** Entries as a client wrote them, or undefined when one of them is not valid: then none of them counts. */
export function readForeignManaged(entries: readonly ManagedFieldsEntry[]): Managed[] | undefined {
  const managed: Managed[] = []
  for (const entry of entries) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') return undefined
    if (!entry.apiVersion || entry.fieldsType !== 'FieldsV1') return undefined
    const fields = canonicalSet(entry.fieldsV1 ?? {}, 0)
    if (fields === undefined) return undefined
    const read: Managed = {
      manager: entry.manager ?? '',
      operation: entry.operation,
      apiVersion: entry.apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      fields: rootOf(fields),
    }
    const known = managed.findIndex((other) => sameManager(other, read))
    if (known < 0) managed.push(read)
    else managed[known] = read
  }
  return managed
}

function canonicalSet(value: JsonObject, depth: number): FieldSet | undefined {
  if (depth > MAX_DEPTH) return undefined
  const children: MutableFieldSet = {}
  let member = false
  let any = false
  for (const [key, below] of Object.entries(value)) {
    if (!isMap(below)) return undefined
    if (key === '.') {
      member = true
      continue
    }
    const element = canonicalPathElement(key)
    const set = element === undefined ? undefined : canonicalSet(below, depth + 1)
    if (set === undefined) return undefined
    any = true
    children[element!] = union(children[element!], set)!
  }
  if (!any) return MEMBER
  return member ? { '.': MEMBER, ...sortedElements(children) } : sortedElements(children)
}

/** Kubernetes' order: appliers first, then by time, manager, version and subresource. */
function compareManaged(a: Managed, b: Managed): number {
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1
  const byTime = compareTimes(a.time, b.time)
  if (byTime !== 0) return byTime
  return (
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

function compareTimes(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  return (
    (a === undefined ? 0 : Math.floor(Date.parse(a) / 1000)) - (b === undefined ? 0 : Math.floor(Date.parse(b) / 1000))
  )
}

/** The entries to write, or undefined when no manager owns a field. Fields stand in the order of the Go struct. */
export function writeManaged(managed: readonly Managed[]): readonly ManagedFieldsEntry[] | undefined {
  const owning = managed.filter((entry) => entry.fields !== undefined)
  if (owning.length === 0) return undefined
  if (owning.length > 1) owning.sort(compareManaged)
  return owning.map((entry) => ({
    ...(entry.manager === '' ? {} : { manager: entry.manager }),
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.time === undefined ? {} : { time: entry.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: entry.fields as JsonObject,
    ...(entry.subresource === '' ? {} : { subresource: entry.subresource }),
  }))
}

/** Merges the oldest Update entries of each version into one, until there are no more than ten. */
export function capUpdateManagers(managed: readonly Managed[]): readonly Managed[] {
  const owning = managed.filter((entry) => entry.fields !== undefined)
  const updaters = owning.filter((entry) => entry.operation === 'Update')
  let count = updaters.length
  if (count <= MAX_UPDATE_MANAGERS) return owning
  updaters.sort((a, b) => compareTimes(a.time, b.time) || compareText(identityText(a), identityText(b)))
  const merged = new Set<Managed>()
  const firsts = new Map<string, Managed>()
  const buckets = new Map<string, Managed>()
  for (const entry of owning) if (isBucket(entry)) buckets.set(entry.apiVersion, entry)
  for (const entry of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) break
    const first = firsts.get(entry.apiVersion)
    if (first === undefined) {
      firsts.set(entry.apiVersion, entry)
      continue
    }
    const bucket = buckets.get(entry.apiVersion)
    if (bucket === undefined) merged.add(first)
    merged.add(entry)
    buckets.set(entry.apiVersion, {
      manager: OLD_UPDATES_MANAGER,
      operation: 'Update',
      apiVersion: entry.apiVersion,
      subresource: '',
      // The younger of the two: entries come oldest first.
      time: entry.time,
      fields: union((bucket ?? first).fields, entry.fields),
    })
    count--
  }
  return [...owning.filter((entry) => !merged.has(entry) && !isBucket(entry)), ...buckets.values()]
}

function isBucket(entry: Managed): boolean {
  return entry.manager === OLD_UPDATES_MANAGER && entry.operation === 'Update' && entry.subresource === ''
}

function identityText(entry: Managed): string {
  return JSON.stringify({
    ...(entry.manager === '' ? {} : { manager: entry.manager }),
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.subresource === '' ? {} : { subresource: entry.subresource }),
  })
}
