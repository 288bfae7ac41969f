/**
 * A whole cluster under simulation: API server over the memory store, controllers, scheduler, nodes; each of them can be
 * killed and started again, and everything they say to each other passes the wire and the laws.
 */
import type { Fields } from '../../../src/api/object.ts'
import type { UserInfo } from '../../../src/api/request.ts'
import { StatusError } from '../../../src/api/status.ts'
import type { Runtime } from '../../../src/base/runtime.ts'
import type { SimulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { stoppable } from '../../../src/base/stoppable.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient, inProcessTransport } from '../../../src/client/transport.ts'
import { controllerEntries } from '../../../src/controllers/controllers-list.ts'
import { startControllerManager } from '../../../src/controllers/manager.ts'
import { startKubelet } from '../../../src/kubelet/kubelet.ts'
import { createPodAddresses, podCIDROf } from '../../../src/kubelet/pod-addresses.ts'
import type { ContainerRuntime } from '../../../src/kubelet/runtimes/runtime.ts'
import { createSimulatedRuntime } from '../../../src/kubelet/runtimes/simulated/simulated-runtime.ts'
import { startScheduler } from '../../../src/scheduler/scheduler.ts'
import { AUTHORITY } from '../../authority.ts'
import { ADMIN } from '../../harness.ts'
import type { Happenings } from '../explore.ts'
import { countHappenings, type Happening } from './happenings.ts'
import { budgetLaw } from './laws/budgets.ts'
import { causeLaw } from './laws/causes.ts'
import { claimLaw } from './laws/claims.ts'
import { collectorLaw } from './laws/collector.ts'
import { type ContainerLaw, containerLaw } from './laws/containers.ts'
import { jobLaw } from './laws/jobs.ts'
import type { Law } from './laws/laws.ts'
import { type LeftBudgetsLaw, leftBudgetsLaw } from './laws/left-budgets.ts'
import { type ObjectLaw, objectLaw } from './laws/objects.ts'
import { orderLaw } from './laws/order.ts'
import { type QuotaLaw, quotaLaw } from './laws/quotas.ts'
import { rolloutLaw } from './laws/rollouts.ts'
import { type UnseenLaw, unseenLaw } from './laws/unseen.ts'
import { createServer, type ServerProcess } from './server.ts'
import { type Change, createTruth, type Truth } from './truth.ts'
import { isKubelet, type Life, type Passing, type WireTaps, wire } from './wire.ts'
import { kinds } from './workload.ts'

export interface Component {
  readonly name: string
  /** What it is called when it is killed. */
  readonly death: Happening
  /** undefined while it is down. */
  readonly life: Life | undefined
  /** Killed: nothing of it happens any more, wherever it was. */
  kill(): void
  /** Started anew, once it is down. */
  start(): void
  /** It runs and has seen what there was to see. */
  readonly ready: boolean
}

/** Started again by whoever kills it. */
export interface Killable {
  kill(store: Parameters<ServerProcess['kill']>[0]): void
  readonly up: boolean
  /** The store has something on its way to the disk. */
  readonly writing: boolean
  compact(): void
  start(): void
}

export interface WorldOptions {
  readonly nodes: number
  /** Controllers that have a process of their own: informers, queue, death. */
  readonly alone?: readonly string[]
}

export interface World {
  readonly runtime: SimulatedRuntime
  readonly truth: Truth
  readonly user: Client
  readonly components: readonly Component[]
  readonly server: Killable
  readonly objects: ObjectLaw
  readonly containers: ContainerLaw
  readonly quotas: QuotaLaw
  readonly unseen: UnseenLaw
  readonly leftBudgets: LeftBudgetsLaw
  readonly failures: readonly string[]
  /** Requests that components made, without heartbeats: who does what to what. */
  readonly requests: ReadonlyMap<string, number>
  /** Share of requests that go wrong. */
  chaos: number
  failed(reason: string): void
  happened(what: Happening): void
  /** What happened so far. */
  readonly happenings: Happenings
  note(what: string): void
  /** The node's machine starts anew: what ran on it is gone. Its kubelet must be down. */
  reboot(node: string): void
  countAnew(): void
  stop(): Promise<void>
}

const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }
const many = { maxSteps: 2_000_000 }
const RESTART_MS = 1000
const CONTROLLERS = 'controllers'
const CUT_OFF = new StatusError(503, 'ServiceUnavailable', 'the server died')
const controllerNames = [
  ...controllerEntries.map(({ name }) => name),
  'root-ca-certificate-publisher-controller',
  'garbage-collector-controller',
]

export async function startWorld(
  runtime: SimulatedRuntime,
  { nodes: nodeCount, alone = [] }: WorldOptions,
): Promise<World> {
  const log = runtime.log.named('simulation')
  const failures: string[] = []
  let requests = new Map<string, number>()
  const failed = (reason: string) => {
    log.info(1, `BROKEN: ${reason}`)
    if (failures.length < 20) failures.push(reason)
  }
  const laws: Law[] = []
  const truth = createTruth((change) => {
    tell(change)
    for (const law of laws) law.changed?.(change)
  })
  const parts = { runtime, truth, failed }
  const objects = objectLaw(parts)
  const counter = countHappenings(parts)
  const { happened } = counter
  const containers = containerLaw({ ...parts, happened })
  const quotas = quotaLaw(parts)
  const unseen = unseenLaw()
  const leftBudgets = leftBudgetsLaw(parts)
  laws.push(
    objects,
    containers,
    causeLaw(parts),
    collectorLaw(parts),
    orderLaw(parts),
    budgetLaw(parts),
    claimLaw(parts),
    jobLaw(parts),
    rolloutLaw(parts),
    quotas,
    unseen,
    leftBudgets,
    counter,
  )

  function tell({ resource, namespace, name, before, after }: Change): void {
    if (runtime.log.level < 1) return
    const what = before === undefined ? 'created' : after === undefined ? 'gone' : 'changed'
    const { resourceVersion, deletionTimestamp, finalizers, ownerReferences } = (after ?? before)?.metadata ?? {}
    const owners = ownerReferences?.map((owner) => `${owner.kind}/${owner.name}`)
    const { phase, conditions = [] }: Fields = (after ?? before)?.['status'] ?? {}
    const ready = conditions.find(({ type }: Fields) => type === 'Ready')?.status
    log.info(1, `${resource} ${namespace}/${name} ${what}`, {
      resourceVersion,
      deletionTimestamp,
      finalizers,
      owners,
      phase,
      ready,
    })
  }

  const taps: WireTaps = {
    failed,
    arrives(passing) {
      for (const law of laws) law.arrives?.(passing)
    },
    done(passing, response) {
      const { user, method, place, subresource, life } = passing
      if (life.component !== 'user' && place.resource !== 'leases' && place.resource !== '') {
        const what = `${user} ${method} ${place.resource}${subresource === '' ? '' : `/${subresource}`}`
        requests.set(what, (requests.get(what) ?? 0) + 1)
        log.info(2, `${what} ${place.namespace}/${place.name}`, {
          status: response instanceof StatusError ? `${response.code} ${response.message}` : response.status,
        })
      }
      for (const law of laws) law.done?.(passing, response)
    },
    happened,
    cutOff: (passing) => void cutOff.add(passing),
    delivered(life, object, type) {
      for (const law of laws) law.delivered?.(life, object, type)
    },
  }
  /** Requests that the server died over. */
  const cutOff = new Set<Passing>()
  const server = createServer({
    runtime,
    truth,
    failed,
    happened,
    settled() {
      for (const passing of cutOff) for (const law of laws) law.done?.(passing, CUT_OFF)
      cutOff.clear()
    },
  })
  let chaos = 0
  function clientOf(life: Life, user: UserInfo, userAgent: string, own: Runtime = runtime): Client {
    const handler = wire({ runtime, server, life, taps, chaos: () => chaos })
    return createClient(own, inProcessTransport(handler), { user, userAgent })
  }
  const newLife = (component: string, signal: AbortSignal): Life => ({
    component,
    isController: component === CONTROLLERS || alone.includes(component),
    signal,
    views: new Map(),
    watches: new Set(),
  })

  function component(name: string, begin: (life: Life, own: Runtime) => Promise<unknown>): Component {
    let life: Life | undefined
    let stop = new AbortController()
    let ready = false
    const kill = () => {
      stop.abort()
      life = undefined
      ready = false
    }
    const start = () => {
      if (life !== undefined) return
      stop = new AbortController()
      const own = newLife(name, stop.signal)
      life = own
      begin(own, stoppable(runtime, own.signal)).then(
        () => {
          if (life === own) ready = true
        },
        (error) => {
          if (own.signal.aborted) return
          // Whatever runs it starts it again.
          log.info(1, `${name} does not start: ${error}`)
          kill()
          runtime.clock.setTimer(RESTART_MS, 'restart', start)
        },
      )
    }
    return {
      name,
      death: deathOf(name),
      kill,
      start,
      get life() {
        return life
      },
      get ready() {
        return ready
      },
    }
  }

  const manager = (name: string, controllers: readonly string[]) =>
    component(name, (life, own) =>
      startControllerManager({
        runtime: own,
        clientFor: ({ user, userAgent }) => clientOf(life, user, userAgent, own),
        controllers,
        rootCa: AUTHORITY,
        signal: life.signal,
      }),
    )
  const together = controllerNames.filter((name) => !alone.includes(name))
  const controllers = [manager(CONTROLLERS, together), ...alone.map((name) => manager(name, [name]))]
  const scheduler = component('scheduler', (life, own) =>
    startScheduler({ runtime: own, client: clientOf(life, SCHEDULER, 'kube-scheduler', own), signal: life.signal }),
  )
  const machines = new Map<string, ContainerRuntime>()
  const power = new Map<string, AbortController>()
  const reboot = (node: string) => {
    if (power.has(node)) happened('a machine reboots')
    power.get(node)?.abort()
    const on = new AbortController()
    power.set(node, on)
    containers.reboots(node)
    const addresses = createPodAddresses(podCIDROf(Number(node.slice('node-'.length)) - 1))
    const machine = createSimulatedRuntime(stoppable(runtime, on.signal), addresses)
    machines.set(node, containers.watch(node, machine, on.signal))
  }
  const nodes = Array.from({ length: nodeCount }, (_, index) => {
    const name = `node-${index + 1}`
    reboot(name)
    const user = { name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] }
    return component(name, (life, own) =>
      startKubelet({
        runtime: own,
        client: clientOf(life, user, 'kubelet', own),
        nodeName: name,
        signal: life.signal,
        containerRuntime: usedBy(life, machines.get(name) as ContainerRuntime),
      }),
    )
  })
  const components = [...controllers, scheduler, ...nodes]
  const user = clientOf(newLife('user', new AbortController().signal), ADMIN, 'user')

  await runtime.complete(server.start(), many)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-node-lease' } }
  await runtime.complete(user.resource(kinds.Namespace).create(namespace), many)
  for (const one of components) one.start()
  await runtime.run({ until: () => components.every(({ ready }) => ready), ...many })
  return {
    runtime,
    truth,
    user,
    components,
    server: {
      kill(store) {
        server.kill(store)
        for (const { life } of components) for (const watch of [...(life?.watches ?? [])]) watch.cut('broken')
      },
      get up() {
        return server.up
      },
      get writing() {
        return server.writing
      },
      compact: () => server.compact(),
      start: () => void server.start(),
    },
    objects,
    containers,
    quotas,
    unseen,
    leftBudgets,
    failures,
    get requests() {
      return requests
    },
    get chaos() {
      return chaos
    },
    set chaos(share) {
      chaos = share
    },
    failed,
    happened,
    happenings: counter.counts,
    note: (what) => log.info(1, `* ${what}`),
    reboot,
    countAnew() {
      requests = new Map()
    },
    async stop() {
      for (const one of components) one.kill()
      await runtime.complete(server.stop(), many)
    },
  }
}

function deathOf(component: string): Happening {
  if (component === CONTROLLERS) return 'all controllers are killed'
  if (component === 'scheduler') return 'the scheduler is killed'
  return isKubelet(component) ? 'a kubelet is killed' : 'one controller is killed'
}

/** What a kubelet asks of the runtime is done, but once it is dead it hears no answer, and asks nothing more. */
function usedBy({ signal }: Life, containers: ContainerRuntime): ContainerRuntime {
  const never = new Promise<never>(() => {})
  const methods = Object.entries(containers).map(([name, method]) => {
    // What is no method of its own, such as the answers of simulated containers, is passed on.
    if (name === 'containerEvents' || typeof method !== 'function') return [name, method]
    const call = async (...given: readonly unknown[]) => {
      if (signal.aborted) return never
      const answer = await (method as (...given: readonly unknown[]) => Promise<unknown>)(...given)
      return signal.aborted ? never : answer
    }
    return [name, call]
  })
  return Object.fromEntries(methods) as ContainerRuntime
}
