/**
 * What an expression costs: one point for a name, a field or a call, more where work grows with the size of what is worked
 * on. The same table serves the estimate, made from the most that types allow, and the count while evaluating.
 */
import type { CheckedExpression } from './check.ts'
import type { SyntaxNode } from './parse.ts'
import type { Type } from './types.ts'

/** From the least to the most. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** No number is bigger: as with Kubernetes' 64 bits, what overflows stays here. */
export const MOST = 2 ** 64

const capped = (value: number) => (Number.isNaN(value) || value > MOST ? MOST : value)
const plus = (a: Range, b: Range): Range => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) })
const times = (a: Range, b: Range): Range => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) })
const scaled = (a: Range, factor: number): Range => ({
  min: Math.ceil(a.min * factor),
  max: capped(Math.ceil(a.max * factor)),
})
const exactly = (value: number): Range => ({ min: value, max: value })

const STRING_FACTOR = 0.1
const REGEX_FACTOR = 0.25
const LIST_COST = 10
const MAP_COST = 30
export const STRUCT_COST = 40

interface Work {
  readonly cost: Range
  /** Of the result, when the arguments tell. */
  readonly size?: Range
}

/** Cost of a call beyond its arguments, by their sizes (target first). */
export function callCost(name: string, sizes: readonly Range[], items?: Range): Work {
  const [a = exactly(1), b = exactly(1)] = sizes
  switch (name) {
    case '_==_':
    case '_!=_':
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_': {
      const least = { min: Math.min(a.min, b.min), max: Math.min(a.max, b.max) }
      const cost = scaled(least, STRING_FACTOR)
      return { cost: { min: Math.max(1, cost.min), max: Math.max(1, cost.max) } }
    }
    case '_+_':
      return { cost: atLeastOne(scaled(plus(a, b), STRING_FACTOR)), size: plus(a, b) }
    case 'startsWith':
    case 'endsWith':
      return { cost: scaled(b, STRING_FACTOR) }
    case 'contains':
      return { cost: times(scaled(a, STRING_FACTOR), scaled(b, STRING_FACTOR)) }
    case 'matches':
    case 'find':
    case 'findAll':
      return {
        cost: times(scaled(plus(a, exactly(1)), STRING_FACTOR), scaled(b, REGEX_FACTOR)),
        size: { min: 0, max: a.max },
      }
    case '@in':
      return { cost: atLeastOne(b) }
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
    case 'quote':
      return { cost: atLeastOne(scaled(a, STRING_FACTOR)), size: { min: 0, max: a.max } }
    case 'replace':
    case 'split':
      return {
        cost: atLeastOne(scaled(a, STRING_FACTOR)),
        size: { min: 0, max: capped(a.max * (1 + (sizes[2]?.max ?? 0))) },
      }
    case 'join': {
      const whole = times(a, plus(items ?? exactly(1), sizes[1] ?? exactly(0)))
      return { cost: atLeastOne(scaled(whole, STRING_FACTOR)), size: whole }
    }
    case 'distinct':
      return { cost: atLeastOne(times(a, a)), size: { min: 0, max: a.max } }
    case 'slice':
    case 'flatten':
    case 'reverse':
    case 'sort':
    case 'optional.unwrap':
    case 'unwrapOpt':
      return { cost: atLeastOne(a), size: { min: 0, max: a.max } }
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      // Items that are texts are read as they are compared.
      return { cost: atLeastOne(items === undefined ? a : times(a, plus(exactly(1), scaled(items, STRING_FACTOR)))) }
    case 'validate':
      return { cost: times(scaled(b, STRING_FACTOR), exactly(32)) }
    case 'sets.contains':
    case 'sets.intersects':
      return { cost: plus(times(a, b), exactly(1)) }
    case 'sets.equivalent':
      return { cost: plus(times(times(a, b), exactly(2)), exactly(1)) }
    case 'string':
      return { cost: atLeastOne(scaled(a, STRING_FACTOR)) }
    case 'bytes':
    case 'url':
    case 'quantity':
    case 'isQuantity':
    case 'isURL':
    case 'ip':
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'semver':
    case 'isSemver':
      return { cost: atLeastOne(scaled(a, STRING_FACTOR)), size: { min: 0, max: a.max } }
    default:
      return { cost: exactly(1) }
  }
}

const atLeastOne = (range: Range): Range => ({ min: Math.max(1, range.min), max: Math.max(1, range.max) })

/** The least and the most that evaluating may cost. */
export function estimateCost({ node, types, calls }: CheckedExpression): Range {
  const scope = new Map<string, Range>()

  function sizeByType(type: Type | undefined): Range {
    if (type === undefined) return { min: 0, max: MOST }
    if (type.kind === 'list' || type.kind === 'map') return { min: 0, max: type.maxElements ?? MOST }
    if (type.kind === 'object') return exactly(0)
    if (type.kind === 'type') return exactly(1)
    if (type.kind !== 'simple') return { min: 0, max: MOST }
    if (type.name === 'string' || type.name === 'bytes' || type.name === 'dyn')
      return { min: 0, max: type.maxElements ?? MOST }
    return exactly(1)
  }

  function walk(one: SyntaxNode): Work {
    switch (one.kind) {
      case 'const': {
        const { value } = one.value
        const size = typeof value === 'string' ? [...value].length : value instanceof Uint8Array ? value.length : 1
        return { cost: exactly(0), size: exactly(size) }
      }
      case 'ident':
        return { cost: exactly(1), size: scope.get(one.name) ?? sizeByType(types.get(one)) }
      case 'select': {
        const { cost } = walk(one.operand)
        return one.test
          ? { cost, size: exactly(1) }
          : { cost: plus(cost, exactly(1)), size: sizeByType(types.get(one)) }
      }
      case 'list': {
        const cost = one.items.reduce((sum, item) => plus(sum, walk(item).cost), exactly(LIST_COST))
        return { cost, size: exactly(one.items.length) }
      }
      case 'map': {
        const cost = one.entries.reduce(
          (sum, { key, value }) => plus(plus(sum, walk(key).cost), walk(value).cost),
          exactly(MAP_COST),
        )
        return { cost, size: exactly(one.entries.length) }
      }
      case 'struct':
        return { cost: one.fields.reduce((sum, { value }) => plus(sum, walk(value).cost), exactly(STRUCT_COST)) }
      case 'call':
        return callWork(one)
      case 'macro':
        return macroWork(one)
    }
  }

  function callWork(one: SyntaxNode & { kind: 'call' }): Work {
    const { name, args } = calls.get(one) ?? { name: one.name, args: one.target ? [one.target, ...one.args] : one.args }
    const works = args.map(walk)
    const costs = works.map(({ cost }) => cost)
    if (name === '_&&_' || name === '_||_') {
      const [left, right] = costs as [Range, Range]
      return { cost: { min: left.min, max: capped(left.max + right.max) }, size: exactly(1) }
    }
    if (name === '_?_:_') {
      const [condition, yes, no] = costs as [Range, Range, Range]
      const either = { min: Math.min(yes.min, no.min), max: Math.max(yes.max, no.max) }
      const [, a, b] = works.map(({ size }) => size ?? { min: 0, max: MOST }) as [Range, Range, Range]
      return { cost: plus(condition, either), size: { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) } }
    }
    const target = types.get(args[0] as SyntaxNode)
    const items =
      target?.kind === 'list' && target.items.kind === 'simple' && ['string', 'bytes'].includes(target.items.name)
        ? sizeByType(target.items)
        : undefined
    const own = callCost(
      name,
      works.map(({ size }) => size ?? { min: 0, max: MOST }),
      items,
    )
    const cost = costs.reduce(plus, own.cost)
    return { cost, size: own.size ?? sizeByType(types.get(one)) }
  }

  function macroWork(one: SyntaxNode & { kind: 'macro' }): Work {
    const target = walk(one.target)
    const count = target.size ?? { min: 0, max: MOST }
    const loop = one.args.map((arg) => walk(arg).cost).reduce(plus, exactly(0))
    // What the macro itself does at every turn: a look at the result so far, and its next value.
    const turn = {
      all: 3,
      exists: 4,
      exists_one: 2,
      existsOne: 2,
      filter: 13,
      map: 12,
      transformList: 12,
      transformMap: 32,
      transformMapEntry: 32,
      sortBy: 12,
      optMap: 1,
      optFlatMap: 1,
    }[one.name]
    const once = {
      all: 1,
      exists: 1,
      exists_one: 2,
      existsOne: 2,
      optMap: 1,
      optFlatMap: 1,
      filter: 11,
      map: 11,
      transformList: 11,
      transformMap: 31,
      transformMapEntry: 31,
      sortBy: 11,
    }[one.name]
    const cost = plus(plus(target.cost, exactly(once)), times(count, plus(loop, exactly(turn))))
    return {
      cost,
      size:
        one.name === 'filter'
          ? { min: 0, max: count.max }
          : ['map', 'transformList', 'transformMap', 'transformMapEntry', 'sortBy'].includes(one.name)
            ? count
            : exactly(1),
    }
  }

  return walk(node).cost
}
