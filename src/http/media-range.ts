/** The Accept header (RFC 9110, 12.5.1), as Kubernetes reads it: what is malformed is passed over, never refused. */

import { setBounded } from '../base/set-bounded.ts'

export interface MediaRange {
  readonly parameters: Readonly<Record<string, string>>
  /** `type` is a whole one: application/json. */
  matches(type: string): boolean
}

interface Clause extends MediaRange {
  readonly q: number
  /** 0 names a type, 1 a family (application/*), 2 takes all. */
  readonly breadth: number
}

const parsed = new Map<string, readonly MediaRange[]>()
const MOST_PARSED = 256

/** Best liked first, and among those the narrower. Clients send few different headers, many times. */
export function parseAccept(accept: string): readonly MediaRange[] {
  const known = parsed.get(accept)
  if (known !== undefined) return known
  const ranges = accept
    .split(',')
    .map(clauseOf)
    .sort((a, b) => b.q - a.q || a.breadth - b.breadth)
  setBounded(parsed, MOST_PARSED, accept, ranges)
  return ranges
}

/** Whether one of these types is named, or all are taken: how a route is chosen, before anything is weighed. */
export function namesType(accept: string, types: readonly string[]): boolean {
  return accept.split(',').some((clause) => {
    const [type = ''] = clause.split(';')
    return type.trim() === '*/*' || types.includes(type.trim())
  })
}

function clauseOf(clause: string): Clause {
  const [type = '', ...rest] = clause.split(';').map((part) => part.trim())
  const parameters: Record<string, string> = Object.create(null)
  let q = 1
  for (const parameter of rest) {
    const at = parameter.indexOf('=')
    if (at < 0) continue
    const name = parameter.slice(0, at).trim()
    const value = parameter.slice(at + 1).trim()
    if (name === 'q') q = Number(value) || 0
    else parameters[name] = value
  }
  if (type === '*' || type === '*/*') return { q, parameters, breadth: 2, matches: () => true }
  if (!type.endsWith('/*')) return { q, parameters, breadth: 0, matches: (whole) => whole === type }
  const family = type.slice(0, -1)
  return { q, parameters, breadth: 1, matches: (whole) => whole.startsWith(family) }
}
