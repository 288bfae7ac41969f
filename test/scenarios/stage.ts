/**
 * A control plane on the simulated clock, as the recordings were made: API server, all controllers, scheduler, and nodes
 * whose stand-in does what KWOK's did. Everything written passes a gate: it is noted, and may be held back or refused.
 */
import { decodeBody } from '../../src/api/codec/decode.ts'
import { applyDefaults } from '../../src/api/defaults/defaults.ts'
import type { KeptRecord } from '../../src/api/journal.ts'
import type { Json, JsonObject, KubeObject } from '../../src/api/object.ts'
import type { ApiRequest, ApiResponse, Handler, UserInfo } from '../../src/api/request.ts'
import type { ResourceRow, SubresourceRow } from '../../src/api/scheme/resource.ts'
import { builtinScheme } from '../../src/api/scheme/scheme.ts'
import { StatusError } from '../../src/api/status.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Runtime } from '../../src/base/runtime.ts'
import type { SimulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { Client, GroupVersionResource } from '../../src/client/client.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import type { ControllerSettings } from '../../src/controllers/controller.ts'
import { startControllerManager } from '../../src/controllers/manager.ts'
import { startScheduler } from '../../src/scheduler/scheduler.ts'
import { AUTHORITY } from '../authority.ts'
import { ADMIN, journalOf, startTestApi } from '../harness.ts'
import { type NodeStandIn, startNodeStandIn } from './node-stand-in.ts'
import type { RawEvent, RawWrite } from './normalize.ts'
import { rawEvent } from './normalize.ts'

export const namespace = 't-scenario'
const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }

export type Verdict = 'allow' | 'refuse'

export interface StageOptions {
  readonly nodes: number
  /** One more node, on which only the user brings pods on: its name is `idle`. */
  readonly idleNode?: boolean
  /** Writes to nodes were recorded. */
  readonly gatesNodes?: boolean
  /** Random ends of generated names, in the order in which the names are given; then they are random. */
  readonly suffixes?: readonly string[]
  readonly settings?: ControllerSettings
  /** Asked about every write in the scenario's namespace, and about nodes, once `mark` has been called. */
  gate?(write: RawWrite): Promise<Verdict>
  /** Told of every state of every object, from the beginning. */
  saw?(object: KubeObject): void
  /** Told when a write that the gate let pass is answered. */
  answered?(write: RawWrite): void
}

/** What a play needs that can be played to a real cluster too. */
export interface Scene {
  readonly namespace: string
  readonly runtime: { readonly clock: Clock }
  readonly user: Client
}

/** Time passes in it when it is told to. */
export type StageRuntime = Runtime & Pick<SimulatedRuntime, 'complete' | 'advance'>

export interface Stage extends Scene {
  readonly runtime: StageRuntime
  readonly nodes: NodeStandIn
  readonly writes: readonly RawWrite[]
  readonly states: readonly { readonly type: string; readonly resource: string; readonly object: KubeObject }[]
  readonly events: readonly RawEvent[]
  /** From here on it is recorded and the gate is asked. */
  mark(): void
  /** What the store keeps of the ends of objects. */
  journal(): Promise<readonly KeptRecord[]>
  stop(): Promise<void>
}

export const watchedResources: readonly GroupVersionResource[] = [
  ...[
    'pods',
    'configmaps',
    'replicationcontrollers',
    'endpoints',
    'serviceaccounts',
    'persistentvolumeclaims',
    'services',
    'resourcequotas',
  ].map((resource) => ({ group: '', version: 'v1', resource })),
  ...['replicasets', 'deployments', 'statefulsets', 'daemonsets', 'controllerrevisions'].map((resource) => ({
    group: 'apps',
    version: 'v1',
    resource,
  })),
  ...['jobs', 'cronjobs'].map((resource) => ({ group: 'batch', version: 'v1', resource })),
  { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' },
  { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
  { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
]
/** Not in the recordings as states. */
export const eventsResource: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
export const clusterWide: readonly GroupVersionResource[] = ['namespaces', 'nodes', 'persistentvolumes'].map(
  (resource) => ({
    group: '',
    version: 'v1',
    resource,
  }),
)

/** Resolves when all components run and the namespace with its first contents is there. */
export async function startStage(runtime: StageRuntime, options: StageOptions): Promise<Stage> {
  const suffixes = [...(options.suffixes ?? [])]
  const api = await runtime.complete(startTestApi(runtime))
  const scheme = builtinScheme()
  const stopping = new AbortController()
  const { signal } = stopping
  const writes: RawWrite[] = []
  const states: { type: string; resource: string; object: KubeObject }[] = []
  const events: RawEvent[] = []
  let marked = false

  const handler: Handler = async (request) => {
    const place = placeOf(request)
    if (!marked || place === undefined) return api.handler(named(request))
    if (place.resource === 'events') {
      const response = await api.handler(request)
      if (request.method === 'POST' && response.status === 201 && request.body?.kind === 'object')
        events.push(rawEvent(request.body.object as JsonObject))
      return response
    }
    const write = rawWrite(request, place)
    if ((await options.gate?.(write)) === 'refuse')
      throw new StatusError(409, write.verb === 'create' ? 'AlreadyExists' : 'Conflict', 'not its turn')
    const note = (code: number) => {
      const answered = { ...write, code }
      writes.push(answered)
      options.answered?.(answered)
    }
    try {
      const response = await api.handler(named(request))
      note(response.status)
      return response
    } catch (error) {
      note(error instanceof StatusError ? error.code : 500)
      throw error
    }
  }
  /** The request with the generated name that its object is to have. */
  function named(request: ApiRequest): ApiRequest {
    if (request.method !== 'POST' || request.body?.kind !== 'object') return request
    const { object } = request.body
    const { generateName, name } = object.metadata ?? {}
    if (!generateName || name) return request
    const suffix = suffixes.shift()
    if (suffix === undefined) return request
    const metadata = { ...object.metadata, name: generateName + suffix }
    return { ...request, body: { ...request.body, object: { ...object, metadata } } }
  }

  /** undefined for reads, and for what no recording tells of. */
  function placeOf(request: ApiRequest) {
    if (request.method === 'GET') return undefined
    const [, root, ...parts] = request.path.split('/')
    const [group, version, ...rest] = root === 'api' ? ['', ...parts] : parts
    if (rest[0] === 'nodes' && rest[1] !== undefined) {
      // The stand-in's heartbeats were not recorded.
      if (!options.gatesNodes || request.headers['user-agent'] === 'kwok') return undefined
      return { group, version, resource: 'nodes', name: rest[1], subresource: rest[2] }
    }
    if (rest[0] === 'persistentvolumes')
      return { group, version, resource: rest[0], name: rest[1], subresource: rest[2] }
    if (rest[0] !== 'namespaces' || rest[1] !== namespace) return undefined
    if (rest.length < 3 || rest[2] === 'status' || rest[2] === 'finalize')
      return { group, version, resource: 'namespaces', name: rest[1], subresource: rest[2] }
    return { group, version, resource: rest[2] as string, name: rest[3], subresource: rest[4] }
  }

  function rawWrite(request: ApiRequest, place: NonNullable<ReturnType<typeof placeOf>>): RawWrite {
    const { method } = request
    const verb =
      method === 'POST'
        ? 'create'
        : method === 'PUT'
          ? 'update'
          : method === 'PATCH'
            ? 'patch'
            : place.name === undefined
              ? 'deletecollection'
              : 'delete'
    const query = request.query.toString()
    let body: Json = null
    if (request.body?.kind === 'object') {
      const row = scheme.find(place.group as string, place.version as string, place.resource)
      const target = row?.subresources.find(({ name }) => name === place.subresource) ?? row
      const whole = verb === 'create' || verb === 'update'
      body = (whole && target ? canonical(request.body.object, target) : request.body.object) as Json
    }
    return {
      user: request.user?.name ?? '',
      userAgent: request.headers['user-agent'] ?? '',
      verb,
      uri: query === '' ? request.path : `${request.path}?${query}`,
      code: 0,
      body,
    }
  }

  const clientFor = ({ user, userAgent }: { user: UserInfo; userAgent: string }) =>
    createClient(runtime, inProcessTransport(handler), { user, userAgent })
  const user = clientFor({ user: ADMIN, userAgent: 'user' })
  const observer = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'observer' })

  const watching = createInformerFactory(runtime, observer, signal)
  for (const gvr of [...watchedResources, ...clusterWide, eventsResource]) {
    const saw = (type: string) => (object: KubeObject) => {
      options.saw?.(object)
      const { name, namespace: own = name } = object.metadata
      if (marked && (own === namespace || gvr.resource === 'nodes' || gvr.resource === 'persistentvolumes'))
        states.push({ type, resource: gvr.resource, object })
    }
    watching.informer(gvr, { managedFields: true }).addHandlers({
      added: saw('ADDED'),
      updated: (_, object) => saw('MODIFIED')(object),
      deleted: saw('DELETED'),
    })
  }
  watching.start()
  const many = { maxSteps: 2_000_000 }
  const manager = startControllerManager({
    runtime,
    clientFor,
    rootCa: AUTHORITY,
    signal,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
  })
  await runtime.complete(manager, many)
  const client = clientFor({ user: SCHEDULER, userAgent: 'kube-scheduler' })
  await runtime.complete(startScheduler({ runtime, client, signal }), many)
  const nodes = startNodeStandIn(runtime, clientFor({ user: ADMIN, userAgent: 'kwok' }), signal)
  for (let index = 1; index <= options.nodes; index++) await runtime.complete(nodes.add(`kwok-${index}`))
  if (options.idleNode) await runtime.complete(nodes.add('idle', { runsPods: false }))
  const namespaces = user.resource({ group: '', version: 'v1', resource: 'namespaces' })
  await runtime.complete(namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }))
  await runtime.advance(12_000)

  return {
    namespace,
    runtime,
    user,
    nodes,
    writes,
    states,
    events,
    mark() {
      marked = true
    },
    journal: () => runtime.complete(journalOf(api.storage)),
    async stop() {
      stopping.abort()
      await runtime.complete(api.stop())
    },
  }
}

/** As the API server reads it: with its defaults. */
function canonical(object: KubeObject, row: ResourceRow | SubresourceRow): KubeObject {
  try {
    const { object: decoded } = decodeBody({ kind: 'object', object }, row, { fieldValidation: 'Ignore' })
    return applyDefaults(decoded, row.schema)
  } catch {
    return object
  }
}

export type { ApiResponse }
