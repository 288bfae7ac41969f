/**
 * What extenders may answer (extender/v1), read as Go's JSON decoder reads it: fields' names in any case, of a field given twice the last one,
 * null and what is missing as the empty value; what has another type is no answer.
 */
import { type JsonNode, jsonWordFor, NumberNode, ObjectNode, parseJson } from '../../api/values/json.ts'

/** Where in an answer, for errors. */
interface Place {
  /** The innermost struct; undefined outside of any. */
  readonly struct?: string
  readonly path: readonly string[]
}

/** How a value of Go's type is read. */
export interface AnswerForm<T> {
  readonly goType: string
  readonly empty: T
  /** `node`: not null. @throws where it has another type */
  read(node: Exclude<JsonNode, null>, at: Place): T
}

export type AnswerOf<F> = F extends AnswerForm<infer T> ? T : never

/** @throws what a Go client says of a text that is no answer of that form */
export function readAnswer<T>(form: AnswerForm<T>, text: string): T {
  if (text.trim() === '') throw new Error('EOF')
  const node = parseJson(text)
  return node === null ? form.empty : form.read(node, { path: [] })
}

function mismatch(what: string, goType: string, { struct, path }: Place): Error {
  const where = struct === undefined ? 'value' : `struct field ${struct}.${path.join('.')}`
  return new Error(`json: cannot unmarshal ${what} into Go ${where} of type ${goType}`)
}

const valueIn = <T>(form: AnswerForm<T>, node: JsonNode, at: Place): T =>
  node === null ? form.empty : form.read(node, at)

const text: AnswerForm<string> = {
  goType: 'string',
  empty: '',
  read(node, at) {
    if (typeof node !== 'string') throw mismatch(jsonWordFor(node), 'string', at)
    return node
  },
}

const integer: AnswerForm<number> = {
  goType: 'int64',
  empty: 0,
  read(node, at) {
    if (!(node instanceof NumberNode)) throw mismatch(jsonWordFor(node), 'int64', at)
    const isWhole = /^-?\d+$/.test(node.text) && BigInt.asIntN(64, BigInt(node.text)) === BigInt(node.text)
    if (!isWhole) throw mismatch(`number ${node.text}`, 'int64', at)
    return Number(node.text)
  },
}

const list = <T>(of: AnswerForm<T>, goType = `[]${of.goType}`): AnswerForm<readonly T[]> => ({
  goType,
  empty: [],
  read(node, at) {
    if (!Array.isArray(node)) throw mismatch(jsonWordFor(node), goType, at)
    return node.map((one) => valueIn(of, one, at))
  },
})

const map = <T>(of: AnswerForm<T>, goType = `map[string]${of.goType}`): AnswerForm<ReadonlyMap<string, T>> => ({
  goType,
  empty: new Map(),
  read(node, at) {
    if (!(node instanceof ObjectNode)) throw mismatch(jsonWordFor(node), goType, at)
    return new Map(node.entries.map(([key, one]) => [key, valueIn(of, one, at)]))
  },
})

/** Undefined where it is null or missing. */
const pointer = <T>(to: AnswerForm<T>): AnswerForm<T | undefined> => ({
  goType: `*${to.goType}`,
  empty: undefined,
  read: to.read,
})

function struct<T extends object>(
  goType: string,
  fields: { readonly [K in keyof T]: AnswerForm<T[K]> },
): AnswerForm<T> {
  const forms = Object.entries<AnswerForm<unknown>>(fields)
  const byName = new Map(forms.map(([name, form]) => [name.toLowerCase(), { name, form }]))
  const empty = Object.fromEntries(forms.map(([name, { empty }]) => [name, empty])) as T
  return {
    goType,
    empty,
    read(node, at) {
      if (!(node instanceof ObjectNode)) throw mismatch(jsonWordFor(node), goType, at)
      const given = node.entries.flatMap(([key, value]) => {
        const field = byName.get(key.toLowerCase())
        if (field === undefined || value === null) return []
        const place = { struct: goType.replace('v1.', ''), path: [...at.path, field.name] }
        return [[field.name, field.form.read(value, place)]]
      })
      return { ...empty, ...Object.fromEntries(given) }
    },
  }
}

const metadata = struct('v1.ObjectMeta', { name: text })
const nodes = struct('v1.NodeList', { items: list(struct('v1.Node', { metadata })) })

export const FILTER_RESULT = struct('v1.ExtenderFilterResult', {
  /** Undefined: the nodes are told whole. */
  NodeNames: pointer(list(text)),
  Nodes: pointer(nodes),
  FailedNodes: map(text),
  FailedAndUnresolvableNodes: map(text),
  Error: text,
})
export const HOST_PRIORITIES = list(struct('v1.HostPriority', { Host: text, Score: integer }), 'v1.HostPriorityList')
const victims = struct('v1.MetaVictims', {
  Pods: list(pointer(struct('v1.MetaPod', { UID: text }))),
  NumPDBViolations: integer,
})
export const PREEMPTION_RESULT = struct('v1.ExtenderPreemptionResult', { NodeNameToMetaVictims: map(pointer(victims)) })
export const BINDING_RESULT = struct('v1.ExtenderBindingResult', { Error: text })
