/** --leader-elect*: of several processes of a component one works, the others wait for its Lease. */
import { hostname } from 'node:os'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { limitedTransport, timedTransport } from '../client/held-transports.ts'
import {
  acquireLeadership,
  checkTimes,
  type LeaderElectionTimes,
  type Leadership,
  LeaseLostError,
} from '../client/leader-election.ts'
import { createClient, type Transport } from '../client/transport.ts'
import type { HealthCheck } from '../http/health-pages.ts'
import { complaints } from './access.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import type { ComponentProcess } from './process.ts'

export interface ElectionSettings extends LeaderElectionTimes {
  readonly enabled: boolean
  readonly namespace: string
  readonly name: string
}

/** @throws FlagError in the words of client-go */
export function electionOfFlags(flags: ReadFlags, name: string): ElectionSettings {
  const settings = {
    enabled: flags.bool('leader-elect'),
    namespace: flags.text('leader-elect-resource-namespace') ?? 'kube-system',
    name: flags.text('leader-elect-resource-name') ?? name,
    leaseDurationMs: flags.ms('leader-elect-lease-duration'),
    renewDeadlineMs: flags.ms('leader-elect-renew-deadline'),
    retryPeriodMs: flags.ms('leader-elect-retry-period'),
  }
  try {
    if (settings.enabled) checkTimes(settings)
  } catch (error) {
    throw new FlagError(messageOf(error))
  }
  return settings
}

export interface Election {
  readonly check: HealthCheck
  leads(): boolean
  /**
   * Resolves when this process may work; undefined where nothing has to be won for that. The Lease is given back when the process is asked to
   * stop, and the process ends when it is lost.
   */
  won(): Promise<Leadership | undefined>
}

const newIdentity = (runtime: Runtime): string => `${hostname()}_${runtime.random.uuid()}`

/** Elections of one process, which is known by one identity in each Lease that it holds. */
export interface Elections {
  /** One for all, as kube-controller-manager has one: it fails while any Lease that was won cannot be renewed. */
  readonly check: HealthCheck
  /** That for the Lease of this name. */
  of(name: string): Election
}

export function createElections(
  settings: Omit<ElectionSettings, 'name'>,
  process: ComponentProcess,
  transport: Transport,
  events: { readonly component: string; readonly userAgent: string },
): Elections {
  const identity = newIdentity(process.runtime)
  const made = new Map<string, Election>()
  process.runtime.metrics?.sampled(
    'leader_election_master_status',
    'Whether this process leads by the Lease of this name.',
    ['name'],
    () => (settings.enabled ? [...made].map(([name, { leads }]) => [leads() ? 1 : 0, name] as const) : []),
  )
  return {
    // kube-controller-manager has no other endpoint.
    check: {
      ...healthOf(() => {
        for (const { check } of made.values()) check.check()
      }),
      endpoints: ['healthz'],
    },
    of(name) {
      const one = createElection({ ...settings, name }, process, transport, events, identity)
      made.set(name, one)
      return one
    },
  }
}

const healthOf = (check: () => void) => ({ name: 'leaderElection', endpoints: ['healthz', 'readyz'] as const, check })

/** `events`: the component that tells of the new leader. */
function createElection(
  settings: ElectionSettings,
  process: ComponentProcess,
  transport: Transport,
  events: { readonly component: string; readonly userAgent: string },
  identity: string,
): Election {
  const { runtime, say, onStop, fail } = process
  const { namespace, name } = settings
  let leadership: Leadership | undefined
  const lease = `${namespace}/${name}`
  return {
    leads: () => leadership?.mayWrite() === true,
    check: healthOf(() => {
      if (leadership !== undefined && !leadership.mayWrite())
        throw new Error(`failed election to renew leadership on lease ${name}`)
    }),
    async won() {
      if (!settings.enabled) return undefined
      const waiting = new AbortController()
      const complain = complaints(process)
      const timed = timedTransport(runtime, transport, Math.max(1000, settings.renewDeadlineMs / 2))
      const { userAgent } = events
      const acquired = acquireLeadership(
        {
          ...settings,
          runtime,
          client: createClient(runtime, timed, { userAgent }),
          events: {
            client: createClient(runtime, limitedTransport(runtime, transport, { qps: 5, burst: 10 }), { userAgent }),
            component: events.component,
          },
          identity,
          onHolder: (holder) => runtime.log.info(0, 'The lease has a holder', { lease, holder }),
          onFailure: (error) => complain(`the lease ${lease} cannot be had: ${messageOf(error)}; trying again`),
        },
        waiting.signal,
      )
      onStop(async () => {
        waiting.abort(new Error('stopping'))
        await acquired.then(
          (held) => held.release(),
          () => {},
        )
      })
      runtime.log.info(0, 'Attempting to acquire leader lease', { lease })
      const held = await acquired
      leadership = held
      say(`leads: it has the lease ${lease}`)
      held.ended.addEventListener('abort', () => {
        if (held.ended.reason instanceof LeaseLostError) fail(`${held.ended.reason.message}; another may lead now`)
      })
      return held
    },
  }
}
