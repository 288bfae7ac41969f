/**
 * Leader election by Lease, with client-go's semantics: of several candidates one holds the Lease and leads; the others take it
 * over when its record has not changed for as long as it says, by their own clocks, or at once when it was given back.
 *
 * A leader that could not renew begins no write from `Leadership.mayWrite` on (held-transports.ts asks it), and so neither does one
 * whose process was paused and woke when another leads. What was on its way before has preconditions to stop it.
 */
import type { Lease, LeaseSpec } from '../api/generated/types.ts'
import { isNotFound } from '../api/status.ts'
import { formatMicroTime, sleep, type Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client, ResourceClient } from './client.ts'
import { createEventRecorder } from './events.ts'

const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
/** Candidates wait for up to this much longer than the retry period, so that they do not ask all at once. */
const JITTER = 1.2
const WATCH_SECONDS = 300

export interface LeaderElectionTimes {
  /** How long after the last change of the record the others leave the leader alone. Default 15 s. */
  readonly leaseDurationMs: number
  /** For how long the leader tries to renew before it stops leading. Default 10 s. */
  readonly renewDeadlineMs: number
  /** Between two tries. Default 2 s. */
  readonly retryPeriodMs: number
}

const USUAL_TIMES: LeaderElectionTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
}

export interface LeaderElectionOptions extends Partial<LeaderElectionTimes> {
  readonly runtime: Runtime
  /** For the Lease alone: each of its requests must end by itself within half the renew deadline (`timedTransport`). */
  readonly client: Client
  /** Tells of the new leader on the Lease. Default: nothing is told. */
  readonly events?: { readonly client: Client; readonly component: string }
  readonly namespace: string
  readonly name: string
  /** Of this candidate, different from every other's: `host_uuid`. */
  readonly identity: string
  /** Each time that another holder is seen; '' when it was given back. */
  readonly onHolder?: (identity: string) => void
  /** Each time that the Lease could not be asked for or taken. */
  readonly onFailure?: (error: unknown) => void
}

export interface Leadership {
  /** Fires once the Lease is lost, or was given back. */
  readonly ended: AbortSignal
  /** Whether a write may begin now. False from the renew deadline on, though nothing has noticed yet. */
  mayWrite(): boolean
  /** Stops renewing and gives the Lease back, so that another candidate need not wait. Never rejects. */
  release(): Promise<void>
}

/** What a leader's work ends with when another may lead. */
export class LeaseLostError extends Error {
  constructor(lease: string) {
    super(`the lease ${lease} was lost: it could not be renewed in time`)
    this.name = 'LeaseLostError'
  }
}

/** @throws Error in the words of client-go where the times do not leave a leader room to renew */
export function checkTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaderElectionTimes): void {
  if (leaseDurationMs <= renewDeadlineMs) throw new Error('leaseDuration must be greater than renewDeadline')
  if (renewDeadlineMs <= JITTER * retryPeriodMs)
    throw new Error('renewDeadline must be greater than retryPeriod*JitterFactor')
  if (leaseDurationMs < 1000) throw new Error('leaseDuration must be greater than zero')
  if (retryPeriodMs <= 0) throw new Error('retryPeriod must be greater than zero')
}

/** How long after it began to renew for the last time a leader may write. */
const writingMs = ({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaderElectionTimes): number =>
  Math.min(writtenSeconds(leaseDurationMs) * 1000, retryPeriodMs + renewDeadlineMs)

/** The record has whole seconds: those after which others may lead. */
const writtenSeconds = (leaseDurationMs: number): number => Math.floor(leaseDurationMs / 1000)

/**
 * Resolves when this candidate leads; failures are tried again. Rejects with the signal's reason when that is aborted before.
 *
 * @throws Error for times that do not fit each other
 */
export async function acquireLeadership(options: LeaderElectionOptions, signal: AbortSignal): Promise<Leadership> {
  const times = { ...USUAL_TIMES, ...defined(options) }
  checkTimes(times)
  const record = createLeaseRecord(options, times)
  try {
    return await untilHeld(options, times, record, signal)
  } finally {
    record.end()
  }
}

async function untilHeld(
  options: LeaderElectionOptions,
  times: LeaderElectionTimes,
  record: LeaseRecord,
  signal: AbortSignal,
): Promise<Leadership> {
  const { runtime } = options
  for (;;) {
    signal.throwIfAborted()
    let failed = false
    const began = await record.tryToHold().catch((error: unknown) => {
      failed = true
      options.onFailure?.(error)
      return undefined
    })
    if (began !== undefined) {
      if (!signal.aborted) return lead(options, times, record, began)
      await record.giveBack().catch(() => {})
      continue
    }
    const wait = times.retryPeriodMs * (1 + JITTER * runtime.random.float())
    // After a failed request the release of the Lease is not waited for: the next request would probably fail as well.
    if (failed) await sleep(runtime.clock, wait, signal)
    else await record.free(wait, signal)
  }
}

const defined = ({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: Partial<LeaderElectionTimes>) =>
  Object.fromEntries(
    Object.entries({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }).filter(([, value]) => value !== undefined),
  ) as Partial<LeaderElectionTimes>

function lead(
  options: LeaderElectionOptions,
  times: LeaderElectionTimes,
  record: LeaseRecord,
  acquired: number,
): Leadership {
  const { clock } = options.runtime
  const ending = new AbortController()
  const { signal: ended } = ending
  let writesUntil = acquired + writingMs(times)
  let next: Timer | undefined
  let deadline: Timer | undefined
  const mayWrite = () => !ended.aborted && clock.monotonic() < writesUntil
  const end = (reason: unknown) => {
    next?.cancel()
    deadline?.cancel()
    ending.abort(reason)
  }
  const lose = () => end(new LeaseLostError(record.name))
  const arm = () => {
    deadline?.cancel()
    deadline = clock.setTimer(writesUntil - clock.monotonic(), 'renew deadline', () => (mayWrite() ? arm() : lose()))
  }
  let renewing: Promise<void> | undefined
  const renew = async () => {
    if (ended.aborted) return
    if (!mayWrite()) return lose()
    try {
      const began = await record.tryToHold()
      if (ended.aborted) return
      if (began !== undefined) {
        writesUntil = began + writingMs(times)
        if (!mayWrite()) return lose()
        arm()
      } else if (record.holder !== options.identity) return lose()
    } catch (error) {
      options.onFailure?.(error)
    }
    if (!ended.aborted) next = clock.setTimer(times.retryPeriodMs, 'renew lease', turn)
  }
  const turn = () => {
    renewing = renew()
  }
  arm()
  // The first time at once, as client-go does: another candidate sees that the leader lives.
  turn()
  return {
    ended,
    mayWrite,
    async release() {
      if (ended.aborted) return
      const held = mayWrite()
      end(new Error(`the lease ${record.name} was given back`))
      // What is under way decides which version is there to be changed.
      await renewing
      if (held) await record.giveBack().catch((error: unknown) => options.onFailure?.(error))
    },
  }
}

interface LeaseRecord {
  /** `kube-system/kube-scheduler` */
  readonly name: string
  readonly holder: string | undefined
  /**
   * Takes the Lease or renews it. Gives when that began (monotonic), or undefined where another holds it.
   *
   * @throws what the API server answered, a conflict where another was faster
   */
  tryToHold(): Promise<number | undefined>
  giveBack(): Promise<void>
  /**
   * Resolves when the Lease was given back or has run out, as far as can be seen, or after so long. Rejects with the signal's
   * reason.
   */
  free(ms: number, signal: AbortSignal): Promise<void>
  /** Looks at it no more. */
  end(): void
}

function createLeaseRecord(options: LeaderElectionOptions, times: LeaderElectionTimes): LeaseRecord {
  const { runtime, namespace, name, identity } = options
  const { clock } = runtime
  const leases = options.client.resource<Lease>(LEASES).namespace(namespace)
  const recorder =
    options.events && createEventRecorder(runtime, options.events.client, { component: options.events.component })
  let lease: Lease | undefined
  /** When the record as it is was first seen: by this candidate's clock, whatever times are written in it. */
  let seenAt = 0

  const holder = () => lease?.spec?.holderIdentity ?? ''
  const validUntil = () => seenAt + (lease?.spec?.leaseDurationSeconds ?? 0) * 1000
  const isValid = () => clock.monotonic() < validUntil()
  const observe = (found: Lease, at: number) => {
    const before = lease === undefined ? undefined : holder()
    if (lease === undefined || !sameRecord(lease.spec, found.spec)) seenAt = at
    lease = found
    if (before !== holder()) options.onHolder?.(holder())
  }
  const watch = createLeaseWatch(leases, (found) => observe(found, clock.monotonic()))
  const specNow = (): LeaseSpec => ({
    holderIdentity: identity,
    leaseDurationSeconds: writtenSeconds(times.leaseDurationMs),
    renewTime: formatMicroTime(clock.now()),
  })
  const became = (held: Lease) => recorder?.event(held, 'Normal', 'LeaderElection', `${identity} became leader`)

  async function renewed(began: number): Promise<number> {
    const held = lease as Lease
    observe(await leases.update({ ...held, spec: { ...held.spec, ...specNow() } }), began)
    return began
  }

  async function take(found: Lease, began: number): Promise<number> {
    const spec = {
      ...found.spec,
      ...specNow(),
      acquireTime: formatMicroTime(clock.now()),
      leaseTransitions: (found.spec?.leaseTransitions ?? 0) + 1,
    }
    const taken = await leases.update({ ...found, spec })
    observe(taken, began)
    became(taken)
    return began
  }

  return {
    name: `${namespace}/${name}`,
    get holder() {
      return lease === undefined ? undefined : holder()
    },
    async tryToHold() {
      const began = clock.monotonic()
      if (lease !== undefined && holder() === identity && isValid()) {
        try {
          return await renewed(began)
        } catch (error) {
          options.onFailure?.(error)
        }
      }
      let found: Lease
      try {
        found = await leases.get(name)
      } catch (error) {
        if (!isNotFound(error)) throw error
        const created = await leases.create({
          kind: 'Lease',
          apiVersion: 'coordination.k8s.io/v1',
          metadata: { name, namespace },
          spec: { ...specNow(), acquireTime: formatMicroTime(clock.now()), leaseTransitions: 0 },
        })
        observe(created, began)
        became(created)
        return began
      }
      observe(found, clock.monotonic())
      // Asked for anew: what was asked for before the answer is no beginning of what is written now.
      const again = clock.monotonic()
      if (holder() === identity) return renewed(again)
      if (holder() !== '' && isValid()) return undefined
      return take(found, again)
    },
    async giveBack() {
      if (lease === undefined || holder() !== identity) return
      const now = formatMicroTime(clock.now())
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now }
      observe(await leases.update({ ...lease, spec }), clock.monotonic())
    },
    async free(ms, signal) {
      const waiting = new AbortController()
      const stop = () => waiting.abort()
      signal.addEventListener('abort', stop, { once: true })
      watch.begin(lease, stop)
      const left = validUntil() - clock.monotonic()
      await sleep(clock, left > 0 ? Math.min(ms, left) : ms, waiting.signal).catch(() => {})
      signal.removeEventListener('abort', stop)
      signal.throwIfAborted()
    },
    end: watch.end,
  }
}

const sameRecord = (a: LeaseSpec | undefined, b: LeaseSpec | undefined): boolean =>
  a?.holderIdentity === b?.holderIdentity &&
  a?.renewTime === b?.renewTime &&
  a?.acquireTime === b?.acquireTime &&
  a?.leaseTransitions === b?.leaseTransitions &&
  a?.leaseDurationSeconds === b?.leaseDurationSeconds

/**
 * Where a candidate may watch the Lease it learns of a release at once, and of each renewal when it is made and not only when it tries:
 * it knows to the moment when the Lease runs out. A watch that fails or ends costs nothing but that. One watch goes on from one try to
 * the next.
 */
function createLeaseWatch(leases: ResourceClient<Lease>, seen: (lease: Lease) => void) {
  let current: AbortController | undefined
  /** Called once, by the first release that is seen. */
  let waiter: (() => void) | undefined
  /** A release was seen while nothing waited for it. */
  let wasFree = false

  async function watch(lease: Lease, signal: AbortSignal): Promise<void> {
    const { name = '', resourceVersion = '' } = lease.metadata
    const options = { fieldSelector: `metadata.name=${name}`, resourceVersion, timeoutSeconds: WATCH_SECONDS }
    const reader = await leases.watch(options, signal)
    for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
      if (event.type === 'BOOKMARK' || event.object.metadata.name !== name) continue
      if (event.type !== 'DELETED') {
        seen(event.object as Lease)
        if (((event.object as Lease).spec?.holderIdentity ?? '') !== '') continue
      }
      wasFree = waiter === undefined
      waiter?.()
      waiter = undefined
    }
  }

  return {
    /** Begins a watch from what was seen, unless one goes on. */
    begin(lease: Lease | undefined, free: () => void): void {
      waiter = wasFree ? undefined : free
      if (wasFree) free()
      wasFree = false
      if (current !== undefined || lease === undefined) return
      const own = new AbortController()
      current = own
      const ended = () => {
        if (current === own) current = undefined
      }
      watch(lease, own.signal).then(ended, ended)
    },
    end(): void {
      current?.abort()
      current = undefined
    },
  }
}
