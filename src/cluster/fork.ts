/**
 * Forks: clusters in this process that begin with the objects of another, as they are now, and go their own way. They share the
 * memory of what neither has changed, and nothing else: keys, store, controllers and clock are each fork's own.
 */

import { badRequest, notAllowed } from '../api/status.ts'
import type { SharedEntries } from '../apiserver/cache/entry.ts'
import type { Faults } from '../apiserver/faults/which-requests-are-struck.ts'
import type { Isolation } from '../apiserver/webhooks/unasked.ts'
import type { Clock, Timer } from '../base/clock.ts'
import type { Transport } from '../client/transport.ts'
import type { Delays } from '../client/uneven-transport.ts'
import { checkNames } from './check-options.ts'
import { type Duration, milliseconds } from './clock.ts'
import type { Cluster, ClusterOptions } from './cluster-options.ts'
import type { Control } from './controls.ts'
import { jsonBody } from './controls.ts'
import { StartError } from './errors.ts'
import { IDENTITY_FLAGS } from './identity.ts'
import type { SimulatedNode } from './nodes.ts'
import type { SecurityOptions } from './security.ts'
import type { Snapshot } from './snapshot.ts'

export interface ForkOptions {
  /** Real time after which it ends. Default 10m. */
  readonly ttl?: Duration
}

/** A cluster that began with the objects of another. */
export interface StartedFork extends Cluster {
  /** Resolves when the controllers, scheduler and nodes of the fork run: they start once its API server answers. */
  readonly running: Promise<void>
  /** By which it is asked within this process. */
  readonly transport: Transport
}

export interface Fork extends StartedFork {
  /** Resolves when it has ended: by `stop`, its time to live, or with its cluster. */
  readonly ended: Promise<void>
}

/** How a fork starts: beside the options, what the command line cannot say. */
export interface ForkStart {
  readonly entries: SharedEntries
  /** The nodes to run. Default: as the options say. */
  readonly nodes?: readonly SimulatedNode[]
  /** Of its faults. Default: the options'. */
  readonly faultSeed?: number
  /** It opens no connection to anything that its objects name. */
  readonly isolation?: Isolation
  /** How much of its time requests of its components take. Default: none takes any. */
  readonly uneven?: Delays
}

export interface Forks {
  /** @throws StartError where the cluster's nodes run real containers, StoreError where its store is an etcd */
  fork(options?: ForkOptions): Promise<Fork>
  /** Ends all of them. */
  stop(): Promise<void>
}

const TTL = '10m'

export function createForks(
  parent: {
    readonly options: ClusterOptions
    readonly machineClock: Clock
    snapshot(): Snapshot
    readonly isManual: boolean
    readonly faults: Faults | undefined
  },
  start: (options: ClusterOptions, fork: ForkStart) => Promise<StartedFork>,
): Forks {
  const entries: SharedEntries = new WeakMap()
  const open = new Map<Fork, Timer>()
  let isStopped = false

  return {
    async fork(options = {}) {
      checkNames(options, ['ttl'])
      const { ttl = TTL } = options
      const ms = milliseconds(ttl)
      if (ms === 0)
        throw new RangeError(`a fork with ttl ${ttl} would be gone at once: say how long it lives, as in 10m`)
      if (parent.options.containerRuntime === 'cri')
        throw new StartError('real containers cannot be forked: fork a cluster of simulated nodes')
      if (isStopped) throw new StartError('the cluster has stopped')
      const fork = await start(
        { ...optionsOf(parent.options, parent.snapshot(), parent.isManual), ...faultsOf(parent.faults) },
        { entries, ...(parent.faults === undefined ? {} : { faultSeed: parent.faults.status().seed }) },
      )
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      const stop = async () => {
        open.get(forked)?.cancel()
        open.delete(forked)
        await fork.stop().finally(end)
      }
      const forked: Fork = { ...fork, ended, stop }
      open.set(
        forked,
        parent.machineClock.setTimer(
          ms,
          'fork ends',
          () => void stop().catch((error) => fork.log.error('fork', error)),
        ),
      )
      if (isStopped) {
        await stop()
        throw new StartError('the cluster has stopped')
      }
      return forked
    },
    async stop() {
      isStopped = true
      await Promise.all([...open.keys()].map((fork) => fork.stop()))
    },
  }
}

/** What the other cluster would recognise as its own, or write into its files, is left out. */
const OWN = new Set<string>(['auditLogPath', 'auditPolicyFile', ...Object.keys(IDENTITY_FLAGS)])

function optionsOf(options: ClusterOptions, from: Snapshot, isManual: boolean): ClusterOptions {
  const security = Object.fromEntries(
    Object.entries(options.security ?? {}).filter(([name]) => !OWN.has(name)),
  ) as SecurityOptions
  const { components, nodes, disableAdmissionPlugins, enableAdmissionPlugins, allowPrivileged, logLevel } = options
  const { onUnhandled, keepRequests, simulation, scheduler, seed } = options
  return {
    storage: 'memory',
    from,
    security,
    clock: isManual ? 'manual' : 'real',
    ...(components === undefined ? {} : { components }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(disableAdmissionPlugins === undefined ? {} : { disableAdmissionPlugins }),
    ...(enableAdmissionPlugins === undefined ? {} : { enableAdmissionPlugins }),
    ...(allowPrivileged === undefined ? {} : { allowPrivileged }),
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(onUnhandled === undefined ? {} : { onUnhandled }),
    ...(keepRequests === undefined ? {} : { keepRequests }),
    ...(simulation === undefined ? {} : { simulation }),
    ...(scheduler === undefined ? {} : { scheduler }),
    ...(seed === undefined ? {} : { seed }),
  }
}

/** As they are now, with nothing counted yet: so each fork meets the same ones. */
function faultsOf(faults: Faults | undefined): Pick<ClusterOptions, 'faults'> {
  if (faults === undefined) return {}
  return { faults: faults.status().faults.map(({ fault }) => fault) }
}

/**
 * POST makes one, `{"ttl": "10m"}` at most, and answers with a line of JSON (url, kubeconfig) on a connection that stays open: the
 * fork ends with it.
 */
export function forkControl(fork: Forks['fork']): Control {
  return async (request) => {
    if (request.method !== 'POST') throw notAllowed()
    const { ttl, ...others } = jsonBody(request)
    const unknown = Object.keys(others)[0]
    if (unknown !== undefined) throw badRequest(`unknown field ${JSON.stringify(unknown)}: there is ttl`)
    if (ttl !== undefined && typeof ttl !== 'string') throw badRequest('ttl must be a string')
    const forked = await fork(ttl === undefined ? {} : { ttl })
    const { url, kubeconfig } = forked
    return { chunks: whileOpen(`${JSON.stringify({ url, kubeconfig })}\n`, forked, request.signal) }
  }
}

async function* whileOpen(line: string, fork: Fork, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield Buffer.from(line)
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => leave(), { once: true })
    if (!signal.aborted) await Promise.race([left, fork.ended])
  } finally {
    await fork.stop()
  }
}
