/** Leader election on a coordination.k8s.io Lease: of several replicas of a component one leads at a time. */

import type { KubeObject } from '../api/object.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../api/status.ts'
import { formatMicroTime, sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from './client.ts'
import type { EventRecorder } from './events.ts'

export interface LeaderElectionOptions {
  readonly namespace: string
  readonly name: string
  /** This replica. */
  readonly identity: string
  /** Others may take over after this long without a renewal; default 15 s. */
  readonly leaseDurationMs?: number
  /** The leader gives up after this long without a successful renewal; default 10 s. */
  readonly renewDeadlineMs?: number
  /** Between tries; default 2 s. */
  readonly retryPeriodMs?: number
  readonly recorder?: EventRecorder
  /** `signal` is aborted when the lead is lost. */
  onStarted(signal: AbortSignal): void
  onStopped(): void
}

const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }

/** Resolves when the lead is lost or `signal` is aborted (then the lease is released). */
export async function runLeaderElection(
  runtime: Runtime,
  client: Client,
  options: LeaderElectionOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = runtime
  const leaseDuration = options.leaseDurationMs ?? 15_000
  const renewDeadline = options.renewDeadlineMs ?? 10_000
  const retryPeriod = options.retryPeriodMs ?? 2000
  const resource = client.resource(leases).namespace(options.namespace)
  // Others' clocks are not trusted: a lease is old when it has not changed for its duration on our clock.
  let observed: { readonly record: string; readonly at: number } | undefined
  let held: KubeObject | undefined

  while (!signal.aborted && !(await tryAcquire())) {
    await sleep(clock, retryPeriod * (1 + 1.2 * random.float()), signal).catch(() => {})
  }
  if (signal.aborted) return
  const lead = new AbortController()
  const stop = () => lead.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  options.recorder?.event(held as KubeObject, 'Normal', 'LeaderElection', `${options.identity} became leader`)
  log.info(0, 'Successfully acquired lease', { lock: `${options.namespace}/${options.name}` })
  options.onStarted(lead.signal)
  let renewedAt = clock.monotonic()
  while (!signal.aborted && clock.monotonic() - renewedAt < renewDeadline) {
    await sleep(clock, retryPeriod, signal).catch(() => {})
    if (!signal.aborted && (await tryAcquire())) renewedAt = clock.monotonic()
  }
  signal.removeEventListener('abort', stop)
  lead.abort()
  if (signal.aborted) await release()
  options.onStopped()

  async function tryAcquire(): Promise<boolean> {
    const now = clock.now()
    try {
      const lease = await resource.get(options.name)
      const spec = lease['spec'] ?? {}
      const record = JSON.stringify(spec)
      if (observed?.record !== record) observed = { record, at: clock.monotonic() }
      const holder: string = spec.holderIdentity ?? ''
      const mine = holder === options.identity
      if (!mine && holder !== '' && clock.monotonic() < observed.at + leaseDuration) return false
      return await put({
        ...lease,
        spec: {
          ...spec,
          holderIdentity: options.identity,
          leaseDurationSeconds: Math.round(leaseDuration / 1000),
          acquireTime: mine ? spec.acquireTime : formatMicroTime(now),
          renewTime: formatMicroTime(now),
          leaseTransitions: (spec.leaseTransitions ?? 0) + (mine ? 0 : 1),
        },
      })
    } catch (error) {
      if (!isNotFound(error)) {
        log.info(2, 'Error retrieving lease lock', { err: String(error) })
        return false
      }
    }
    try {
      held = await resource.create({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: options.name, namespace: options.namespace },
        spec: {
          holderIdentity: options.identity,
          leaseDurationSeconds: Math.round(leaseDuration / 1000),
          acquireTime: formatMicroTime(now),
          renewTime: formatMicroTime(now),
          leaseTransitions: 0,
        },
      })
      return true
    } catch (error) {
      if (!isAlreadyExists(error)) log.info(2, 'Error creating lease lock', { err: String(error) })
      return false
    }
  }

  async function put(lease: KubeObject): Promise<boolean> {
    try {
      held = await resource.update(lease)
      observed = { record: JSON.stringify(held['spec']), at: clock.monotonic() }
      return true
    } catch (error) {
      if (!isConflict(error)) log.info(2, 'Failed to update lease', { err: String(error) })
      return false
    }
  }

  async function release() {
    if (held?.['spec']?.holderIdentity !== options.identity) return
    const now = formatMicroTime(clock.now())
    const spec = { ...held['spec'], holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
    await put({ ...held, spec })
  }
}
