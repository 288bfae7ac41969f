/**
 * What runs in one of the processes that share a store, and in another when that one has ended: a component that runs while this
 * process holds its Lease (client/leader-election.ts). Every write of it is held to that.
 */
import type { UserInfo } from '../api/request.ts'
import { sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { endingTransport, fencedTransport, timedTransport } from '../client/held-transports.ts'
import { acquireLeadership, type Leadership } from '../client/leader-election.ts'
import { createClients, type Transport } from '../client/transport.ts'

export type ClientFor = (user: UserInfo, userAgent?: string) => Client

export interface ElectedOptions {
  readonly transport: Transport
  /** Of the Lease in kube-system, and of the component in Events. */
  readonly name: string
  /** What holds the Lease: different from those of all other processes. */
  readonly identity: string
  /** The user that asks for the Lease. */
  readonly user: UserInfo
  /** Does the work until the signal is aborted, by these clients alone. Resolves when it runs, with what ends the rest of it. */
  start(clientFor: ClientFor, signal: AbortSignal): Promise<() => Promise<void>>
}

export interface Elected {
  /** Resolves when the component runs, here or in another process. Rejects when it could not be started here the first time. */
  readonly running: Promise<void>
  /** Ends the work, then gives the Lease back. */
  stop(): Promise<void>
}

/** Each of a leader's requests for its Lease ends within this, half of the deadline to renew. */
const LEASE_REQUEST_MS = 5000
const AGAIN_MS = 2000

export function startElected(runtime: Runtime, options: ElectedOptions): Elected {
  const { transport, name, user, identity } = options
  const { clock, log } = runtime
  const stopping = new AbortController()
  const running = Promise.withResolvers<void>()
  running.promise.catch(() => {})
  let isFirst = true
  const leaseClient = createClients(
    runtime,
    timedTransport(runtime, transport, LEASE_REQUEST_MS),
  )({
    user,
    userAgent: 'leader-election',
  })

  const acquire = () =>
    acquireLeadership(
      {
        runtime,
        client: leaseClient,
        events: { client: leaseClient, component: name },
        namespace: 'kube-system',
        name,
        identity,
        onHolder(holder) {
          if (holder === '' || holder === identity) return
          log.info(0, 'another process leads', { lease: name, holder })
          running.resolve()
        },
        onFailure: (error) =>
          log.info(2, 'the lease could not be asked for or taken', { lease: name, error: String(error) }),
      },
      stopping.signal,
    )

  async function lead(leadership: Leadership): Promise<void> {
    const term = new AbortController()
    const end = () => term.abort()
    const clients = createClients(runtime, endingTransport(fencedTransport(transport, leadership), term.signal))
    const clientFor: ClientFor = (as, userAgent = 'skiff') => clients({ user: as, userAgent })
    leadership.ended.addEventListener('abort', end, { once: true })
    stopping.signal.addEventListener('abort', end, { once: true })
    let finish = async () => {}
    try {
      log.info(0, 'this process leads', { lease: name, identity })
      finish = await options.start(clientFor, term.signal)
      running.resolve()
      if (!term.signal.aborted)
        await new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve(), { once: true }))
    } catch (error) {
      if (isFirst) running.reject(error)
      log.error('what leads could not be started', error, { lease: name })
    } finally {
      isFirst = false
      end()
      stopping.signal.removeEventListener('abort', end)
      await finish().catch((error: unknown) => log.error('what led did not end well', error, { lease: name }))
      await leadership.release()
      log.info(0, 'this process leads no longer', { lease: name })
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const leadership = await acquire().catch(() => undefined)
      if (leadership === undefined) continue
      await lead(leadership)
      // What could not be started, or was lost, is another's for a while.
      await sleep(clock, AGAIN_MS, stopping.signal).catch(() => {})
    }
  }

  const ended = run()
  return {
    running: running.promise,
    async stop() {
      stopping.abort()
      await ended
      running.resolve()
    },
  }
}
