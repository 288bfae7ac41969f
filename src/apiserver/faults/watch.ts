/** Watches that meet faults: their events pass here one by one, in their order, on their way to the transport. */
import { asKubeObject } from '../../api/object.ts'
import { ConnectionCut, type WatchEvent } from '../../api/request.ts'
import type { StatusError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { StreamReader } from '../../base/stream.ts'
import { tooOld } from '../cache/watch-bookmarks-too-old-and-too-slow.ts'
import { clientName, type FaultAction, type FaultRule } from './grammar.ts'
import type { AskedRequest, FaultInjection } from './which-requests-are-struck.ts'

export interface FaultyWatches {
  /** @param from the version that the watch begins at, 0 where it names none */
  around(
    events: StreamReader<WatchEvent>,
    asked: AskedRequest,
    from: number,
    struck: (rule: FaultRule) => void,
  ): StreamReader<WatchEvent>
}

/** An event that waits for one of another resource waits no longer, of the cluster's time. */
const LONGEST_REORDER_MS = 1000

/** An event that waits until its client has been told of another resource. */
interface Waiting {
  readonly resource: string
  go(): void
}

export function createFaultyWatches(runtime: Runtime, faults: FaultInjection): FaultyWatches {
  const waitingOf = new Map<string, Set<Waiting>>()

  function told(client: string, resource: string): void {
    for (const waiting of waitingOf.get(client) ?? []) if (waiting.resource !== resource) waiting.go()
  }

  /** Calls `go` once: after `ms` of the cluster's time, or behind an event of another resource. What is given back ends the wait. */
  function hold(action: FaultAction, { client, resource }: Place, go: () => void): () => void {
    const isReordered = action.type === 'reorder'
    const ms = action.type === 'delay' ? action.ms : LONGEST_REORDER_MS
    const all = waitingOf.get(client) ?? new Set<Waiting>()
    const end = () => {
      timer.cancel()
      all.delete(waiting)
      if (all.size === 0) waitingOf.delete(client)
    }
    // The other event leaves in this turn.
    const waiting: Waiting = {
      resource,
      go: () => {
        end()
        runtime.scheduler.later('fault: reordered event', go)
      },
    }
    const timer = runtime.clock.setTimer(ms, isReordered ? 'fault: reordered event' : 'fault: delayed event', () => {
      end()
      go()
    })
    if (isReordered) {
      all.add(waiting)
      waitingOf.set(client, all)
    }
    return end
  }

  return {
    around(events, asked, from, struck) {
      const { group, resource } = asked.info
      const place: Place = { client: clientName(asked.userAgent), resource: `${resource}.${group}` }
      const judge = (event: WatchEvent): FaultAction | undefined => {
        if (faults.isQuiet || event.type === 'BOOKMARK' || event.type === 'ERROR') return undefined
        const rule = faults.strike('events', asked)
        if (rule !== undefined) struck(rule)
        return rule?.action
      }
      return faultyReader(events, from, {
        judge,
        told: () => {
          if (waitingOf.size > 0) told(place.client, place.resource)
        },
        hold: (action, go) => hold(action, place, go),
      })
    },
  }
}

interface Place {
  readonly client: string
  readonly resource: string
}

interface Course {
  /** Asked once for each event, in their order. */
  judge(event: WatchEvent): FaultAction | undefined
  /** An event has been handed on. */
  told(): void
  hold(action: FaultAction, go: () => void): () => void
}

function faultyReader(
  events: StreamReader<WatchEvent>,
  from: number,
  { judge, told, hold }: Course,
): StreamReader<WatchEvent> {
  let version = from
  /** Taken and not yet handed on, the first of them perhaps judged. */
  let taken: WatchEvent[] = []
  /** The first is held back. */
  let isHeld = false
  /** What the watch ends with behind the last event. */
  let failure: unknown
  let isOver = false
  let endHold: (() => void) | undefined
  let waiting: { resolve(event: WatchEvent | undefined): void; reject(error: unknown): void } | undefined

  function over(error?: unknown): void {
    isOver = true
    failure = error
    taken = []
    endHold?.()
    events.close()
  }

  /** The next event to hand on now; undefined where there is none, or the first is held. */
  function pass(): WatchEvent | undefined {
    if (isHeld || isOver) return undefined
    const event = taken[0]
    if (event === undefined) return undefined
    const action = judge(event)
    switch (action?.type) {
      case 'delay':
      case 'reorder':
        isHeld = true
        endHold = hold(action, released)
        return undefined
      case 'expire':
        over()
        return errorEvent(tooOld(version, versionOf(event) ?? version))
      case 'drop':
        over(new ConnectionCut())
        break
      default:
        taken.shift()
    }
    return given(event)
  }

  function given(event: WatchEvent): WatchEvent {
    version = versionOf(event) ?? version
    told()
    return event
  }

  function released(): void {
    isHeld = false
    endHold = undefined
    const held = taken.shift()
    if (held === undefined) return
    const event = given(held)
    if (waiting === undefined) {
      // The reader comes for it later; it has been judged.
      ready.push(event)
      return
    }
    const { resolve } = waiting
    waiting = undefined
    resolve(event)
  }
  const ready: WatchEvent[] = []

  const end = (): Promise<undefined> => (failure === undefined ? Promise.resolve(undefined) : Promise.reject(failure))

  async function next(): Promise<WatchEvent | undefined> {
    for (;;) {
      const event = ready.shift() ?? pass()
      if (event !== undefined) return event
      if (isOver) return end()
      if (isHeld)
        return new Promise((resolve, reject) => {
          waiting = { resolve, reject }
        })
      const came = await events.next()
      if (came === undefined) {
        if (!isOver) over()
        return end()
      }
      taken.push(came, ...events.drain())
    }
  }

  return {
    next,
    drain() {
      const now = ready.splice(0)
      if (!isHeld && !isOver) taken.push(...events.drain())
      for (let event = pass(); event !== undefined; event = pass()) now.push(event)
      return now
    },
    get closed() {
      return isOver || events.closed
    },
    close(error) {
      if (isOver) return
      over(error)
      ready.length = 0
      const reader = waiting
      waiting = undefined
      if (error === undefined) reader?.resolve(undefined)
      else reader?.reject(error)
    },
  }
}

function versionOf({ object }: WatchEvent): number | undefined {
  const { resourceVersion } = object.metadata
  return resourceVersion === undefined ? undefined : Number(resourceVersion)
}

const errorEvent = (error: StatusError): WatchEvent => ({ type: 'ERROR', object: asKubeObject(error.toStatus()) })
