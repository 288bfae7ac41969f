/** Which fields differ between two objects, as structured merge sees it. Shared subtrees (===) are equal at no cost. */
import { namedField } from '../../base/named-field.ts'
import type { Json, JsonObject } from '../object.ts'
import { noParts, type Parts } from '../parts.ts'
import { sameJson } from '../same.ts'
import { isList, isMap, own } from '../values/maps-and-lists.ts'
import { type FieldSet, MEMBER, type MutableFieldSet } from './fieldset.ts'
import { keyedElement, NotMergeable, setElement } from './list-item-keys.ts'
import { compareText, compareValues } from './pathelement.ts'
import { deduced, type FieldShape, isOfEmptyObject, type Shape } from './shape.ts'

type Value = Json | undefined

/**
 * The fields of `next` that `live` does not have or has with another value.
 *
 * @throws NotMergeable when a list's item has no key, or a value is of another form than its schema
 */
export function changedFields(shape: Shape, live: Value, next: Value, parts: Parts = noParts): FieldSet | undefined {
  if (next === undefined || live === next) return undefined
  if (shape.kind === 'struct' && isMap(next) && !isBare(next)) return structFields(shape, live, next, true, parts)
  return fieldsOf(shape, live, next, true)
}

/** The fields of `live` that `next` does not have. Throws as changedFields does. */
export function removedFields(shape: Shape, live: Value, next: Value): FieldSet | undefined {
  return live === undefined ? undefined : fieldsOf(shape, next, live, false)
}

/**
 * The fields of `to` that `from` does not have; with `modified`, also those it has with another value. What is wholly
 * absent from `from` counts with every node above its leaves.
 */
function fieldsOf(shape: Shape, from: Value, to: Json, modified: boolean): FieldSet | undefined {
  if (from === to) return undefined
  switch (shape.kind) {
    case 'leaf':
      return leaf(from, to, modified)
    case 'deduced':
      // A value that becomes a map is gone as the value it was.
      if (!isMap(to)) return isMap(from) && !isBare(from) && !modified ? MEMBER : leaf(from, to, modified)
      return isBare(to) && (isBare(from) || !isMap(from))
        ? leaf(from, to, modified)
        : mapFields(deduced, from, to, modified)
    default:
      if (isBare(to)) {
        if (to !== null && isList(to) !== (shape.kind === 'set' || shape.kind === 'keyed')) throw new NotMergeable()
        return isBare(from) ? leaf(from, to, modified) : undefined
      }
  }
  if (shape.kind === 'struct') {
    if (!isMap(to)) throw new NotMergeable('a struct is expected')
    return structFields(shape, from, to, modified)
  }
  if (shape.kind === 'map') {
    if (!isMap(to)) throw new NotMergeable('a map is expected')
    return mapFields(shape.values, from, to, modified)
  }
  if (!isList(to)) throw new NotMergeable('a list is expected')
  return listFields(shape, from, to, modified)
}

/** A container without items counts as a leaf, so that empty and absent stay different. */
export function isBare(value: Value): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  if (isList(value)) return value.length === 0
  for (const name in value as JsonObject) if (namedField(value as JsonObject, name) !== undefined) return false
  return true
}

function leaf(from: Value, to: Json, modified: boolean): FieldSet | undefined {
  return from === undefined || (modified && !sameJson(from, to)) ? MEMBER : undefined
}

const NOTHING: JsonObject = Object.freeze({})

/** `parts` are those of the whole object: further down there are none. */
function structFields(
  shape: Shape & { kind: 'struct' },
  from: Value,
  to: JsonObject,
  modified: boolean,
  parts?: Parts,
): FieldSet | undefined {
  const before = isMap(from) ? from : NOTHING
  const found: FieldShape[] = []
  const sets: FieldSet[] = []
  for (const name in to) {
    const value = namedField(to, name)
    if (value === undefined) continue
    const field = shape.byName.get(name)
    // `before` is read by declared names only, or as its own.
    const old = field !== undefined ? namedField(before, name) : own(before, name)
    if (old === value) continue
    if (field === undefined && shape.others === undefined) throw new NotMergeable('a field is not declared')
    const below =
      field !== undefined && parts !== undefined && typeof value === 'object' && value !== null && isOfEmptyObject(old)
        ? parts.ofThisVery(value, newFields(field.shape, old))
        : fieldsOf(field?.shape ?? shape.others!, old, value, modified)
    if (below === undefined) continue
    // Insertion by order of name: objects come in the order of the Go struct, and are short.
    const place = field ?? { name, element: `f:${name}`, shape: shape.others! }
    let at = found.length
    while (at > 0 && comesBefore(place, found[at - 1]!)) {
      found[at] = found[at - 1]!
      sets[at] = sets[at - 1]!
      at--
    }
    found[at] = place
    sets[at] = below
  }
  if (from !== undefined && found.length === 0) return undefined
  const set: MutableFieldSet = {}
  if (from === undefined) set['.'] = MEMBER
  for (let i = 0; i < found.length; i++) set[found[i]!.element] = sets[i]!
  return set
}

/** By the empty value; by NOTHING where there is none. */
const fieldsOfNew = new WeakMap<Shape, WeakMap<object, (part: object) => FieldSet | undefined>>()

/** New objects of a kind are compared with one and the same empty one, whose value for such a field is `empty`. */
function newFields(shape: Shape, empty: Value): (part: object) => FieldSet | undefined {
  let byEmpty = fieldsOfNew.get(shape)
  if (byEmpty === undefined) {
    byEmpty = new WeakMap()
    fieldsOfNew.set(shape, byEmpty)
  }
  const key = typeof empty === 'object' && empty !== null ? empty : NOTHING
  let find = byEmpty.get(key)
  if (find === undefined) {
    find = (part) => fieldsOf(shape, empty, part as JsonObject, true)
    byEmpty.set(key, find)
  }
  return find
}

function comesBefore(a: FieldShape, b: FieldShape): boolean {
  return a.rank !== undefined && b.rank !== undefined ? a.rank < b.rank : compareText(a.name, b.name) < 0
}

function mapFields(values: Shape, from: Value, to: JsonObject, modified: boolean): FieldSet | undefined {
  const before = isMap(from) ? from : undefined
  // A value that becomes a map is owned anew, as the map too.
  const isNew = from === undefined || (modified && (typeof from !== 'object' || isList(from)))
  let set: MutableFieldSet | undefined = isNew ? { '.': MEMBER } : undefined
  const names = Object.keys(to)
  if (names.length > 1) names.sort(compareText)
  for (const name of names) {
    const value = to[name]
    if (value === undefined) continue
    const below = fieldsOf(values, before === undefined ? undefined : own(before, name), value, modified)
    if (below !== undefined) {
      set ??= {}
      set[`f:${name}`] = below
    }
  }
  return set
}

interface Item {
  readonly element: string
  readonly order: readonly Value[]
  readonly value: Json
  /** Further items with the same key. */
  repeated: Json[] | undefined
}

function listFields(
  shape: Shape & { kind: 'set' | 'keyed' },
  from: Value,
  to: readonly Json[],
  modified: boolean,
): FieldSet | undefined {
  const before = isList(from) && from.length > 0 ? itemsOf(shape, from) : undefined
  const items = [...itemsOf(shape, to).values()]
  if (items.length > 1) items.sort((a, b) => compareOrders(a.order, b.order))
  let set: MutableFieldSet | undefined = from === undefined ? { '.': MEMBER } : undefined
  for (const item of items) {
    const below = itemFields(shape, before?.get(item.element), item, modified)
    if (below !== undefined) {
      set ??= {}
      set[item.element] = below
    }
  }
  return set
}

function itemFields(
  shape: Shape & { kind: 'set' | 'keyed' },
  old: Item | undefined,
  item: Item,
  modified: boolean,
): FieldSet | undefined {
  const wasRepeated = old?.repeated !== undefined
  // Items that repeat a key are owned whole: which of them a field belongs to cannot be told.
  if (item.repeated !== undefined) {
    if (!wasRepeated) return MEMBER
    return modified && !sameJson([item.value, ...item.repeated], [old!.value, ...old!.repeated!]) ? MEMBER : undefined
  }
  return fieldsOf(shape.items, wasRepeated ? undefined : old?.value, item.value, modified)
}

function itemsOf(shape: Shape & { kind: 'set' | 'keyed' }, list: readonly Json[]): Map<string, Item> {
  const items = new Map<string, Item>()
  for (const value of list) {
    const { element, order } = shape.kind === 'set' ? setElement(value) : keyedElement(shape.keys, value)
    const known = items.get(element)
    if (known === undefined) items.set(element, { element, order, value, repeated: undefined })
    else if (known.repeated === undefined) known.repeated = [value]
    else known.repeated.push(value)
  }
  return items
}

function compareOrders(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order
  }
  return 0
}
