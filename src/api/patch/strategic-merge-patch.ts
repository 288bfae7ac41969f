/** Strategic merge patch: a merge patch that knows lists by their merge keys, and directives ($patch, $retainKeys, …). */
import type { Json, JsonObject } from '../object.ts'
import type { Schema, StructSchema } from '../schema/schema.ts'
import { badRequest } from '../status.ts'
import { isList, isMap, own, setOwn } from '../values/maps-and-lists.ts'
import { badArgument, contradiction, unknownDirective } from './strategic-errors.ts'
import {
  type ListRules,
  mergeInOrder,
  mergeList,
  validateOrderList,
  withoutDirectives,
  withoutNestedNulls,
} from './strategic-lists.ts'

const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'
const DELETE_FROM_LIST = '$deleteFromPrimitiveList'
const SET_ORDER = '$setElementOrder'

/** @throws StatusError 400 for malformed directives, 500 for what contradicts the schema */
export function applyStrategicMergePatch(original: JsonObject, patch: JsonObject, schema: StructSchema): JsonObject {
  return mergeMaps(original, patch, schema)
}

type Merged = { [name: string]: Json | undefined }

export function mergeMaps(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const directive = own(patch, DIRECTIVE)
  if (directive !== undefined) {
    if (directive === 'replace') return without(patch, DIRECTIVE)
    if (directive === 'delete') return {}
    throw unknownDirective(directive, patch)
  }
  const merged = retained(original, patch)
  const done = new Set([RETAIN_KEYS])
  for (const key of Object.keys(patch)) {
    if (key.startsWith(SET_ORDER)) mergeOrdered(merged, patch, key, schema, done)
  }
  for (const key of Object.keys(patch)) {
    const change = patch[key]
    if (change === undefined || done.has(key)) continue
    const isDeleteList = key.startsWith(DELETE_FROM_LIST)
    const name = isDeleteList ? listName(key, DELETE_FROM_LIST) : key
    if (change === null) delete merged[name]
    else mergeField(merged, name, change, schema, isDeleteList)
  }
  return merged as JsonObject
}

function mergeField(merged: Merged, name: string, change: Json, schema: Schema, isDeleteList: boolean): void {
  const current = Object.hasOwn(merged, name) ? merged[name] : undefined
  if (isMap(current) && isMap(change)) {
    const field = lookUp(schema, name)
    const replace = field.strategies.includes('replace')
    setOwn(merged, name, replace ? change : mergeMaps(current, change, field.schema))
  } else if (isList(current) && isList(change)) {
    const rules = listRules(schema, name)
    const merge = rules.strategy === 'merge' || isDeleteList
    setOwn(merged, name, merge ? mergeList(current, change, rules, isDeleteList) : change)
  } else if (current !== undefined && current !== null && !isMap(current) && !isList(current) && !isDeleteList) {
    setOwn(merged, name, isMap(change) || isList(change) ? withoutNestedNulls(change) : change)
  } else if (!isDeleteList) {
    const value = current === undefined ? withoutDirectives(change) : change
    if (value !== undefined) setOwn(merged, name, withoutNestedNulls(value))
  }
}

/** A copy of `original`, cut down to the patch's $retainKeys. */
function retained(original: JsonObject, patch: JsonObject): Merged {
  const merged: Merged = {}
  const keys = own(patch, RETAIN_KEYS)
  if (keys === undefined) {
    for (const name of Object.keys(original)) setOwn(merged, name, original[name])
    return merged
  }
  const malformed = () => badRequest('invalid patch format of retainKeys')
  if (!isList(keys)) throw malformed()
  const kept = new Set<Json>(keys)
  for (const name of Object.keys(patch)) {
    if (name === RETAIN_KEYS || patch[name] === null) continue
    if (name.startsWith(DELETE_FROM_LIST) || name.startsWith(SET_ORDER)) continue
    if (!kept.has(name)) throw malformed()
  }
  for (const name of Object.keys(original)) if (kept.has(name)) setOwn(merged, name, original[name])
  return merged
}

/** Merges a list together with its $setElementOrder, and marks both as done. */
function mergeOrdered(merged: Merged, patch: JsonObject, key: string, schema: Schema, done: Set<string>): void {
  done.add(key)
  const order = patch[key] ?? null
  if (!isList(order)) throw badArgument('[]interface {}', order)
  const name = listName(key, SET_ORDER)
  const current = Object.hasOwn(merged, name) ? merged[name] : undefined
  const change = own(patch, name)
  if (current !== undefined && !isList(current)) throw badArgument('[]interface {}', current)
  if (change !== undefined && !isList(change)) throw badArgument('[]interface {}', change)
  const rules = listRules(schema, name)
  validateOrderList(change ?? [], order, rules.mergeKey)
  if (current === undefined && change === undefined) return
  setOwn(merged, name, mergeInOrder(current, change, order, rules))
  done.add(name)
}

function listName(key: string, directive: string): string {
  if (key.startsWith(`${directive}/`)) return key.slice(directive.length + 1)
  throw badRequest(
    directive === SET_ORDER ? 'invalid patch format of setElementOrder list' : 'invalid patch format of primitive list',
  )
}

/** @throws StatusError 500 for a field that the schema does not declare */
function lookUp(schema: Schema, name: string): { readonly schema: Schema; readonly strategies: readonly string[] } {
  if (schema.type === 'map') {
    throw contradiction(`merging an object in json but data type is not struct, instead is: ${schema.type}`)
  }
  const field = schema.type === 'struct' ? schema.byName.get(name) : undefined
  if (field === undefined) {
    const goStruct = schema.goType.slice(schema.goType.lastIndexOf('.') + 1)
    throw contradiction(`unable to find api field in struct ${goStruct} for the json field ${JSON.stringify(name)}`)
  }
  return { schema: field.schema, strategies: field.patchStrategy ?? [] }
}

function listRules(schema: Schema, name: string): ListRules {
  const field = lookUp(schema, name)
  const mergeKey = schema.type === 'struct' ? schema.byName.get(name)?.patchMergeKey : undefined
  return {
    strategy: field.strategies.find((strategy) => strategy !== 'retainKeys'),
    mergeKey: mergeKey ?? '',
    items: field.schema.type === 'list' ? field.schema.items : field.schema,
  }
}

function without(map: JsonObject, name: string): JsonObject {
  const rest: Merged = {}
  for (const key of Object.keys(map)) if (key !== name) setOwn(rest, key, map[key])
  return rest as JsonObject
}
