/**
 * A cluster's own controls: paths under /skiff.dev/ of the API server's own port. The journal and what is told of the store are always there, the others where they are switched on. They pass
 * the same filters as every request and are audited. Whatever RBAC says, only system:masters may use them: a snapshot holds all Secrets, and
 * roles that may read every path were given before there was one.
 */

import type { Journal } from '../api/journal.ts'
import type { JsonObject } from '../api/object.ts'
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { badRequest, notAllowed, StatusError } from '../api/status.ts'
import { FaultError } from '../apiserver/faults/grammar.ts'
import type { PathHandler } from '../apiserver/handlers/dispatch.ts'
import { isControl } from '../apiserver/request/long-running.ts'
import { formatMicroTime } from '../base/clock.ts'
import type { StoreStatus } from './apiserver.ts'
import { type ClusterClock, LONGEST_MOVE, TimeoutError } from './clock.ts'
import type { Snapshot } from './snapshot.ts'

/** Answers with an object, which is told as JSON, or with bytes. */
export type Control = (request: ApiRequest) => Promise<object | readonly Uint8Array[] | Streamed>

/** Goes on as long as there is more and its client reads it. */
export interface Streamed {
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The part of a path behind /skiff.dev/, and what answers there. */
export function controls(known: Readonly<Record<string, Control>>): PathHandler {
  return async (request) => {
    if (!isControl(request.path)) return undefined
    const name = request.path.slice('/skiff.dev/'.length)
    const control = Object.hasOwn(known, name) ? known[name] : undefined
    if (control === undefined) return undefined
    if (request.user?.groups.includes('system:masters') !== true) throw forbidden(request)
    try {
      const told = await control(request)
      if ('chunks' in told) return { kind: 'stream', status: 200, contentType: 'application/json', chunks: told.chunks }
      return Array.isArray(told) ? binary(told) : json(200, told)
    } catch (error) {
      if (error instanceof RangeError || error instanceof FaultError) throw badRequest(error.message)
      if (error instanceof TimeoutError) throw new StatusError(409, 'Conflict', error.message)
      throw error
    }
  }
}

const forbidden = ({ user, path }: ApiRequest) =>
  new StatusError(
    403,
    'Forbidden',
    `forbidden: User "${user?.name ?? ''}" cannot use path "${path}": it is for system:masters alone`,
  )

function json(status: number, body: object): ApiResponse {
  return {
    kind: 'bytes',
    status,
    contentType: 'application/json',
    bytes: [Buffer.from(`${JSON.stringify(body)}\n`)],
  }
}

const binary = (bytes: readonly Uint8Array[]): ApiResponse => ({
  kind: 'bytes',
  status: 200,
  contentType: 'application/octet-stream',
  bytes,
})

/** GET gives what `skiff snapshot save` writes. */
export function snapshotControl(take: () => Snapshot): Control {
  return async ({ method }) => {
    if (method !== 'GET') throw notAllowed()
    return take().bytes()
  }
}

/** GET tells the ends of objects, newer than the revision `after`, or of the one with that `uid`. */
export function journalControl(read: (after: number) => Promise<Journal>): Control {
  return ({ method, query }) => {
    if (method !== 'GET') throw notAllowed()
    const after = query.get('after') ?? '0'
    if (!/^\d{1,15}$/.test(after))
      throw badRequest(`after must be a revision, not ${JSON.stringify(after.slice(0, 100))}`)
    const uid = query.get('uid')
    const told = read(Number(after))
    return uid === null ? told : told.then((all) => ({ ...all, records: all.records.filter((one) => one.uid === uid) }))
  }
}

/** GET tells where the objects are kept, how much that is, and which servers share it. */
export function storeControl(status: () => Promise<StoreStatus>): Control {
  return ({ method }) => {
    if (method !== 'GET') throw notAllowed()
    return status()
  }
}

/** @throws StatusError 400 */
export function jsonBody({ body }: ApiRequest): JsonObject {
  if (body?.kind !== 'bytes') return {}
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(body.bytes).toString('utf8'))
  } catch {
    throw badRequest('the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('the body is no JSON object')
  return Object.fromEntries(Object.entries(value))
}

const MOVES = ['advance', 'to', 'untilIdle'] as const
const FIELDS = [...MOVES, 'atMost', 'settle']
const SHOWN = 10

/** GET tells where the clock stands and what waits, POST moves it: `{"advance": "30s"}`, `{"to": TIME}`, `{"untilIdle": true}`. */
export function clockControl(clock: ClusterClock): Control {
  const status = () => ({
    time: formatMicroTime(clock.now.getTime()),
    waiting: clock.waiting(SHOWN).map(({ at, what }) => ({ time: formatMicroTime(at.getTime()), what })),
  })
  return async (request) => {
    if (request.method === 'GET') return status()
    if (request.method !== 'POST') throw notAllowed()
    const asked = jsonBody(request)
    const unknown = Object.keys(asked).find((field) => !FIELDS.includes(field))
    if (unknown !== undefined)
      throw badRequest(`unknown field ${JSON.stringify(unknown)}: there are ${FIELDS.join(', ')}`)
    if (MOVES.filter((move) => asked[move] !== undefined).length !== 1)
      throw badRequest(`one of ${MOVES.join(', ')} must be given`)
    const options = { settle: duration(asked, 'settle') ?? 0, signal: request.signal }
    const { untilIdle } = asked
    if (asked['advance'] !== undefined) await clock.advance(duration(asked, 'advance') ?? 0, options)
    else if (asked['to'] !== undefined) await clock.advanceTo(text(asked, 'to'), options)
    else if (untilIdle !== true) throw badRequest('untilIdle must be true')
    else await clock.runUntilIdle({ ...options, atMost: duration(asked, 'atMost') ?? LONGEST_MOVE })
    return status()
  }
}

function text(asked: JsonObject, field: string): string {
  const value = asked[field]
  if (typeof value !== 'string') throw badRequest(`${field} must be a string`)
  return value
}

const duration = (asked: JsonObject, field: string): string | undefined =>
  asked[field] === undefined ? undefined : text(asked, field)
