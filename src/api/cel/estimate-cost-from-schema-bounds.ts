/**
 * The most that evaluating an expression may cost, by the sizes that its types allow (KEP-2876). Kubernetes finds a size by the way
 * that leads to a value from `self`, or by what the call says that made it, and takes rules or refuses them by the sum; so what is
 * found by neither is without bound, however well its type is known, and a way that does not begin at a variable is read as if
 * it did, its first step left out. Measured of a real API server, one rule at a time.
 */
import type { CheckedExpression } from './check.ts'
import {
  capped,
  LIST_COST,
  MAP_COST,
  MOST,
  REGEX_FACTOR,
  STRING_FACTOR,
  STRUCT_COST,
  shareOf,
} from './cost-of-calls.ts'
import type { SyntaxNode } from './parse.ts'
import { fieldNamed, type Type } from './types.ts'

/** Elements of a list or a map, bytes of a text. */
interface Size {
  readonly min: number
  readonly max: number
}

interface Estimate {
  readonly cost: number
  /** What the node itself says of its value. */
  readonly size?: Size | undefined
  /** Of the elements of a list that was made here, of the values of such a map. */
  readonly elements?: Size | undefined
  /** The steps from a variable; undefined where none lead here. */
  readonly path?: readonly string[] | undefined
}

/** Steps of a path which are no fields. */
const ITEMS = '@items'
const KEYS = '@keys'
const VALUES = '@values'

const ONE: Size = { min: 1, max: 1 }
const UNBOUNDED: Size = { min: 0, max: MOST }
const exactly = (size: number): Size => ({ min: size, max: size })
const upTo = (max: number): Size => ({ min: 0, max: capped(max) })
const union = (a: Size, b: Size): Size => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })
const eitherOf = (a: Size | undefined, b: Size | undefined) =>
  a === undefined || b === undefined ? undefined : union(a, b)
const sum = (...costs: readonly number[]) => capped(costs.reduce((whole, one) => whole + one, 0))

/** What has no parts costs one look. */
const SCALARS = new Set(['int', 'uint', 'double', 'bool', 'google.protobuf.Timestamp', 'google.protobuf.Duration'])
/** Values of these are compared in one step. */
const OPAQUE = new Set(['kubernetes.Quantity', 'net.IP', 'net.CIDR', 'kubernetes.Semver'])

const isNamed = (type: Type | undefined, ...names: readonly string[]) =>
  type?.kind === 'simple' && names.includes(type.name)
const isText = (type: Type | undefined) => isNamed(type, 'string', 'bytes')

/** `root`: the type of `self`. */
export function estimateCost({ node, types, calls }: CheckedExpression, root: Type | undefined): number {
  const scope = new Map<string, Estimate>()

  function sizeByPath(path: readonly string[] | undefined): Size | undefined {
    if (path === undefined) return undefined
    let type = root
    for (const step of path.slice(1)) {
      if (step === ITEMS || step === VALUES)
        type = type?.kind === 'list' ? type.items : type?.kind === 'map' ? type.value : undefined
      else if (step === KEYS) type = type?.kind === 'map' ? type.key : undefined
      else type = type?.kind === 'object' ? fieldNamed(type, step)?.type : undefined
    }
    return type && upTo('maxElements' in type ? (type.maxElements ?? 0) : 0)
  }

  function sizeOf(one: SyntaxNode, { size, path }: Estimate): Size {
    const type = types.get(one)
    const byType = type?.kind === 'simple' && SCALARS.has(type.name) ? ONE : UNBOUNDED
    return size ?? sizeByPath(path) ?? byType
  }

  /** Of each element of a list that is looked at as a whole: those of one that was made here count as without bound. */
  const itemsOf = ({ path }: Estimate) => (path && sizeByPath([...path, ITEMS])) ?? UNBOUNDED

  function walk(one: SyntaxNode): Estimate {
    switch (one.kind) {
      case 'const': {
        const { value } = one.value
        const size = typeof value === 'string' ? [...value].length : value instanceof Uint8Array ? value.length : 1
        return { cost: 0, size: exactly(size) }
      }
      case 'ident':
        return { ...(scope.get(one.name) ?? { path: [one.name] }), cost: 1 }
      case 'select': {
        const { cost, path = [] } = walk(one.operand)
        if (one.test) return { cost, size: ONE }
        return { cost: sum(cost, 1), path: one.optional ? undefined : [...path, one.field] }
      }
      case 'list':
        return literal(LIST_COST, one.items)
      case 'map': {
        const keys = one.entries.map(({ key }) => walk(key).cost)
        return literal(
          sum(MAP_COST, ...keys),
          one.entries.map(({ value }) => value),
        )
      }
      case 'struct':
        return { cost: sum(STRUCT_COST, ...one.fields.map(({ value }) => walk(value).cost)) }
      case 'call':
        return call(one)
      case 'macro':
        return macro(one)
    }
  }

  function literal(own: number, values: readonly SyntaxNode[]): Estimate {
    const walked = values.map(walk)
    const sizes = values.map((value, i) => sizeOf(value, walked[i] as Estimate))
    return {
      cost: sum(own, ...walked.map(({ cost }) => cost)),
      size: exactly(values.length),
      elements: sizes.length === 0 ? undefined : sizes.reduce(union),
    }
  }

  function call(one: SyntaxNode & { kind: 'call' }): Estimate {
    const { name, args } = calls.get(one) ?? { name: one.name, args: one.target ? [one.target, ...one.args] : one.args }
    const given = args.map(walk)
    const costs = given.map(({ cost }) => cost)
    if (name === '_?_:_') {
      const [condition = 0, ...either] = costs
      const [, yes, no] = given as [Estimate, Estimate, Estimate]
      return {
        cost: sum(condition, Math.max(...either)),
        size: union(sizeOf(args[1] as SyntaxNode, yes), sizeOf(args[2] as SyntaxNode, no)),
        elements: eitherOf(yes.elements, no.elements),
      }
    }
    if (name === '_&&_' || name === '_||_') return { cost: sum(...costs), size: ONE }
    const { cost, ...rest } = beyondArguments(name, args, given)
    return { cost: sum(cost, ...costs), ...rest }
  }

  function beyondArguments(name: string, args: readonly SyntaxNode[], given: readonly Estimate[]): Estimate {
    const sizes = args.map((arg, i) => sizeOf(arg, given[i] as Estimate))
    const [a = ONE, b = ONE] = sizes
    const [first = { cost: 0 }] = given
    const type = types.get(args[0] as SyntaxNode)
    const constant = (at: number) => {
      const arg = args[at]
      const value = arg?.kind === 'const' ? Number(arg.value.value) : Number.NaN
      return Number.isNaN(value) ? undefined : value
    }
    /** Lists are made, in so many steps. */
    const listMade = (steps: number, size: Size): Estimate => ({ cost: sum(LIST_COST, 1, steps), size })
    switch (name) {
      case '_==_':
      case '_!=_': {
        const isOpaque = type?.kind === 'simple' && OPAQUE.has(type.name)
        return { cost: isOpaque ? 1 : shareOf(Math.min(a.max, b.max), STRING_FACTOR), size: ONE }
      }
      case '_<_':
      case '_<=_':
      case '_>_':
      case '_>=_':
        return { cost: isText(type) ? shareOf(Math.min(a.max, b.max), STRING_FACTOR) : 1, size: ONE }
      case '_+_': {
        const size = { min: capped(a.min + b.min), max: capped(a.max + b.max) }
        if (isText(type)) return { cost: shareOf(size.max, STRING_FACTOR), size }
        return type?.kind === 'list'
          ? { cost: 1, size, elements: eitherOf(first.elements, given[1]?.elements) }
          : { cost: 1 }
      }
      case '_[_]':
        return {
          cost: 1,
          size: first.elements,
          path: [...(first.path ?? []), type?.kind === 'map' ? VALUES : ITEMS],
        }
      case '@in':
        return { cost: types.get(args[1] as SyntaxNode)?.kind === 'map' ? 1 : b.max, size: ONE }
      case 'dyn':
        return { cost: 1, size: a }
      case 'startsWith':
      case 'endsWith':
        return { cost: shareOf(b.max, STRING_FACTOR), size: ONE }
      case 'contains':
        return { cost: capped(shareOf(a.max, STRING_FACTOR) * shareOf(b.max, STRING_FACTOR)), size: ONE }
      case 'matches':
      case 'find':
      case 'findAll':
        return {
          cost: capped(shareOf(capped(a.max + 1), STRING_FACTOR) * shareOf(b.max, REGEX_FACTOR)),
          size: name === 'matches' ? ONE : upTo(a.max),
        }
      case 'lowerAscii':
      case 'upperAscii':
      case 'substring':
      case 'trim':
      case 'url':
      case 'quantity':
      case 'cidr':
      case 'semver':
        return { cost: shareOf(a.max, STRING_FACTOR), size: upTo(a.max) }
      case 'ip':
        // Of a network it is read, of a text it is made.
        return isText(type) ? { cost: shareOf(a.max, STRING_FACTOR), size: upTo(a.max) } : { cost: 1 }
      case 'isQuantity':
      case 'isIP':
      case 'isCIDR':
      case 'isSemver':
        return { cost: shareOf(a.max, STRING_FACTOR), size: ONE }
      case 'ip.isCanonical':
        return { cost: shareOf(a.max, 2 * STRING_FACTOR), size: ONE }
      case 'containsIP':
      case 'containsCIDR': {
        const parsed = isText(types.get(args[1] as SyntaxNode)) ? shareOf(b.max, STRING_FACTOR) : 0
        return { cost: sum(parsed, name === 'containsIP' ? 4 : 7), size: ONE }
      }
      case 'strings.quote':
        return { cost: shareOf(a.max, STRING_FACTOR), size: upTo(2 * a.max + 2) }
      case 'format':
        return type === undefined || isText(type) ? { cost: shareOf(a.max, STRING_FACTOR) } : { cost: 1 }
      case 'bytes':
        return { cost: shareOf(a.max, STRING_FACTOR), size: upTo(4 * a.max) }
      case 'string':
        return isNamed(type, 'bytes') ? { cost: shareOf(a.max, STRING_FACTOR), size: upTo(a.max) } : { cost: 1 }
      case 'replace': {
        const [, from = ONE, to = ONE] = sizes
        const all = from.min === 0 ? a.max + (a.max + 1) * to.max : Math.ceil(a.max / from.min) * to.max
        return { cost: shareOf(a.max, 2 * STRING_FACTOR), size: upTo(Math.max(a.max, all)) }
      }
      case 'split':
        return { cost: shareOf(a.max, 2 * STRING_FACTOR), size: upTo(a.max) }
      case 'join': {
        const between = capped(Math.max(0, a.max - 1) * (args.length > 1 ? b.max : 0))
        const size = a.max === 0 ? 0 : capped(a.max * itemsOf(first).max + between)
        return { cost: shareOf(size, STRING_FACTOR), size: upTo(size) }
      }
      case 'distinct':
        return listMade(2 * a.max * a.max, upTo(a.max * a.max))
      case 'sort':
        return sorted(a, type)
      case 'reverse':
        return listMade(a.max, upTo(a.max))
      case 'flatten':
        return listMade(a.max * (constant(1) ?? 1), upTo(a.max))
      case 'slice': {
        const length = Math.max(0, (constant(2) ?? a.max) - (constant(1) ?? 0))
        return listMade(length, upTo(length))
      }
      case 'lists.range': {
        const length = constant(0) ?? MOST
        return listMade(length, exactly(length))
      }
      case 'isSorted':
      case 'sum':
      case 'max':
      case 'min':
      case 'indexOf':
      case 'lastIndexOf': {
        if (isText(type)) return { cost: shareOf(a.max, STRING_FACTOR) }
        // Items that are texts are read as they are compared.
        const compared = type?.kind === 'list' && isText(type.items) ? shareOf(itemsOf(first).max, STRING_FACTOR) : 0
        return { cost: a.max === 0 ? 0 : capped(a.max * (1 + compared)) }
      }
      case 'validate':
        return { cost: capped(shareOf(b.max, STRING_FACTOR) * 32) }
      case 'sets.contains':
      case 'sets.intersects':
        return { cost: sum(a.max * b.max, 1), size: ONE }
      case 'sets.equivalent':
        return { cost: sum(2 * a.max * b.max, 1), size: ONE }
      case 'optional.unwrap':
      case 'unwrapOpt':
        return { cost: a.max, size: upTo(a.max) }
      default:
        return { cost: 1 }
    }
  }

  /** Each item is compared with each, and Kubernetes takes the squares for what comes of it too. */
  function sorted({ max }: Size, type: Type | undefined, compared = type?.kind === 'list' ? type.items : undefined) {
    const square = capped(max * max)
    const read = isText(compared) ? shareOf(square, STRING_FACTOR) : 0
    return { cost: sum(LIST_COST, 1, 2 * square, read), size: upTo(square) }
  }

  function macro(one: SyntaxNode & { kind: 'macro' }): Estimate {
    const target = walk(one.target)
    if (one.name === 'optMap' || one.name === 'optFlatMap') {
      // The target is asked whether there is anything, then for it, and that is given its name by a loop over nothing.
      const { cost } = within(new Map([[one.vars[0] as string, { cost: 1 }]]), () => walk(one.args[0] as SyntaxNode))
      return { cost: sum(2 * target.cost, one.name === 'optMap' ? 3 : 2, LIST_COST, cost) }
    }
    const { min, max: count } = sizeOf(one.target, target)
    const type = types.get(one.target)
    const names = variables(one.vars, target, type)
    const inner = within(names, () => one.args.map(walk))
    const { once, turn } = LOOPS[one.name]
    const cost = sum(target.cost, once, count * (sum(...inner.map((arg) => arg.cost)) + turn))
    switch (one.name) {
      case 'sortBy': {
        const list = types.get(one.args[0] as SyntaxNode)
        const { cost: own, size } = sorted(upTo(count), type, list)
        return { cost: sum(cost, own), size }
      }
      case 'filter':
        return {
          cost,
          size: upTo(count),
          elements: sizeByPath(names.get(one.vars.at(-1) as string)?.path) ?? UNBOUNDED,
        }
      case 'map':
      case 'transformList': {
        const made = one.args.length - 1
        const elements = sizeOf(one.args[made] as SyntaxNode, inner[made] as Estimate)
        return { cost, size: { min: made === 0 ? min : 0, max: count }, elements }
      }
      case 'transformMap':
      case 'transformMapEntry':
        return { cost, size: upTo(count) }
      default:
        return { cost, size: ONE }
    }
  }

  /** What the variables of a loop over the target stand for. */
  function variables(names: readonly string[], { path = [] }: Estimate, type: Type | undefined) {
    const [first = '', second] = names
    const isMap = type?.kind === 'map'
    const key: Estimate = { cost: 1, ...(isMap && { path: [...path, KEYS] }) }
    const value: Estimate = { cost: 1, path: [...path, isMap ? VALUES : ITEMS] }
    return second === undefined
      ? new Map([[first, isMap ? key : value]])
      : new Map([
          [first, key],
          [second, value],
        ])
  }

  function within<T>(names: ReadonlyMap<string, Estimate>, look: () => T): T {
    const outer = new Map(scope)
    for (const [name, estimate] of names) scope.set(name, estimate)
    const result = look()
    scope.clear()
    for (const [name, estimate] of outer) scope.set(name, estimate)
    return result
  }

  return walk(node).cost
}

/** What a loop costs by itself: once, and at every turn for a look at the result so far and its next value. */
const LOOPS = {
  all: { once: 1, turn: 3 },
  exists: { once: 1, turn: 4 },
  exists_one: { once: 2, turn: 2 },
  existsOne: { once: 2, turn: 2 },
  filter: { once: 11, turn: 13 },
  map: { once: 11, turn: 12 },
  transformList: { once: 11, turn: 12 },
  transformMap: { once: 31, turn: 3 },
  transformMapEntry: { once: 31, turn: 2 },
  // As a map, and a name for the list.
  sortBy: { once: 23, turn: 12 },
} as const
