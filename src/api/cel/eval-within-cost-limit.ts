/**
 * Evaluation under a budget: every step costs, and an expression that has cost too much ends. Errors are values on the way of
 * `&&`, `||` and the quantifiers, which may not need the side that failed.
 */
import type { CheckedExpression } from './check.ts'
import { OVER_LIMIT } from './cost-limits.ts'
import { callCost, LIST_COST, MAP_COST, MOST, STRUCT_COST } from './cost-of-calls.ts'
import { elementOfAny, type Overload, show } from './functions.ts'
import { sortedValues } from './lists.ts'
import type { SyntaxNode } from './parse.ts'
import { protobufMessages } from './protobuf-messages.ts'
import { STRING, type Type } from './types.ts'
import {
  CelDuration,
  CelError,
  isMapLike,
  MapValue,
  MessageValue,
  mapEntries,
  mapKeyOf,
  NoSuchKey,
  ObjectValue,
  Opaque,
  Optional,
  sizeOfValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'
import { partsSeen, weightOf } from './weight.ts'

/** What looking at one part of a value costs, as at one item of a list. */
const PART_COST = 0.1

/** What evaluating has cost, of what it may. */
export interface Budget {
  used: number
  readonly limit: number
}

export class BudgetExceeded extends Error {}

export type Variables = ReadonlyMap<string, Value>

interface Frame {
  readonly names: Map<string, Value>
  readonly outer: Frame | undefined
}

/** @throws CelError for what goes wrong in the expression, BudgetExceeded */
export function evaluateExpression(checked: CheckedExpression, variables: Variables, budget: Budget): Value {
  const { calls, names } = checked

  function spend(cost: number): void {
    budget.used += cost
    if (budget.used > budget.limit) throw new BudgetExceeded(OVER_LIMIT)
  }

  function walk(node: SyntaxNode, frame: Frame | undefined): Value {
    switch (node.kind) {
      case 'const':
        return node.value.type === 'uint' ? new Uint(node.value.value) : node.value.value
      case 'ident':
        spend(1)
        return variable(node.name, frame)
      case 'select':
        return select(node, frame)
      case 'list': {
        if (!isConstant(node)) spend(LIST_COST)
        const items: Value[] = []
        node.items.forEach((item, i) => {
          const value = walk(item, frame)
          if (!node.optional.has(i)) items.push(value)
          else if (value instanceof Optional && value.value !== undefined) items.push(value.value)
        })
        return items
      }
      case 'map': {
        if (!isConstant(node)) spend(MAP_COST)
        const entries = new Map<string, readonly [Value, Value]>()
        for (const { key, value, optional } of node.entries) {
          const k = walk(key, frame)
          const v = walk(value, frame)
          const text = mapKeyOf(k)
          if (!optional) entries.set(text, [k, v])
          else if (v instanceof Optional && v.value !== undefined) entries.set(text, [k, v.value])
        }
        return new MapValue(entries)
      }
      case 'struct':
        return struct(node, frame)
      case 'call':
        return call(node, frame)
      case 'macro':
        return macro(node, frame)
    }
  }

  function struct(node: SyntaxNode & { kind: 'struct' }, frame: Frame | undefined): Value {
    spend(STRUCT_COST)
    const type = checked.types.get(node)
    const known = type?.kind === 'object' ? undefined : protobufMessages[node.name]
    if (type?.kind !== 'object' && known === undefined) throw new CelError(`unknown type: ${node.name}`)
    const fields = new Map<string, Value>()
    for (const { name, value, optional } of node.fields) {
      const made = walk(value, frame)
      if (optional && !(made instanceof Optional)) {
        spend(Math.ceil(weightOf(made) * PART_COST))
        throw new CelError(`cannot initialize optional entry '${name}' from non-optional value ${show(made)}`)
      }
      const set = optional ? (made as Optional).value : made
      if (set === undefined) continue
      if (type?.kind === 'object') type.verify?.(name, set)
      fields.set(name, set)
    }
    if (known !== undefined) return known.make(fields)
    return new MessageValue(type as Type & { kind: 'object' }, fields)
  }

  function variable(name: string, frame: Frame | undefined): Value {
    for (let f = frame; f !== undefined; f = f.outer) {
      const found = f.names.get(name)
      if (found !== undefined) return found
    }
    const found = variables.get(name)
    if (found !== undefined) return found
    if (TYPES.has(name)) return new TypeValue(name)
    throw new CelError(`no such attribute(s): ${name}`)
  }

  function select(node: SyntaxNode & { kind: 'select' }, frame: Frame | undefined): Value {
    const name = names.get(node)
    if (name !== undefined) {
      spend(1)
      return variable(name, undefined)
    }
    const operand = walk(node.operand, frame)
    if (!node.test) spend(1)
    const wrapped = operand instanceof Optional
    const from = operand instanceof Optional ? operand.value : operand
    const absent = from === undefined || (from === null && node.optional)
    const found = absent ? undefined : fieldOf(from, node.field, wrapped || node.optional || node.test)
    if (node.test) return found !== undefined
    if (wrapped || node.optional) return new Optional(found)
    // What was not set has the value that its type begins with.
    if (found === undefined && from instanceof MessageValue)
      return from.type.fields.get(node.field)?.type === STRING ? '' : null
    if (found === undefined) throw new NoSuchKey(node.field)
    return found
  }

  /** `optional`: what can have no fields has not this one. */
  function fieldOf(from: Value, name: string, optional: boolean): Value | undefined {
    if (from instanceof ObjectValue) {
      return from.field(name)
    }
    if (from instanceof MapValue) return from.entries.get(`s${name}`)?.[1]
    if (from instanceof MessageValue) return from.fields.get(name)
    if (Array.isArray(from)) throw new CelError("unsupported index type 'string' in list")
    if (optional) return undefined
    throw new NoSuchKey(name)
  }

  function call(node: SyntaxNode & { kind: 'call' }, frame: Frame | undefined): Value {
    const found = calls.get(node)
    if (found === undefined) throw new CelError(`no such overload: ${node.name}`)
    const { name, args, overloads, dynamic } = found
    if (name === '_&&_') return logical(args, frame, false)
    if (name === '_||_') return logical(args, frame, true)
    if (name === '_?_:_') {
      const condition = walk(args[0] as SyntaxNode, frame)
      if (typeof condition !== 'boolean') throw new CelError('no such overload')
      return walk(args[condition ? 1 : 2] as SyntaxNode, frame)
    }
    if (name === 'orValue' || name === 'or') {
      const first = walk(args[0] as SyntaxNode, frame)
      spend(1)
      if (first instanceof Optional && first.value !== undefined) return name === 'or' ? first : first.value
      return walk(args[1] as SyntaxNode, frame)
    }
    const values = args.map((arg) => walk(arg, frame))
    if (name !== '@in' || !isSetOfConstants(args[1])) {
      const cost = callCost(name, values.map(sizeOfValue))
      spend(Math.min(Math.max(cost, Math.ceil(partsSeen(name, values) * PART_COST)), MOST))
    }
    // What stands at a place is looked for by the container itself, which takes more kinds of places than it tells.
    const fallback = elementOfAny[name]
    const chosen = fallback && (byContainer(overloads, values) ?? fallback)
    return (chosen ?? pick(overloads, values, dynamic)).run(...values)
  }

  /** `stop` decides whatever the other side says; otherwise a side that failed is told. */
  function logical(args: readonly SyntaxNode[], frame: Frame | undefined, stop: boolean): Value {
    const left = attempt(args[0] as SyntaxNode, frame)
    if (left === stop) return stop
    const right = attempt(args[1] as SyntaxNode, frame)
    if (right === stop) return stop
    for (const side of [left, right]) {
      if (side instanceof CelError) throw side
      if (typeof side !== 'boolean') throw new CelError('no such overload')
    }
    return !stop
  }

  function attempt(node: SyntaxNode, frame: Frame | undefined): Value | CelError {
    try {
      return walk(node, frame)
    } catch (error) {
      if (error instanceof CelError) return error
      throw error
    }
  }

  function macro(node: SyntaxNode & { kind: 'macro' }, frame: Frame | undefined): Value {
    const target = walk(node.target, frame)
    spend(1)
    const names = new Map<string, Value>()
    const inner: Frame = { names, outer: frame }
    const [first, second] = node.vars as [string, string | undefined]
    if (node.name === 'optMap' || node.name === 'optFlatMap') {
      const value = target instanceof Optional ? target.value : undefined
      if (value === undefined) return new Optional(undefined)
      names.set(first, value)
      const result = walk(node.args[0] as SyntaxNode, inner)
      return node.name === 'optMap' ? new Optional(result) : result
    }
    const pairs = pairsOf(target, second !== undefined)
    const [condition, result] = node.args.length === 2 ? node.args : [undefined, node.args[0]]
    const turn = TURN_COSTS[node.name]
    const bind = (pair: readonly [Value, Value]) => {
      spend(turn.each)
      names.set(first, pair[0])
      if (second !== undefined) names.set(second, pair[1])
    }
    const holds = (one: SyntaxNode): boolean => {
      const value = walk(one, inner)
      if (typeof value !== 'boolean') throw new CelError('no such overload')
      return value
    }
    switch (node.name) {
      case 'all':
      case 'exists': {
        const stop = node.name === 'exists'
        let failed: CelError | undefined
        for (const pair of pairs) {
          bind(pair)
          const value = attempt(node.args[0] as SyntaxNode, inner)
          if (value === stop) return stop
          if (value instanceof CelError) failed ??= value
          else if (typeof value !== 'boolean') failed ??= new CelError('no such overload')
        }
        if (failed !== undefined) throw failed
        return !stop
      }
      case 'exists_one':
      case 'existsOne': {
        let count = 0
        for (const pair of pairs) {
          bind(pair)
          if (!holds(node.args[0] as SyntaxNode)) continue
          spend(turn.kept)
          count++
        }
        return count === 1
      }
      case 'filter': {
        const kept: Value[] = []
        for (const pair of pairs) {
          bind(pair)
          if (!holds(node.args[0] as SyntaxNode)) continue
          spend(turn.kept)
          kept.push(pair[0])
        }
        return kept
      }
      case 'sortBy': {
        const keys: Value[] = []
        for (const pair of pairs) {
          bind(pair)
          spend(turn.kept)
          keys.push(walk(node.args[0] as SyntaxNode, inner))
        }
        return sortedValues(
          pairs.map(([item]) => item),
          keys,
        )
      }
      case 'transformMapEntry': {
        const entries = new Map<string, readonly [Value, Value]>()
        for (const pair of pairs) {
          bind(pair)
          if (condition !== undefined && !holds(condition)) continue
          spend(turn.kept)
          const made = walk(result as SyntaxNode, inner)
          if (!isMapLike(made)) throw new CelError('no such overload')
          for (const [key, entry] of mapEntries(made)) {
            if (entries.has(key)) throw new CelError(`insert failed: key ${show(entry[0])} already exists`)
            entries.set(key, entry)
          }
        }
        return new MapValue(entries)
      }
      case 'transformMap': {
        const entries = new Map<string, readonly [Value, Value]>()
        for (const pair of pairs) {
          bind(pair)
          if (condition !== undefined && !holds(condition)) continue
          spend(turn.kept)
          entries.set(mapKeyOf(pair[0]), [pair[0], walk(result as SyntaxNode, inner)])
        }
        return new MapValue(entries)
      }
      default: {
        const made: Value[] = []
        const kept = isConstant(result as SyntaxNode) ? turn.kept - LIST_COST : turn.kept
        for (const pair of pairs) {
          bind(pair)
          if (condition !== undefined && !holds(condition)) continue
          spend(kept)
          made.push(walk(result as SyntaxNode, inner))
        }
        return made
      }
    }
  }

  return walk(checked.node, undefined)
}

/** Lists and maps of constants are made once, before anything is evaluated. */
function isConstant(node: SyntaxNode): boolean {
  if (node.kind === 'list') return node.optional.size === 0 && node.items.every(isConstant)
  if (node.kind === 'map')
    return node.entries.every(({ key, value, optional }) => !optional && isConstant(key) && isConstant(value))
  return node.kind === 'const'
}

/** Kubernetes looks into one without a walk over its items. */
const isSetOfConstants = (node: SyntaxNode | undefined) =>
  node?.kind === 'list' && node.optional.size === 0 && node.items.every(({ kind }) => kind === 'const')

/**
 * What a turn of a loop costs beside the macro's own arguments: `each` for a look at the result so far, and for asking whether it goes
 * on; `kept` where something is added to the result, to a list as a list of one.
 */
const TURN_COSTS = {
  all: { each: 3, kept: 0 },
  exists: { each: 4, kept: 0 },
  exists_one: { each: 1, kept: 1 },
  existsOne: { each: 1, kept: 1 },
  filter: { each: 1, kept: 12 },
  map: { each: 1, kept: 11 },
  sortBy: { each: 1, kept: 11 },
  transformList: { each: 1, kept: 11 },
  transformMap: { each: 1, kept: 2 },
  transformMapEntry: { each: 1, kept: 1 },
} as const

/** What a macro runs over: items (with their index where two names are asked for), or keys with their values. */
function pairsOf(target: Value, two: boolean): readonly (readonly [Value, Value])[] {
  if (Array.isArray(target))
    return target.map((item, i): readonly [Value, Value] => (two ? [BigInt(i), item] : [item, item]))
  if (isMapLike(target)) return [...mapEntries(target).values()]
  throw new CelError('no such overload')
}

function pick(overloads: readonly Overload[], values: readonly Value[], dynamic: boolean): Overload {
  const [only] = overloads
  if (overloads.length === 1 && only !== undefined && !dynamic) return only
  const found = overloads.find(({ args }) => args.every((type, i) => isOfType(values[i] as Value, type)))
  if (found === undefined) throw new CelError('no such overload')
  return found
}

const byContainer = (overloads: readonly Overload[], [container]: readonly Value[]) =>
  overloads.find(({ args: [type] }) => type !== undefined && isOfType(container as Value, type))

/** Whether a value is of the type. */
export function isOfType(value: Value, type: Type): boolean {
  switch (type.kind) {
    case 'param':
      return true
    case 'list':
      return Array.isArray(value)
    case 'map':
      return isMapLike(value)
    case 'object':
      if (value instanceof Opaque) return value.type === type.name
      return value instanceof ObjectValue || (value instanceof MessageValue && value.type.name === type.name)
    case 'optional':
      return value instanceof Optional
    case 'type':
      return value instanceof TypeValue
    case 'simple':
      switch (type.name) {
        case 'dyn':
          return true
        case 'int':
          return typeof value === 'bigint'
        case 'uint':
          return value instanceof Uint
        case 'double':
          return typeof value === 'number'
        case 'bool':
          return typeof value === 'boolean'
        case 'string':
          return typeof value === 'string'
        case 'bytes':
          return value instanceof Uint8Array
        case 'null_type':
          return value === null
        case 'google.protobuf.Timestamp':
          return value instanceof Timestamp
        case 'google.protobuf.Duration':
          return value instanceof CelDuration
        default:
          return value instanceof Opaque && value.type === type.name
      }
  }
}

const TYPES = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'bytes',
  'null_type',
  'list',
  'map',
  'type',
  'optional_type',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
  'net.IP',
  'net.CIDR',
])
