/**
 * What selectors ask of the objects of one resource: their labels, and the fields that selectors have named so far. Each
 * entry keeps these few values from its commit on, when its object is at hand; no object is parsed for a selector again.
 */

import type { KubeObject } from '../../api/object.ts'
import type { FieldTerm } from '../../api/objects/field-selector.ts'
import { type CompiledSelector, everything, type Labels } from '../../api/objects/label-selector.ts'
import { setBounded } from '../../base/set-bounded.ts'
import type { CacheEntry } from './entry.ts'

/** The values of a kind's own selectable fields; those of metadata are found in the key. The same function each time. */
export type FieldsOf = (object: KubeObject) => Readonly<Record<string, string>>

/** Label and field selectors of a list or a watch. */
export interface EntrySelection {
  readonly labels: CompiledSelector
  readonly fields: readonly FieldTerm[]
  readonly fieldsOf?: FieldsOf | undefined
  /** Objects of cluster-scoped kinds have no metadata.namespace to select by. */
  readonly namespaced: boolean
}

/** One entry's values, by the place of the field in `SelectedFields.names`. */
export interface SelectedValues {
  readonly of: SelectedFields
  readonly labels: Labels
  readonly values: readonly string[]
  readonly withLabels: boolean
}

export interface SelectedFields {
  /** Whether `values` has all that is asked for by now. */
  holds(values: SelectedValues | undefined): values is SelectedValues
  take(object: KubeObject): SelectedValues
  /** Entries keep their labels from now on. */
  needLabels(): void
  /** Entries keep this field from now on; its place in their values. */
  need(field: string): number
}

/** Entries with the same values share them; so many different ones are remembered for it. */
const MOST_SHARED = 8192

export function createSelectedFields(fieldsOf: FieldsOf | undefined): SelectedFields {
  const names: string[] = []
  let withLabels = false
  const shared = new Map<string, SelectedValues>()

  function sharedValues(values: readonly string[]): SelectedValues {
    const id = values.map((value) => `${value.length} ${value}`).join('')
    let found = shared.get(id)
    if (found === undefined || found.values.length !== values.length) {
      found = { of: selected, labels: undefined, values, withLabels: false }
      setBounded(shared, MOST_SHARED, id, found)
    }
    return found
  }

  const selected: SelectedFields = {
    holds: (found): found is SelectedValues =>
      found !== undefined &&
      found.of === selected &&
      found.values.length === names.length &&
      found.withLabels === withLabels,
    take(object) {
      const all = names.length === 0 || fieldsOf === undefined ? undefined : fieldsOf(object)
      const values = names.map((name) => (all !== undefined && Object.hasOwn(all, name) ? (all[name] as string) : ''))
      return withLabels ? { of: selected, labels: object.metadata.labels, values, withLabels } : sharedValues(values)
    },
    needLabels() {
      withLabels = true
    },
    need(field) {
      const at = names.indexOf(field)
      return at < 0 ? names.push(field) - 1 : at
    },
  }
  return selected
}

/** `a` of /registry/pods/default/a. */
export const nameInKey = (key: string): string => key.slice(key.lastIndexOf('/') + 1)

/** `default` of the same. */
function namespaceOf(key: string): string {
  const end = key.lastIndexOf('/')
  return key.slice(key.lastIndexOf('/', end - 1) + 1, end)
}

type Read = (entry: CacheEntry) => string

export function fieldValue(field: string, selected: SelectedFields, namespaced: boolean): Read {
  if (field === 'metadata.name') return ({ key }) => nameInKey(key)
  if (field === 'metadata.namespace') return namespaced ? ({ key }) => namespaceOf(key) : () => ''
  const place = selected.need(field)
  return (entry) => entry.selected(selected).values[place] as string
}

export function readLabel(key: string, selected: SelectedFields): (entry: CacheEntry) => string | undefined {
  selected.needLabels()
  return (entry) => {
    const { labels } = entry.selected(selected)
    return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  }
}

/** Whether an entry is selected. */
export function matcherOf(
  { labels, fields, namespaced }: EntrySelection,
  selected: SelectedFields,
): (entry: CacheEntry) => boolean {
  const byLabels = labels !== everything
  if (byLabels) selected.needLabels()
  const terms = fields.map(({ field, value, negated }) => ({
    read: fieldValue(field, selected, namespaced),
    value,
    negated,
  }))
  return (entry) => {
    for (const { read, value, negated } of terms) if ((read(entry) === value) === negated) return false
    return !byLabels || labels.matches(entry.selected(selected).labels)
  }
}
