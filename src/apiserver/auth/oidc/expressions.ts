/** CEL over a token's claims and over the user made of them (API concept: structured authentication configuration, KEP-3331). */

import { CALL_COST_LIMIT } from '../../../api/cel/cost-limits.ts'
import { BudgetExceeded } from '../../../api/cel/eval-within-cost-limit.ts'
import type { SyntaxNode } from '../../../api/cel/parse.ts'
import { compileExpression, type Program } from '../../../api/cel/program.ts'
import { DYN, listType, mapOf, type ObjectField, STRING, type Type } from '../../../api/cel/types.ts'
import { CelError, MapValue, type Value, wrap } from '../../../api/cel/values.ts'
import type { Json } from '../../../api/object.ts'
import type { UserInfo } from '../../../api/request.ts'
import type { Claims } from '../jws.ts'
import { TokenError } from '../token-error.ts'
import { userInfoOf } from '../user-info.ts'

const field = (name: string, type: Type): [string, ObjectField] => [name, { name, type }]
const USER: Type = {
  kind: 'object',
  name: 'kubernetes.UserInfo',
  fields: new Map([
    field('username', STRING),
    field('uid', STRING),
    field('groups', listType(STRING)),
    field('extra', mapOf(STRING, listType(STRING))),
  ]),
}
const OVER_CLAIMS: ReadonlyMap<string, Type> = new Map([['claims', mapOf(STRING, DYN)]])
const OVER_USER: ReadonlyMap<string, Type> = new Map([['user', USER]])

/** JSON of a token may nest no deeper. */
const MAX_DEPTH = 100

export interface ClaimExpression {
  readonly source: string
  readonly program: Program
}

export type Compiled = { readonly expression: ClaimExpression } | { readonly error: string }

const compiled = (source: string, variables: ReadonlyMap<string, Type>): Compiled => {
  const made = compileExpression(source, variables)
  return 'error' in made ? made : { expression: { source, program: made.program } }
}
export const overClaims = (source: string): Compiled => compiled(source, OVER_CLAIMS)
export const overUser = (source: string): Compiled => compiled(source, OVER_USER)

export const claimsVariables = (claims: Claims): ReadonlyMap<string, Value> =>
  new Map([['claims', claimValue(claims as Json, 0)]])

export const userVariables = (user: UserInfo): ReadonlyMap<string, Value> =>
  new Map([['user', wrap({ username: '', uid: '', groups: [], extra: {}, ...userInfoOf(user) }, USER)]])

/** @throws TokenError */
export function run({ source, program }: ClaimExpression, variables: ReadonlyMap<string, Value>): Value {
  try {
    return program.run(variables, { used: 0, limit: CALL_COST_LIMIT })
  } catch (error) {
    if (error instanceof CelError || error instanceof BudgetExceeded)
      throw new TokenError(`expression '${source}' resulted in error: ${error.message}`)
    throw error
  }
}

/** As a Go decoder without a type reads JSON: every number is a double. @throws TokenError */
function claimValue(json: Json, depth: number): Value {
  if (depth > MAX_DEPTH) throw new TokenError('oidc: parse claims: exceeded max depth')
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map((item) => claimValue(item, depth + 1))
  const entries = new Map<string, readonly [Value, Value]>()
  for (const [key, value] of Object.entries(json)) entries.set(`s${key}`, [key, claimValue(value as Json, depth + 1)])
  return new MapValue(entries)
}

/** Whether `claims.NAME` is read anywhere in it. */
export function readsClaim(node: SyntaxNode, name: string): boolean {
  const any = (nodes: readonly (SyntaxNode | undefined)[]) =>
    nodes.some((item) => item !== undefined && readsClaim(item, name))
  switch (node.kind) {
    case 'const':
    case 'ident':
      return false
    case 'select':
      return (node.field === name && isClaims(node.operand)) || readsClaim(node.operand, name)
    case 'call': {
      const [first, second] = node.args
      const indexed = node.target ?? first
      const key = node.target === undefined ? second : first
      const byIndex = indexed !== undefined && isClaims(indexed) && key?.kind === 'const' && key.value.value === name
      return byIndex || any([node.target, ...node.args])
    }
    case 'list':
      return any(node.items)
    case 'map':
      return any(node.entries.flatMap(({ key, value }) => [key, value]))
    case 'macro':
      return any([node.target, ...node.args])
    default:
      // A kind of node that this does not know cannot be said to read nothing.
      return false
  }
}

const isClaims = (node: SyntaxNode): boolean => node.kind === 'ident' && node.name === 'claims'
