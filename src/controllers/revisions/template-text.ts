/**
 * A pod template as the text that Kubernetes hashes: every field of the Go struct, set or not, with its type. Made from the
 * generated field table, so that replica sets get the very names that a real cluster gives them.
 */

import type { PodTemplateSpec } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import { schemaOf } from '../../api/schema/builtin.ts'
import type { Field, Schema, StructSchema } from '../../api/schema/schema.ts'
import { binaryExponents, decimalExponents } from '../../api/values/quantity.ts'

/** Structs that are embedded in another: the first of its fields belong to them. The field table has them flat. */
const embedded: Readonly<Record<string, string>> = {
  'v1.Probe': 'ProbeHandler',
  'v1.Volume': 'VolumeSource',
  'v1.EphemeralContainer': 'EphemeralContainerCommon',
  'v1.ConfigMapVolumeSource': 'LocalObjectReference',
  'v1.ConfigMapProjection': 'LocalObjectReference',
  'v1.SecretProjection': 'LocalObjectReference',
  'v1.ConfigMapEnvSource': 'LocalObjectReference',
  'v1.SecretEnvSource': 'LocalObjectReference',
  'v1.ConfigMapKeySelector': 'LocalObjectReference',
  'v1.SecretKeySelector': 'LocalObjectReference',
}
const embeddedFields: Readonly<Record<string, (field: Field, owner: StructSchema) => boolean>> = {
  ProbeHandler: (field) => ['exec', 'httpGet', 'tcpSocket', 'grpc'].includes(field.name),
  VolumeSource: (field) => field.name !== 'name',
  EphemeralContainerCommon: (field) => field.name !== 'targetContainerName',
  LocalObjectReference: (field) => field.name === 'name',
}

export function templateText(template: PodTemplateSpec): string {
  const schema = schemaOf('io.k8s.api.core.v1.PodTemplateSpec')
  return `(${schema.goType})${structText(schema, template)}`
}

function structText(schema: StructSchema, value: Fields): string {
  const group = embedded[schema.goType]
  if (group === undefined) return `{${schema.fields.map((field) => fieldText(field, value)).join(' ')}}`
  const isInside = embeddedFields[group] as (field: Field, owner: StructSchema) => boolean
  const parts: string[] = []
  let inner: string[] | undefined
  for (const field of schema.fields) {
    if (!isInside(field, schema)) {
      parts.push(fieldText(field, value))
      continue
    }
    if (inner === undefined) {
      inner = []
      parts.push('')
    }
    inner.push(fieldText(field, value))
  }
  const text = `${group}:(v1.${group}){${(inner ?? []).join(' ')}}`
  return `{${parts.map((part) => (part === '' ? text : part)).join(' ')}}`
}

function fieldText(field: Field, owner: Fields): string {
  const value: unknown = Object.hasOwn(owner, field.name) ? owner[field.name] : undefined
  const type = field.pointer ? `*${typeName(field.schema)}` : typeName(field.schema)
  const absent = value === undefined || value === null
  const nilable = field.pointer || field.schema.type === 'list' || field.schema.type === 'map'
  return `${field.goName}:(${type})${absent && nilable ? '<nil>' : valueText(field.schema, value)}`
}

function typeName(schema: Schema): string {
  switch (schema.type) {
    case 'quantity':
      return 'resource.Quantity'
    case 'intOrString':
      return 'intstr.IntOrString'
    case 'time':
      return 'v1.Time'
    default:
      return schema.goType
  }
}

function valueText(schema: Schema, value: unknown): string {
  switch (schema.type) {
    case 'struct':
      return structText(schema, (value ?? {}) as Fields)
    case 'list':
      return `[${((value ?? []) as unknown[]).map((item) => valueText(schema.items, item)).join(' ')}]`
    case 'map': {
      const map = (value ?? {}) as Fields
      const keys = Object.keys(map).sort()
      return `map[${keys.map((key) => `${key}:${valueText(schema.values, map[key])}`).join(' ')}]`
    }
    case 'quantity':
      return quantityText(String(value ?? '0'))
    case 'intOrString':
      return typeof value === 'string'
        ? `{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)${value}}`
        : `{Type:(intstr.Type)0 IntVal:(int32)${value ?? 0} StrVal:(string)}`
    case 'time':
      return timeText(value)
    case 'boolean':
      return String(value ?? false)
    case 'int32':
    case 'int64':
    case 'number':
      return String(value ?? 0)
    default:
      return String(value ?? '')
  }
}

function timeText(value: unknown): string {
  const seconds = typeof value === 'string' ? Math.floor(Date.parse(value) / 1000) + 62_135_596_800 : 0
  return `{Time:(time.Time){wall:(uint64)0 ext:(int64)${seconds} loc:(*time.Location)<nil>}}`
}

/**
 * A quantity in its canonical form (an integer and a suffix), as the API server gives it. The Go value remembers its text
 * (`s`), but for binary numbers that might have a larger suffix: those divisible by eight.
 */
function quantityText(text: string): string {
  const [, digits = '0', suffix = ''] = /^([+-]?[0-9]+)(.*)$/.exec(text) ?? []
  let amount = BigInt(digits)
  let scale = 0
  let format = 'DecimalSI'
  let remembered = text
  const power = binaryExponents[suffix]
  if (power !== undefined) {
    if ((amount & 7n) === 0n) remembered = ''
    amount <<= BigInt(power)
    format = 'BinarySI'
  } else if (/^[eE]./.test(suffix)) {
    scale = Number(suffix.slice(1))
    format = 'DecimalExponent'
  } else {
    scale = decimalExponents[suffix] ?? 0
  }
  return `{i:(resource.int64Amount){value:(int64)${amount} scale:(resource.Scale)${scale}} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${remembered} Format:(resource.Format)${format}}`
}
