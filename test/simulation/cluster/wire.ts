/**
 * The way between one life of a component and the API server: who is dead sends nothing and hears nothing; answers get lost,
 * requests fail, watches break; and the laws see everything that passes.
 */
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import type { ApiRequest, ApiResponse, Handler, WatchEvent } from '../../../src/api/request.ts'
import { StatusError } from '../../../src/api/status.ts'
import { sleep } from '../../../src/base/clock.ts'
import type { SimulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import type { StreamReader } from '../../../src/base/stream.ts'
import type { Happening } from './happenings.ts'
import { ConnectionLost, type ServerProcess } from './server.ts'
import type { Place } from './truth.ts'
import { createView, type View } from './view.ts'

/** A process from its start to its kill. */
export interface Life {
  readonly component: string
  /** All controllers, or one of them, run in it. */
  readonly isController: boolean
  readonly signal: AbortSignal
  /** What its reflectors have been told, by list. */
  readonly views: Map<string, View>
  readonly watches: Set<Cuttable>
}

/** By its component's name, which is that of its node. */
export const isKubelet = (component: string): boolean => /^node-\d+$/.test(component)

export type Cut = 'closed' | 'broken' | 'expired'

export interface Cuttable {
  cut(how: Cut): void
}

export interface Passing {
  readonly life: Life
  readonly user: string
  readonly method: string
  /** name '': the whole collection. */
  readonly place: Place
  readonly subresource: string
  readonly body: Fields
  readonly query: URLSearchParams
  /** The answer will reach the component, if it lives so long. */
  readonly hasAnswer: boolean
  /** When the component sent it, on a clock that does not move while something waits. */
  readonly sentAt: number
}

export interface WireTaps {
  /** Just before the server gets it. */
  arrives(passing: Passing): void
  /** When the server has done it, whether or not the answer gets through. */
  done(passing: Passing, response: ApiResponse | StatusError): void
  /** The server died over it: what was asked may have been done. */
  cutOff(passing: Passing): void
  happened(what: Happening): void
  /** An object has reached the component, by list or watch. */
  delivered(life: Life, object: KubeObject, type: 'first list' | 'list' | WatchEvent['type']): void
  failed(reason: string): void
}

export interface WireOptions {
  readonly runtime: SimulatedRuntime
  readonly server: ServerProcess
  readonly life: Life
  readonly taps: WireTaps
  /** Share of requests that something happens to. */
  readonly chaos: () => number
}

/** Requests of one instant, after which the next ones take time: or components that undo each other's work go on without any. */
const MOST_AT_ONCE = 300
const CROWDED_MS = 1000
const crowds = new WeakMap<SimulatedRuntime, { at: number; requests: number }>()

function isCrowded(runtime: SimulatedRuntime): boolean {
  const at = runtime.clock.now()
  let crowd = crowds.get(runtime)
  if (crowd?.at !== at) {
    crowd = { at, requests: 0 }
    crowds.set(runtime, crowd)
  }
  return ++crowd.requests > MOST_AT_ONCE
}

/** What a real server says, too, to an eviction that two budgets are about. */
const severalBudgets = ({ message }: StatusError): boolean => message.includes('more than one PodDisruptionBudget')
const happeningOf = (failure: StatusError | 'request lost' | 'answer lost' | 'late'): Happening =>
  failure instanceof StatusError ? (faults[failure.code] as Happening) : `a fault: ${failure}`
const never = () => new Promise<never>(() => {})
const lost = () => new ConnectionLost()
const EXPIRED = new StatusError(410, 'Expired', 'too old resource version')
const fault = (code: 409 | 429 | 500, reason: string) =>
  new StatusError(code, reason, 'made up', code === 429 ? { retryAfterSeconds: 1 } : {})
const faults: Readonly<Record<number, Happening>> = {
  409: 'a fault: 409',
  410: 'a fault: 410',
  429: 'a fault: 429',
  500: 'a fault: 500',
}

export function wire({ runtime, server, life, taps, chaos }: WireOptions): Handler {
  const { random, clock } = runtime
  const chance = (share: number) => share > 0 && random.float() < share

  return async (request) => {
    if (life.signal.aborted) return never()
    const asked = passingOf(life, request, clock.now() - runtime.earlyMs)
    const isWatch = request.query.get('watch') === 'true'
    const failure = chance(chaos()) ? failureOf(asked, isWatch) : undefined
    if (failure !== undefined) taps.happened(happeningOf(failure))
    if (failure === 'late') await sleep(clock, 1000 + random.float() * 30_000)
    else if (isCrowded(runtime)) await sleep(clock, CROWDED_MS)
    if (life.signal.aborted) return never()
    if (failure === 'request lost') throw lost()
    if (failure instanceof StatusError) throw failure
    if (!server.up) throw lost()
    const passing = { ...asked, hasAnswer: failure === undefined }
    taps.arrives(passing)
    const response = await answered(() => (isTokenRequest(passing) ? tokenAnswer(request) : server.handler(request)))
    if (response === undefined) taps.cutOff(passing)
    else taps.done(passing, response)
    if (life.signal.aborted) return never()
    if (response === undefined) throw lost()
    if (response instanceof StatusError && response.code >= 500 && response.code !== 504 && !severalBudgets(response))
      taps.failed(`${request.method} ${request.path}: ${response.code} ${response.message}`)
    if (failure === 'answer lost' || failure === 'late') {
      if (!(response instanceof StatusError) && response.kind === 'watch') response.events.close()
      throw lost()
    }
    if (response instanceof StatusError) throw response
    return see(request, response)
  }

  function failureOf({ method, body, subresource }: Passing, isWatch: boolean) {
    const versioned = method === 'PUT' || body['preconditions']?.resourceVersion !== undefined
    const choices = [
      'request lost' as const,
      fault(500, 'InternalError'),
      fault(429, 'TooManyRequests'),
      ...(method === 'GET' ? [] : ['answer lost' as const, 'answer lost' as const, 'late' as const]),
      ...(versioned || body['metadata']?.resourceVersion !== undefined || subresource === 'status'
        ? [fault(409, 'Conflict'), fault(409, 'Conflict')]
        : []),
      ...(isWatch ? [EXPIRED] : []),
    ]
    return choices[Math.floor(random.float() * choices.length)]
  }

  function see(request: ApiRequest, response: ApiResponse): ApiResponse {
    // The deletion of a collection answers with what was there when it began: that is no newer view.
    if (response.kind === 'list' && request.method === 'DELETE') return response
    if (response.kind === 'list') {
      const view = viewOf(request)
      const first = view.version === undefined
      const objects = response.items.map((item) => item.object)
      view.replace(objects, response.list.metadata.resourceVersion ?? '')
      for (const object of objects) taps.delivered(life, object, first ? 'first list' : 'list')
      return response
    }
    if (response.kind !== 'watch') return response
    const view = viewOf(request)
    view.resume(request.query.get('resourceVersion') ?? '')
    return { ...response, events: cuttable(response.events, view) }
  }

  function viewOf({ path, query }: ApiRequest): View {
    const id = ['labelSelector', 'fieldSelector'].reduce((all, name) => `${all} ${query.get(name) ?? ''}`, path)
    let view = life.views.get(id)
    if (view === undefined) {
      view = createView(path, query, (reason) => taps.failed(`${life.component}: ${reason}`))
      life.views.set(id, view)
    }
    return view
  }

  function cuttable(events: StreamReader<WatchEvent>, view: View): StreamReader<WatchEvent> {
    let broken: Cut | undefined
    const isBroken = () => broken === 'broken' || broken === 'expired'
    const take = (event: WatchEvent) => {
      if (event.type === 'ERROR') taps.happened('a watch is too old')
      view.apply(event)
      if (event.type !== 'BOOKMARK' && event.type !== 'ERROR') taps.delivered(life, event.object, event.type)
    }
    const reader: StreamReader<WatchEvent> & Cuttable = {
      async next() {
        if (broken === undefined && chance(chaos() / 4)) reader.cut(random.float() < 0.5 ? 'broken' : 'expired')
        for (;;) {
          if (broken === 'expired') {
            broken = 'closed'
            return { type: 'ERROR', object: EXPIRED.toStatus() as never }
          }
          if (broken === 'broken') throw lost()
          const event = await events.next()
          if (life.signal.aborted) return never()
          if (isBroken()) continue
          if (event !== undefined) take(event)
          else life.watches.delete(reader)
          return event
        }
      },
      drain() {
        if (isBroken()) return []
        const all = events.drain()
        for (const event of all) take(event)
        return all
      },
      get closed() {
        return events.closed
      },
      close: (error) => {
        life.watches.delete(reader)
        events.close(error)
      },
      cut(how) {
        broken = how
        life.watches.delete(reader)
        events.close()
      },
    }
    life.watches.add(reader)
    return reader
  }
}

/** undefined: the server died. */
async function answered(ask: () => ApiResponse | Promise<ApiResponse>): Promise<ApiResponse | StatusError | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof StatusError) return error
    if (error instanceof ConnectionLost) return undefined
    throw error
  }
}

function passingOf(life: Life, request: ApiRequest, sentAt: number): Passing {
  const [, api, ...rest] = request.path.split('/')
  const parts = rest.slice(api === 'api' ? 1 : 2)
  const scoped = parts[0] === 'namespaces' && parts.length > 2 && parts[2] !== 'status' && parts[2] !== 'finalize'
  const [resource = '', name = '', subresource = ''] = scoped ? parts.slice(2) : parts
  return {
    life,
    user: request.user?.name ?? '',
    method: request.method,
    place: { resource, namespace: scoped ? (parts[1] ?? '') : '', name },
    subresource,
    body: request.body?.kind === 'object' ? request.body.object : {},
    query: request.query,
    hasAnswer: true,
    sentAt,
  }
}

const isTokenRequest = ({ method, subresource }: Passing) => method === 'POST' && subresource === 'token'

/** The API server under test signs no tokens. */
function tokenAnswer({ body }: ApiRequest): ApiResponse {
  const object = body?.kind === 'object' ? body.object : { apiVersion: '', kind: '', metadata: {} }
  return { kind: 'object', status: 201, object: { ...object, status: { token: 'token' } } }
}
