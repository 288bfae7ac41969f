/** Which objects a list, a watch or a deletecollection is about. */

import type { KubeObject } from '../../api/object.ts'
import { type FieldTerm, fieldsMatch } from '../../api/objects/field-selector.ts'
import { type CompiledSelector, everything } from '../../api/objects/label-selector.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { badRequest } from '../../api/status.ts'
import type { FieldsOf } from '../cache/selected.ts'
import type { Strategy } from '../registry/strategy.ts'

export interface Selection {
  /** Nothing is filtered. */
  readonly all: boolean
  /** The one name that can match, when the selector says so. */
  readonly name: string | undefined
  readonly labels: CompiledSelector
  readonly fields: readonly FieldTerm[]
  /** The kind's own selectable fields, where the selector asks for one of them. */
  readonly fieldsOf?: FieldsOf | undefined
  /** Whether there is a term about such a field. */
  readonly asksOwnFields: boolean
  readonly namespaced: boolean
  matches(object: KubeObject): boolean
}

export const META_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace']

/** @throws StatusError 400 for fields that the kind does not know */
export function selectionOf(
  row: ResourceRow,
  strategy: Strategy,
  { labels, fields }: Pick<Selection, 'labels' | 'fields'>,
): Selection {
  if (labels === everything && fields.length === 0) return selectAll
  for (const { field } of fields) checkField(row, strategy, field)
  const name = fields.find((term) => term.field === 'metadata.name' && !term.negated)?.value
  const extra = strategy.selectableFields
  const ownFields = extra !== undefined && fields.some((term) => !META_FIELDS.includes(term.field))
  return {
    all: false,
    name,
    labels,
    fields,
    fieldsOf: extra,
    asksOwnFields: ownFields,
    namespaced: row.namespaced,
    matches(object) {
      if (labels !== everything && !labels.matches(object.metadata.labels)) return false
      if (fields.length === 0) return true
      const { name = '', namespace = '' } = object.metadata
      const values = { 'metadata.name': name, ...(row.namespaced ? { 'metadata.namespace': namespace } : {}) }
      return fieldsMatch(fields, ownFields ? { ...values, ...extra(object) } : values)
    },
  }
}

const selectAll: Selection = {
  all: true,
  name: undefined,
  labels: everything,
  fields: [],
  asksOwnFields: false,
  namespaced: true,
  matches: () => true,
}

function checkField(row: ResourceRow, strategy: Strategy, field: string): void {
  const { fieldLabels } = strategy
  // Kinds that have labels of their own do not know this one unless they have namespaces.
  if (META_FIELDS.includes(field) && (fieldLabels === undefined || row.namespaced || field === 'metadata.name')) return
  if (fieldLabels === undefined)
    throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`)
  const known = typeof fieldLabels === 'function' ? fieldLabels(row.group) : fieldLabels
  if (known.includes(field)) return
  throw badRequest(strategy.fieldLabelProblem?.(field) ?? `field label not supported: ${field}`)
}
