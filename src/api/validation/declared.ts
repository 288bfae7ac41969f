/**
 * The rules that the API's types declare themselves: their `+k8s:` tags, generated into tags.ts and compiled per type at
 * first use. Kubernetes reports them behind the rules that are written by hand, in the order of the types' fields, and on an
 * update judges only what has changed. Tags marked alpha are not enforced; rules behind a feature that is off are not either.
 */

import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../errors/field-errors.ts'
import { tagTable } from '../generated/tags.ts'
import type { Fields, Json } from '../object.ts'
import { noParts, type Parts } from '../parts.ts'
import type { Field, ListSchema, Schema, StructSchema } from '../schema/schema.ts'
import { IMMUTABLE, same } from './common.ts'
import { FORMATS } from './formats.ts'

/** One thing to ask of a value that is there. `old` is undefined on a create. */
type Check = (value: Json, path: string, errors: FieldError[]) => void

interface DeclaredField {
  readonly field: Field
  readonly required: boolean
  readonly immutable: boolean
  /** Once set it is kept or taken away as it is. */
  readonly noModify: boolean
  readonly maxItems: number
  /** A struct's mode decides what this field must be: the discriminator, and the mode in which it is required. */
  readonly mode: Mode | undefined
  readonly checks: readonly Check[]
  /** Whether a new object's value for the field breaks no rule: asked of parts that recur. */
  readonly isFaultless: (part: object) => boolean
}

type DeclaredRules = Omit<DeclaredField, 'isFaultless'>

interface Mode {
  readonly by: string
  readonly in: string
  readonly required: boolean
}

type Plan = readonly DeclaredField[]

/** Types whose values are declared: a type's own tags are not in the table, which has those of fields. */
const ENUMS: { readonly [goType: string]: readonly string[] | undefined } = {
  'v1.DeviceAllocationMode': ['All', 'ExactCount'],
  'v1.DeviceTolerationOperator': ['Equal', 'Exists'],
  'v1.AllocationConfigSource': ['FromClaim', 'FromClass'],
  'v1.DeviceTaintEffect': ['NoExecute', 'NoSchedule', 'None'],
}

/** Features that rules depend on, and that are on. */
const ENABLED = new Set(['HPAScaleToZero'])

type Tags = { readonly [definition: string]: { readonly [goField: string]: readonly string[] } | undefined }

let parsed: Tags | undefined
const tagsOf = (definition: string) => {
  parsed ??= JSON.parse(tagTable) as Tags
  return parsed[definition]
}

/** What `object` breaks of the rules that its type declares; with `old` only where the two differ. */
export function validateDeclared(
  object: Fields,
  old: Fields | undefined,
  schema: StructSchema,
  parts: Parts = noParts,
): FieldError[] {
  const errors: FieldError[] = []
  struct(object, old, schema, '', errors, parts)
  return errors
}

function struct(
  value: Fields,
  old: Fields | undefined,
  schema: StructSchema,
  path: string,
  errors: FieldError[],
  parts?: Parts,
): void {
  const plan = planOf(schema)
  for (const declared of plan) if (declared.mode !== undefined) ofMode(declared, declared.mode, value, path, errors)
  for (const declared of plan) {
    const { name } = declared.field
    const at = path === '' ? name : `${path}.${name}`
    const inner: Json | undefined = value[name]
    const before: Json | undefined = old?.[name]
    if (old !== undefined && same(inner, before) && isThere(inner, declared.field) === isThere(before, declared.field))
      continue
    if (old === undefined && parts?.holds(inner, declared.isFaultless)) continue
    field(declared, inner, before, old !== undefined, at, errors)
  }
}

/** A field that only one mode has: forbidden in others. It is the whole struct's rule, and comes before those of fields. */
function ofMode(
  { field: { name }, field: one }: DeclaredField,
  mode: Mode,
  value: Fields,
  path: string,
  errors: FieldError[],
): void {
  if (!mode.required) return
  const at = path === '' ? name : `${path}.${name}`
  const there = isThere(value[name], one)
  if (value[mode.by] !== mode.in) {
    if (there) errors.push({ type: 'FieldValueForbidden', field: at, message: 'Forbidden' })
  } else if (!there) errors.push(required(at))
}

function field(
  declared: DeclaredRules,
  value: Json | undefined,
  old: Json | undefined,
  isUpdate: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (declared.immutable && isUpdate) {
    if (declared.required && !isThere(value, declared.field)) errors.push(required(path))
    errors.push(invalid(path, null, IMMUTABLE))
    return
  }
  if (!isThere(value, declared.field)) {
    if (declared.required) errors.push(required(path))
    return
  }
  if (declared.noModify && isThere(old, declared.field)) {
    errors.push(invalid(path, null, 'field cannot be modified once set'))
    return
  }
  if (Array.isArray(value) && value.length > declared.maxItems) {
    errors.push(tooMany(path, value.length, declared.maxItems))
    return
  }
  for (const check of declared.checks) check(value as Json, path, errors)
  descend(value as Json, old, declared.field.schema, path, errors)
}

function descend(value: Json, old: Json | undefined, schema: Schema, path: string, errors: FieldError[]): void {
  if (typeof value !== 'object' || value === null) return
  if (schema.type === 'struct') {
    struct(value as Fields, old as Fields | undefined, schema, path, errors)
  } else if (schema.type === 'list' && schema.items.type === 'struct') {
    const { items, listMapKeys } = schema
    for (const [i, item] of (value as readonly Fields[]).entries())
      struct(item, counterpart(item, old as readonly Fields[] | undefined, listMapKeys), items, `${path}[${i}]`, errors)
  } else if (schema.type === 'map' && schema.values.type === 'struct')
    for (const [key, inner] of Object.entries(value as Fields))
      struct(inner, (old as Fields | undefined)?.[key], schema.values, `${path}[${key}]`, errors)
}

const isFaultless = (rules: DeclaredRules, part: object): boolean => {
  const errors: FieldError[] = []
  field(rules, part as Json, undefined, false, '', errors)
  return errors.length === 0
}

/** The item of the old list that this one was: by its keys, or an equal one. */
function counterpart(item: Fields, old: readonly Fields[] | undefined, keys: readonly string[]): Fields | undefined {
  return old?.find((other) => (keys.length > 0 ? keys.every((key) => same(other[key], item[key])) : same(other, item)))
}

/** Go's zero value of what is not a pointer counts as absent. */
function isThere(value: Json | undefined, { pointer }: Field): boolean {
  if (value === undefined || value === null) return false
  if (pointer) return true
  if (typeof value === 'object') return !Array.isArray(value) || value.length > 0
  return value !== '' && value !== 0 && value !== false
}

const plans = new Map<string, Plan>()

function planOf(schema: StructSchema): Plan {
  const known = plans.get(schema.definition)
  if (known !== undefined) return known
  const tags = tagsOf(schema.definition)
  const rules = schema.fields.flatMap((one): readonly DeclaredRules[] => {
    const made = compile(one, schema, tags?.[one.goName] ?? [])
    return made !== undefined ? [made] : leadsToRules(one.schema, new Set([schema.definition])) ? [bare(one)] : []
  })
  const plan: Plan = rules.map((one) => ({ ...one, isFaultless: (part) => isFaultless(one, part) }))
  plans.set(schema.definition, plan)
  return plan
}

const bare = (one: Field): DeclaredRules => ({
  field: one,
  required: false,
  immutable: false,
  noModify: false,
  maxItems: Number.POSITIVE_INFINITY,
  mode: undefined,
  checks: [],
})

/** Whether some type below declares a rule. */
function leadsToRules(schema: Schema, seen: Set<string>): boolean {
  if (schema.type === 'list') return leadsToRules(schema.items, seen)
  if (schema.type === 'map') return leadsToRules(schema.values, seen)
  if (schema.type !== 'struct' || seen.has(schema.definition)) return false
  seen.add(schema.definition)
  const tags = tagsOf(schema.definition)
  return schema.fields.some(
    (one) => compile(one, schema, tags?.[one.goName] ?? []) !== undefined || leadsToRules(one.schema, seen),
  )
}

/** A tag that is in force, without its stage and the features it waits for; undefined for one that is not. */
function inForce(tag: string): string | undefined {
  const stage = /^(alpha|beta)\([^)]*\)=\+k8s:(.*)$/.exec(tag)
  if (stage?.[1] === 'alpha') return undefined
  const rule = stage?.[2] ?? tag
  const feature = /^if(Enabled|Disabled)\((\w+)\)=\+k8s:(.*)$/.exec(rule)
  if (feature === null) return rule
  return ENABLED.has(feature[2]!) === (feature[1] === 'Enabled') ? feature[3] : undefined
}

function compile(one: Field, schema: StructSchema, tags: readonly string[]): DeclaredRules | undefined {
  const rules = tags.map(inForce).filter((rule) => rule !== undefined)
  const find = (pattern: RegExp) => rules.map((rule) => pattern.exec(rule)).find((match) => match !== null)
  const keys = rules.flatMap((rule) => /^listMapKey=(\w+)$/.exec(rule)?.[1] ?? [])
  const values = one.schema.type === 'string' ? ENUMS[one.schema.goType] : undefined
  // A type that judges what is there twice by itself does so in its own words.
  const judged = rules.includes('customUnique') ? rules.filter((rule) => !rule.startsWith('listType=')) : rules
  const checks = [
    ...judged.flatMap((rule) => checkOf(rule, keys, one.schema) ?? []),
    ...(values ? [oneOf(values)] : []),
  ]
  const isRequired = rules.includes('required')
  const isImmutable = rules.includes('immutable')
  const noModify = rules.includes('update=NoModify')
  const maxItems = find(/^maxItems=(\d+)$/)
  const mode = find(/^ifMode\("(\w+)"\)=\+k8s:(\w+)$/)
  if (!isRequired && !isImmutable && !noModify && maxItems === undefined && mode === undefined && checks.length === 0)
    return undefined
  return {
    field: one,
    required: isRequired,
    immutable: isImmutable,
    noModify,
    maxItems: maxItems === undefined ? Number.POSITIVE_INFINITY : Number(maxItems[1]),
    mode:
      mode === undefined ? undefined : { by: discriminator(schema), in: mode[1]!, required: mode[2] === 'required' },
    checks,
  }
}

function discriminator(schema: StructSchema): string {
  const tags = tagsOf(schema.definition) ?? {}
  const found = schema.fields.find(({ goName }) => tags[goName]?.some((tag) => inForce(tag) === 'modeDiscriminator'))
  if (found === undefined) throw new Error(`${schema.definition} has modes and nothing that says which`)
  return found.name
}

/** What a tag asks of the value itself. Tags that only describe (optional, opaqueType, listMapKey, …) ask nothing. */
function checkOf(rule: string, keys: readonly string[], schema: Schema): Check | undefined {
  const [, name = rule, argument = ''] = /^(\w+)=(.*)$/.exec(rule) ?? []
  const number = Number(argument)
  switch (name) {
    case 'minimum':
      return (value, path, errors) => {
        if ((value as number) < number) errors.push(invalid(path, value, `must be greater than or equal to ${number}`))
      }
    case 'maximum':
      return (value, path, errors) => {
        if ((value as number) > number) errors.push(invalid(path, value, `must be less than or equal to ${number}`))
      }
    case 'maxBytes':
      return (value, path, errors) => {
        if (Buffer.byteLength(value as string) > number) errors.push(tooLong(path, number))
      }
    case 'maxLength':
      return (value, path, errors) => {
        if ([...(value as string)].length > number) errors.push(tooManyCharacters(path, number))
      }
    case 'format':
      return formatCheck(argument.replaceAll('"', ''))
    case 'unique':
    case 'listType':
      return argument === 'atomic' ? undefined : (value, path, errors) => unique(value, keys, schema, path, errors)
    case 'eachVal':
    case 'eachKey':
      return eachCheck(name, argument.replace('+k8s:', ''), schema)
    default:
      return undefined
  }
}

function oneOf(values: readonly string[]): Check {
  return (value, path, errors) => {
    if (value !== '' && !values.includes(value as string)) errors.push(notSupported(path, value, values))
  }
}

function formatCheck(name: string): Check | undefined {
  const rule = FORMATS[name]
  return rule === undefined ? undefined : (value, path, errors) => rule(value as string, path, errors)
}

function eachCheck(name: 'eachVal' | 'eachKey', rule: string, schema: Schema): Check | undefined {
  const check = checkOf(rule, [], schema)
  if (check === undefined) return undefined
  return (value, path, errors) => {
    if (name === 'eachKey') for (const key of Object.keys(value as Fields)) check(key, path, errors)
    else for (const [i, item] of (value as readonly Json[]).entries()) check(item, `${path}[${i}]`, errors)
  }
}

/** Declared maximum lengths count characters, and say so. */
const tooManyCharacters = (path: string, max: number): FieldError => ({
  type: 'FieldValueTooLong',
  field: path,
  message: `Too long: may not be more than ${max} characters`,
})

function unique(value: Json, keys: readonly string[], schema: Schema, path: string, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, item] of (value as readonly Json[]).entries()) {
    const id = keys.length > 0 ? JSON.stringify(keys.map((key) => (item as Fields)[key] ?? '')) : JSON.stringify(item)
    if (seen.has(id)) errors.push(duplicate(`${path}[${i}]`, inOrder(item, (schema as ListSchema).items)))
    seen.add(id)
  }
}

/** Defaults may stand behind what was given; messages show the type's order. */
function inOrder(value: Json, schema: Schema): Json {
  if (value === null) return value
  if (schema.type === 'list') return (value as readonly Json[]).map((item) => inOrder(item, schema.items))
  if (schema.type !== 'struct') return value
  const out: { [key: string]: Json } = {}
  for (const { name, schema: inner } of schema.fields) {
    const one: Json | undefined = (value as Fields)[name]
    if (one !== undefined) out[name] = inOrder(one, inner)
  }
  return out
}
