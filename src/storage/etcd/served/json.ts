/** etcd's API as JSON over HTTP (its gateway): what reads, in the form of protobuf's JSON. */
import { EtcdError } from '../errors.ts'
import type { ServedRange } from './range.ts'

export interface JsonAnswer {
  readonly status: number
  readonly body: string
}

/** gRPC's codes as the gateway has them in HTTP. */
const STATUS: Readonly<Record<number, number>> = { 3: 400, 5: 404, 7: 403, 11: 400, 12: 501, 14: 503 }

export const jsonFailure = (code: number, message: string): JsonAnswer => ({
  status: STATUS[code] ?? 500,
  body: JSON.stringify({ code, message }),
})

/** What a call answers, or how it fails, as JSON. */
export async function asJsonAnswer(call: () => Promise<object>): Promise<JsonAnswer> {
  try {
    return { status: 200, body: JSON.stringify(shown(await call())) }
  } catch (error) {
    if (error instanceof EtcdError) return jsonFailure(error.code, error.message)
    if (error instanceof BodyError) return jsonFailure(3, error.message)
    throw error
  }
}

class BodyError extends Error {}

/** Whole numbers are texts, bytes are base64, and what is zero or empty is not told. */
function shown(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (isNothing(one) ? [] : [[name, shown(one)]])),
  )
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  value === '' ||
  value === false ||
  ((Buffer.isBuffer(value) || Array.isArray(value)) && value.length === 0)

const BYTES = new Set(['key', 'range_end'])
const FLAGS = new Set(['keys_only', 'count_only', 'serializable'])
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  sort_order: ['NONE', 'ASCEND', 'DESCEND'],
  sort_target: ['KEY', 'VERSION', 'CREATE', 'MOD', 'VALUE'],
}
const NOTHING_ASKED: ServedRange = {
  key: Buffer.alloc(0),
  range_end: Buffer.alloc(0),
  limit: 0,
  revision: 0,
  sort_order: 'NONE',
  sort_target: 'KEY',
  keys_only: false,
  count_only: false,
  min_mod_revision: 0,
  max_mod_revision: 0,
  min_create_revision: 0,
  max_create_revision: 0,
}

/** Names may be `range_end` or `rangeEnd`; what it does not know is passed over. @throws where a value is of another type */
export function rangeOfJson(body: string): ServedRange {
  let given: unknown
  try {
    given = JSON.parse(body === '' ? '{}' : body)
  } catch (error) {
    throw new BodyError((error as Error).message)
  }
  const asked: Record<keyof ServedRange, unknown> = { ...NOTHING_ASKED }
  if (typeof given !== 'object' || given === null) throw new BodyError('proto: unexpected token')
  for (const [name, value] of Object.entries(given)) {
    const field = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    if (isField(field) && value !== null) asked[field] = fieldOf(field, value)
  }
  return asked as ServedRange
}

const isField = (name: string): name is keyof ServedRange => Object.hasOwn(NOTHING_ASKED, name)

function fieldOf(field: string, value: unknown): unknown {
  const wrong = (what: string) =>
    new BodyError(`proto: invalid value for ${what} field ${field}: ${JSON.stringify(value)}`)
  if (BYTES.has(field)) {
    if (typeof value !== 'string') throw wrong('bytes')
    return Buffer.from(value, 'base64')
  }
  if (FLAGS.has(field)) {
    if (typeof value !== 'boolean') throw wrong('bool')
    return value
  }
  const names = ENUMS[field]
  if (names !== undefined) {
    const found = typeof value === 'number' ? names[value] : names.find((name) => name === value)
    if (found === undefined) throw wrong('enum')
    return found
  }
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number)) throw wrong('int64')
  return number
}
