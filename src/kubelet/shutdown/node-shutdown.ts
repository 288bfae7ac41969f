/**
 * Graceful node shutdown (KEP-2000, KEP-2712): holds the machine's shutdown up for as long as pods are given to end, one group of
 * priorities after the other. Meanwhile the node is not ready and takes no pod. It knows the machine only as logind shows it.
 */
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NodeEvents } from '../node-events.ts'
import { nameOf, namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'
import type { AdmissionRefusal } from '../pod-admission.ts'
import type { Failure } from '../pod-status.ts'
import type { ConnectLogind, DelayLock, Logind } from './logind.ts'
import { podsByGroup, type ShutdownGroup, wholeSeconds } from './shutdown-groups.ts'

/** When the last shutdown's work began and ended. Milliseconds since the epoch. */
export interface ShutdownTimes {
  readonly start?: number
  readonly end?: number
}

/** Where the times outlive the kubelet. */
export interface ShutdownRecord {
  read(): ShutdownTimes
  /** @throws Error */
  write(times: ShutdownTimes): void
}

/** What a node is given that ends its pods before its machine goes down. */
export interface ShutdownOptions {
  readonly groups: readonly ShutdownGroup[]
  readonly connect: ConnectLogind
  /** Default: they do not. */
  readonly record?: ShutdownRecord
}

export interface NodeShutdownOptions extends ShutdownOptions {
  readonly runtime: Runtime
  readonly nodeName: string
  readonly events: NodeEvents
  /** Those that run, or may come to. */
  readonly pods: () => readonly Pod[]
  /** The pod has to end, `graceSeconds` from now at the latest. */
  readonly end: (pod: Pod, failure: Failure, graceSeconds: number) => void
  /** Its containers are gone, and its volumes. */
  readonly isFinished: (uid: string) => boolean
  /** Whether the node goes down has changed. */
  readonly changed: () => void
}

export interface NodeShutdown {
  readonly isUnderWay: boolean
  readonly times: ShutdownTimes
  /** Why a node that goes down does not take the pod. */
  refusal(): AdmissionRefusal | undefined
  run(signal: AbortSignal): void
}

const MESSAGE = 'Pod was terminated in response to imminent node shutdown.'
const TERMINATED: Failure = {
  reason: 'Terminated',
  message: MESSAGE,
  disruption: MESSAGE,
}
const REFUSED: AdmissionRefusal = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
}
const RECONNECT_MS = 1000
const END_POLL_MS = 100
/** logind reads its configuration a moment after it was told to: between the looks whether it has. */
const DELAY_POLLS_MS = [0, 100, 200, 400, 800]

export function createNodeShutdown(options: NodeShutdownOptions): NodeShutdown {
  const { runtime, groups, events, record } = options
  const { clock, log } = runtime
  let isUnderWay = false
  let times: ShutdownTimes = record?.read() ?? {}
  let lock: DelayLock | undefined
  /** The newest connection, and what it is once it has a lock. */
  let connection: Logind | undefined
  let logind: Logind | undefined
  /** One after the other: that it does not go down after all is heard once what has begun is done. */
  let turn: Promise<void> = Promise.resolve()

  function note(next: ShutdownTimes): void {
    times = next
    try {
      record?.write(next)
    } catch (error) {
      log.error('Failed to store graceful shutdown state', error)
    }
  }

  function tell(underWay: boolean): void {
    isUnderWay = underWay
    events.normal('Shutdown', `Shutdown manager detected shutdown ${underWay ? 'event' : 'cancellation'}`)
    options.changed()
  }

  function release(): void {
    lock?.release()
    lock = undefined
  }

  async function endGroup({ priority, seconds }: ShutdownGroup, pods: readonly Pod[], signal: AbortSignal) {
    const until = clock.monotonic() + seconds * 1000
    for (const pod of pods) {
      const gracePeriod = Math.min(seconds, specOf(pod).terminationGracePeriodSeconds ?? seconds)
      const name = `${namespaceOf(pod)}/${nameOf(pod)}`
      log.info(1, 'Shutdown manager killing pod with gracePeriod', { pod: name, gracePeriod })
      options.end(pod, TERMINATED, gracePeriod)
    }
    while (!pods.every((pod) => options.isFinished(uidOf(pod)))) {
      if (clock.monotonic() >= until) {
        log.info(1, 'Shutdown manager pod killing time out', { gracePeriod: seconds, priority })
        return
      }
      await sleep(clock, END_POLL_MS, signal)
    }
    log.info(1, 'Done waiting for all pods in group to terminate', { gracePeriod: seconds, priority })
  }

  async function begin(signal: AbortSignal): Promise<void> {
    tell(true)
    log.info(1, 'Shutdown manager processing shutdown event')
    const start = clock.now()
    note({ start })
    try {
      for (const [group, pods] of podsByGroup(groups, options.pods()))
        if (pods.length > 0) await endGroup(group, pods, signal)
      note({ start, end: clock.now() })
      log.info(1, 'Shutdown manager completed processing shutdown event, node will shutdown shortly')
    } finally {
      release()
    }
  }

  async function cancel(signal: AbortSignal): Promise<void> {
    tell(false)
    const asked = logind
    if (lock !== undefined || asked === undefined) return
    try {
      const given = await asked.lock()
      if (signal.aborted || logind !== asked) given.release()
      else lock = given
    } catch (error) {
      if (signal.aborted || logind !== asked) return
      log.error('The node has no lock that holds the next shutdown up', error)
      asked.close()
      giveUp(signal)
    }
  }

  /** The connection is of no use any more: another is looked for. */
  function giveUp(signal: AbortSignal): void {
    logind = undefined
    release()
    void reconnect(signal)
  }

  /** Resolves once the machine does not go down without asking. @throws Error */
  async function connect(signal: AbortSignal): Promise<void> {
    let isLost = false
    const connected: Logind = await options.connect({
      prepareForShutdown(begins) {
        log.info(1, 'Shutdown manager detected new shutdown event', { event: begins ? 'shutdown' : 'cancelled' })
        turn = turn
          .then(() => (begins ? begin(signal) : cancel(signal)))
          .catch((error) => {
            if (!signal.aborted) log.error('The shutdown of the node is not attended to', error)
          })
      },
      lost() {
        isLost = true
        if (signal.aborted || logind !== connected) return
        log.error('Ended to watching the node for shutdown events', undefined)
        giveUp(signal)
      },
    })
    connection = connected
    try {
      signal.throwIfAborted()
      await askForTime(connected, signal)
      release()
      const given = await connected.lock()
      if (signal.aborted || isLost) {
        given.release()
        throw signal.reason ?? new Error('the message bus is gone')
      }
      lock = given
      logind = connected
    } catch (error) {
      connected.close()
      throw error
    }
  }

  async function askForTime(connected: Logind, signal: AbortSignal): Promise<void> {
    const wanted = wholeSeconds(groups) * 1000
    let given = await connected.longestDelayMs()
    if (given >= wanted) return
    await connected.askForDelay(wholeSeconds(groups))
    for (const ms of DELAY_POLLS_MS) {
      if (ms > 0) await sleep(clock, ms, signal)
      given = await connected.longestDelayMs()
      if (given >= wanted) return
    }
    throw new Error(
      `node shutdown manager was timed out after ${DELAY_POLLS_MS.length} attempts waiting for logind InhibitDelayMaxSec to update to ${wanted / 1000}s (ShutdownGracePeriod), current value is ${given / 1000}s`,
    )
  }

  async function reconnect(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await sleep(clock, RECONNECT_MS, signal)
        log.info(1, 'Restarting watch for node shutdown events')
        await connect(signal)
        return
      } catch (error) {
        if (!signal.aborted)
          log.info(1, 'Unable to watch the node for shutdown events', { node: options.nodeName, err: messageOf(error) })
      }
    }
  }

  return {
    get isUnderWay() {
      return isUnderWay
    },
    get times() {
      return times
    },
    refusal: () => (isUnderWay ? REFUSED : undefined),
    run(signal) {
      signal.addEventListener(
        'abort',
        () => {
          release()
          connection?.close()
        },
        { once: true },
      )
      // A machine that has no logind when the kubelet begins is not looked at again.
      connect(signal).catch((error) => {
        if (!signal.aborted) log.error('Failed to start node shutdown manager', error)
      })
    },
  }
}
