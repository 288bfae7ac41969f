/** Which item of a list is which: by the keys of `x-kubernetes-list-map-keys`, their defaults where the item has none, or by its value in a set. */
import type { Json } from '../object.ts'
import { goJson } from '../values/json.ts'
import { isList, isMap, own } from '../values/maps-and-lists.ts'
import type { ListKey, Shape } from './shape.ts'

/** A value that cannot be divided into fields: Kubernetes then leaves managedFields as they are. */
export class NotMergeable extends Error {}

type Value = Json | undefined

interface Element {
  readonly element: string
  /** The key's values, to sort by. */
  readonly order: readonly Value[]
}

/** An exponent has two digits at least. */
const keyText = (value: Json): string =>
  typeof value === 'number' ? String(value).replace(/(e[+-])(\d)$/, '$10$2') : goJson(value)

/** @throws NotMergeable with the text that server-side apply reports */
export function setElement(item: Json): Element {
  if (isMap(item)) throw new NotMergeable("associative list without keys has an element that's a map type")
  if (isList(item)) throw new NotMergeable('not supported: associative list with lists as elements')
  if (item === null) throw new NotMergeable("associative list without keys has an element that's an explicit null")
  return { element: `v:${keyText(item)}`, order: [item] }
}

/** @throws NotMergeable with the text that server-side apply reports */
export function keyedElement(keys: readonly ListKey[], item: Json): Element {
  if (item === null) throw new NotMergeable('associative list with keys may not have a null element')
  if (!isMap(item)) throw new NotMergeable('associative list with keys may not have non-map elements')
  let text = 'k:{'
  const order: Value[] = []
  for (const key of keys) {
    // null is a value of a key, and no reason for its default.
    const given = own(item, key.name)
    const value = given === undefined ? key.default : given
    if (value === undefined) continue
    text += `${order.length > 0 ? ',' : ''}${key.prefix}${keyText(value)}`
    order.push(value)
  }
  if (order.length === 0) {
    const names = keys.map(({ name }) => JSON.stringify(name)).join(' ')
    throw new NotMergeable(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    )
  }
  return { element: `${text}}`, order }
}

/** The path element of a list's item (`k:{"name":"c"}`, `v:"x"`). Throws NotMergeable, with apply's text, when it has none. */
export function elementOf(shape: Shape & { kind: 'set' | 'keyed' }, item: Json): string {
  return shape.kind === 'set' ? setElement(item).element : keyedElement(shape.keys, item).element
}
