/** Type checking: every node gets a type, every call the overloads that may be meant, every mistake a place. */
import { compilePattern } from '../schema/structural/patterns.ts'
import { wrongConstant } from './constants.ts'
import { wrongFormat } from './format.ts'
import type { Functions, Overload } from './functions.ts'
import type { Issue } from './issues.ts'
import { mixedLiterals } from './literal-types.ts'
import type { SyntaxNode } from './parse.ts'
import { protobufMessages } from './protobuf-messages.ts'
import {
  assignable,
  type Bindings,
  BOOL,
  BYTES,
  CIDR,
  closed,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  fieldNamed,
  INT,
  IP,
  isDyn,
  joined,
  listType,
  mapOf,
  NULL,
  optionalOf,
  printType,
  STRING,
  substituted,
  TIMESTAMP,
  type Type,
  UINT,
} from './types.ts'

export interface CheckedExpression {
  readonly node: SyntaxNode
  readonly type: Type
  readonly types: ReadonlyMap<SyntaxNode, Type>
  /** By call node: the overloads whose types fit, and the function's full name (`optional.of`) when it is qualified. */
  readonly calls: ReadonlyMap<SyntaxNode, Call>
  readonly issues: readonly Issue[]
  /** Selections that are no selections but one name with dots in it: a variable's. */
  readonly names: ReadonlyMap<SyntaxNode, string>
  /** Types of objects that stand where a value should. */
  readonly typesRead: ReadonlySet<string>
  /** Names of variables that are read. */
  readonly reads: ReadonlySet<string>
}

export interface Call {
  readonly name: string
  readonly args: readonly SyntaxNode[]
  readonly overloads: readonly Overload[]
  /** Some argument's type is known only when it is there. */
  readonly dynamic: boolean
}

export interface TypeEnvironment {
  readonly variables: ReadonlyMap<string, Type>
  readonly functions: Functions
  /** Types of which expressions make objects, by name. */
  readonly messages?: (name: string) => (Type & { readonly kind: 'object' }) | undefined
  /** Literals may hold values of several types: what is known of the variables does not tell. */
  readonly mixed?: boolean
}

/** What no argument bound stays open, as in `optional.none()`. */
function opened({ args, result }: Overload, bindings: Bindings, at: number): Bindings {
  if (args.length === 0 && result.kind === 'optional' && result.of.kind === 'param')
    bindings.set(result.of.name, open('O', at))
  return bindings
}

/** What an empty literal leaves open: whatever is asked for. */
const open = (letter: string, at: number): Type => ({ kind: 'param', name: `${letter}${at}`, open: true })

function isLocal(name: string, scope: Scope): boolean {
  for (let s: Scope | undefined = scope; s !== undefined; s = s.outer) if (s.names.has(name)) return true
  return false
}

interface Scope {
  readonly names: ReadonlyMap<string, Type>
  readonly outer: Scope | undefined
}

export function typeCheck(
  node: SyntaxNode,
  { variables, functions, messages, mixed = false }: TypeEnvironment,
): CheckedExpression {
  const types = new Map<SyntaxNode, Type>()
  const calls = new Map<SyntaxNode, Call>()
  const issues: Issue[] = []
  const reads = new Set<string>()
  const names = new Map<SyntaxNode, string>()
  const typesRead = new Set<string>()

  function lookup(name: string, scope: Scope | undefined): Type | undefined {
    for (let s = scope; s !== undefined; s = s.outer) {
      const found = s.names.get(name)
      if (found !== undefined) return found
    }
    const found = variables.get(name)
    if (found !== undefined) reads.add(name)
    return found
  }

  const report = (at: number, message: string): Type => {
    issues.push({ at, message })
    return ERROR
  }
  function message(name: string): Type | undefined {
    const found = messages?.(name)
    if (found !== undefined) typesRead.add(name)
    return found && { kind: 'type', of: found }
  }
  /** What is marked with `?` must be an optional, of which the value counts. */
  function marked(type: Type, at: number): Type {
    if (type.kind === 'optional') return type.of
    if (!isDyn(type)) report(at, `expected type '${printType(optionalOf(type))}' but found '${printType(type)}'`)
    return type
  }
  const undeclared = (at: number, name: string) => report(at, `undeclared reference to '${name}' (in container '')`)

  function typeOf(one: SyntaxNode, scope: Scope | undefined): Type {
    const type = find(one, scope)
    types.set(one, type)
    return type
  }

  function find(one: SyntaxNode, scope: Scope | undefined): Type {
    switch (one.kind) {
      case 'const':
        return { int: INT, uint: UINT, double: DOUBLE, string: STRING, bytes: BYTES, bool: BOOL, null: NULL }[
          one.value.type
        ]
      case 'ident':
        return lookup(one.name, scope) ?? TYPE_NAMES[one.name] ?? message(one.name) ?? undeclared(one.at, one.name)
      case 'select':
        return select(one, scope)
      case 'call':
        return call(one, scope)
      case 'list': {
        let items: Type | undefined
        one.items.forEach((item, i) => {
          const type = typeOf(item, scope)
          const inner = one.optional.has(i) ? marked(type, item.at) : type
          items = items === undefined ? inner : joined(items, inner)
        })
        return listType(items ?? open('T', one.at))
      }
      case 'map': {
        let key: Type | undefined
        let value: Type | undefined
        for (const entry of one.entries) {
          const k = typeOf(entry.key, scope)
          const v = typeOf(entry.value, scope)
          const inner = entry.optional ? marked(v, entry.value.at) : v
          key = key === undefined ? k : joined(key, k)
          value = value === undefined ? inner : joined(value, inner)
        }
        return mapOf(key ?? open('K', one.at), value ?? open('V', one.at))
      }
      case 'struct':
        return struct(one, scope)
      case 'macro':
        return macro(one, scope)
    }
  }

  function struct(one: SyntaxNode & { kind: 'struct' }, scope: Scope | undefined): Type {
    const known = protobufMessages[one.name]
    const type = messages?.(one.name) ?? known?.fields
    if (type === undefined) {
      return Object.hasOwn(TYPE_NAMES, one.name)
        ? report(one.at, `'${one.name}' is not a message type`)
        : undeclared(one.at, one.name)
    }
    for (const { name, value, optional, at } of one.fields) {
      const given = typeOf(value, scope)
      const inner = optional ? marked(given, value.at) : given
      const wanted = fieldNamed(type, name)?.type ?? type.others
      if (wanted === undefined) report(at, `undefined field '${name}'`)
      else if (!assignable(wanted, inner, new Map()))
        report(
          at,
          `expected type of field '${name}' is '${printType(wanted)}' but provided type is '${printType(inner)}'`,
        )
    }
    return type === known?.fields ? known.type : type
  }

  /** A variable or a type whose name has dots. */
  function dotted(one: SyntaxNode & { kind: 'select' }, scope: Scope | undefined): Type | undefined {
    const name = qualified(one, scope, true)
    if (name === undefined) return undefined
    const variable = variables.get(name)
    const known = variable ?? TYPE_NAMES[name]
    if (known === undefined) return message(name)
    names.set(one, name)
    return known
  }

  function select(one: SyntaxNode & { kind: 'select' }, scope: Scope | undefined): Type {
    const whole = dotted(one, scope)
    if (whole !== undefined) return whole
    const operand = typeOf(one.operand, scope)
    const wrapped = operand.kind === 'optional'
    const from = operand.kind === 'optional' ? operand.of : operand
    let found: Type
    if (from.kind === 'object') {
      const type = fieldNamed(from, one.field)?.type ?? from.others
      if (from.sealed) return report(one.at, `unexpected failed resolution of '${from.name}'`)
      if (type === undefined) return report(one.at, `undefined field '${one.field}'`)
      found = type
    } else if (from.kind === 'map') found = from.value
    else if (isDyn(from) || from.kind === 'param') found = DYN
    else return report(one.at, `type '${printType(from)}' does not support field selection`)
    if (one.test) return BOOL
    return wrapped || one.optional ? optionalOf(found) : found
  }

  /** Names with dots between them; those of a variable's fields only when `shadowing` allows what begins like a variable. */
  function qualified(one: SyntaxNode, scope: Scope | undefined, shadowing = false): string | undefined {
    if (one.kind === 'ident') {
      if (shadowing) return scope !== undefined && isLocal(one.name, scope) ? undefined : one.name
      return lookup(one.name, scope) === undefined ? one.name : undefined
    }
    if (one.kind !== 'select' || one.test || one.optional) return undefined
    const outer = qualified(one.operand, scope, shadowing)
    return outer === undefined ? undefined : `${outer}.${one.field}`
  }

  function call(one: SyntaxNode & { kind: 'call' }, scope: Scope | undefined): Type {
    const prefix = one.target === undefined ? undefined : qualified(one.target, scope)
    const full = prefix === undefined ? undefined : functions.get(`${prefix}.${one.name}`)
    const isMethod = one.target !== undefined && full === undefined
    const args = isMethod ? [one.target as SyntaxNode, ...one.args] : one.args
    const given = args.map((arg) => typeOf(arg, scope))
    const name = full === undefined ? one.name : `${prefix}.${one.name}`
    const known = full ?? functions.get(name)
    if (known === undefined) return undeclared(one.at, name)
    const fitting: Overload[] = []
    let result: Type | undefined
    for (const overload of known) {
      if (overload.method !== isMethod || overload.args.length !== given.length) continue
      const bindings = new Map<string, Type>()
      if (!overload.args.every((wanted, i) => assignable(wanted, given[i] as Type, bindings))) continue
      fitting.push(overload)
      const type = substituted(overload.result, opened(overload, bindings, one.at))
      result = result === undefined ? type : sameType(result, type) ? result : DYN
    }
    if (result === undefined) {
      const shown = isMethod
        ? `${printType(given[0] as Type)}.(${given.slice(1).map(printType).join(', ')})`
        : `(${given.map(printType).join(', ')})`
      return report(one.at, `found no matching overload for '${name}' applied to '${shown}'`)
    }
    calls.set(one, { name, args, overloads: fitting, dynamic: given.some(isDyn) })
    const pattern = name === 'matches' ? args[1] : undefined
    if (
      pattern?.kind === 'const' &&
      pattern.value.type === 'string' &&
      compilePattern(pattern.value.value) === undefined
    )
      report(pattern.at, 'invalid matches argument')
    const wrong = name === 'format' ? wrongFormat(args, types, one.at) : wrongConstant(name, args)
    if (wrong !== undefined) report(wrong.at, wrong.message)
    return result
  }

  function macro(one: SyntaxNode & { kind: 'macro' }, scope: Scope | undefined): Type {
    const target = typeOf(one.target, scope)
    const names = new Map<string, Type>()
    const inner: Scope = { names, outer: scope }
    if (one.name === 'optMap' || one.name === 'optFlatMap') {
      names.set(one.vars[0] as string, target.kind === 'optional' ? target.of : DYN)
      const type = typeOf(one.args[0] as SyntaxNode, inner)
      return one.name === 'optMap' ? optionalOf(type) : type
    }
    const two = one.vars.length === 2
    if (target.kind === 'list') {
      if (two) names.set(one.vars[0] as string, INT)
      names.set(one.vars.at(-1) as string, target.items)
    } else if (target.kind === 'map') {
      names.set(one.vars[0] as string, target.key)
      if (two) names.set(one.vars[1] as string, target.value)
    } else if (isDyn(target)) for (const name of one.vars) names.set(name, DYN)
    else
      return report(
        one.target.at,
        `expression of type '${printType(target)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      )
    const args = one.args.map((arg) => typeOf(arg, inner))
    const result = args.at(-1) as Type
    const wantsBool = (type: Type, at: number) => {
      if (!assignable(BOOL, type, new Map())) report(at, `expected type 'bool' but found '${printType(type)}'`)
    }
    switch (one.name) {
      case 'all':
      case 'exists':
      case 'exists_one':
      case 'existsOne':
        wantsBool(result, (one.args[0] as SyntaxNode).at)
        return BOOL
      case 'filter':
        wantsBool(result, (one.args[0] as SyntaxNode).at)
        return target.kind === 'list' ? listType(target.items) : listType(names.get(one.vars[0] as string) ?? DYN)
      case 'transformMapEntry':
        return result.kind === 'map' ? result : mapOf(DYN, DYN)
      case 'sortBy':
        return target
      case 'transformMap':
        return mapOf(target.kind === 'map' ? target.key : INT, result)
      default:
        if (args.length === 2) wantsBool(args[0] as Type, (one.args[0] as SyntaxNode).at)
        return listType(result)
    }
  }

  const type = typeOf(node, undefined)
  if (issues.length === 0 && !mixed) issues.push(...mixedLiterals(node, types))
  issues.sort((a, b) => a.at - b.at)
  return { node, type: closed(type), types, calls, issues, names, typesRead, reads }
}

function sameType(a: Type, b: Type): boolean {
  return printType(a) === printType(b)
}

const TYPE_NAMES: Readonly<Record<string, Type>> = Object.assign(Object.create(null), {
  int: { kind: 'type', of: INT },
  uint: { kind: 'type', of: UINT },
  double: { kind: 'type', of: DOUBLE },
  bool: { kind: 'type', of: BOOL },
  string: { kind: 'type', of: STRING },
  bytes: { kind: 'type', of: BYTES },
  null_type: { kind: 'type', of: NULL },
  list: { kind: 'type', of: listType(DYN) },
  map: { kind: 'type', of: mapOf(DYN, DYN) },
  type: { kind: 'type', of: { kind: 'type', of: DYN } },
  optional_type: { kind: 'type', of: optionalOf(DYN) },
  'google.protobuf.Timestamp': { kind: 'type', of: TIMESTAMP },
  'google.protobuf.Duration': { kind: 'type', of: DURATION },
  'net.IP': { kind: 'type', of: IP },
  'net.CIDR': { kind: 'type', of: CIDR },
})
