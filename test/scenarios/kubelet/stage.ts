/** One node on the simulated clock, as the recordings of scenarios/kubelet had it: an API server and our kubelet, no controllers. */

import type { KeptRecord } from '../../../src/api/journal.ts'
import type { Json, JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { ApiRequest, Handler } from '../../../src/api/request.ts'
import { sleep } from '../../../src/base/clock.ts'
import type { SimulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { stoppable } from '../../../src/base/stoppable.ts'
import { createInformerFactory } from '../../../src/client/informer.ts'
import { type ClientIdentity, createClient, inProcessTransport } from '../../../src/client/transport.ts'
import { startControllerManager } from '../../../src/controllers/manager.ts'
import { type Kubelet, type KubeletOptions, startKubelet } from '../../../src/kubelet/kubelet.ts'
import { createPodAddresses, podCIDROf } from '../../../src/kubelet/pod-addresses.ts'
import type { ContainerRuntime } from '../../../src/kubelet/runtimes/runtime.ts'
import { createSimulatedRuntime } from '../../../src/kubelet/runtimes/simulated/simulated-runtime.ts'
import { startScheduler } from '../../../src/scheduler/scheduler.ts'
import { AUTHORITY } from '../../authority.ts'
import { ADMIN, journalOf, startTestApi, type TestAnswer } from '../../harness.ts'

export const namespace = 't-kubelet'
export const NODE = 'node-1'

export interface NodeWrite {
  readonly user: string
  readonly verb: string
  readonly uri: string
  readonly code: number
  readonly body: Json
}

export interface NodeStage {
  readonly runtime: SimulatedRuntime
  readonly kubelet: Kubelet
  /** The kubelet stops. */
  stopKubelet(): void
  /** A new kubelet starts; after a `reboot` no container runs any more. */
  startKubelet(reboot: boolean): Promise<void>
  /** Of the kubelet, about pods and tokens. */
  readonly writes: NodeWrite[]
  readonly states: { readonly type: string; readonly object: KubeObject }[]
  readonly events: JsonObject[]
  /** Asks as kubernetes-admin, by PATCH with a merge patch; the runtime runs until the answer is there. */
  ask(method: string, path: string, body?: unknown): Promise<TestAnswer>
  /** Creates the pod and binds it to the node, as user and scheduler do. */
  run(pod: KubeObject): Promise<void>
  /** What the store keeps of the ends of objects. */
  journal(): Promise<readonly KeptRecord[]>
  /** What the API server holds; undefined when it is gone. */
  pod(name: string): KubeObject | undefined
  stop(): Promise<void>
}

export interface NodeStageOptions {
  /** The controller manager and the scheduler run too. */
  readonly controllers?: boolean
  /** What stands between the kubelet and its containers. */
  readonly around?: (containers: ContainerRuntime) => ContainerRuntime
  /** What the node measures of itself, and when that is too little. */
  readonly eviction?: NonNullable<KubeletOptions['eviction']>
  /** Its Node is made by others. */
  readonly registersItself?: false
  /** What holds its machine's shutdown up. */
  readonly shutdown?: KubeletOptions['shutdown']
  /** Where pods lie that need no API server. */
  readonly staticPods?: KubeletOptions['staticPods']
  /** Throws where a write of the kubelet shall fail. It is asked before the write is done and after. */
  readonly fault?: (verb: string, path: string, when: 'before' | 'after') => void
  /** What a read of the kubelet in the namespace waits for. */
  readonly hold?: (path: string) => Promise<void> | undefined
}

export async function startNodeStage(runtime: SimulatedRuntime, options: NodeStageOptions = {}): Promise<NodeStage> {
  const many = { maxSteps: 2_000_000 }
  const api = await runtime.complete(startTestApi(runtime), many)
  for (const name of [namespace, 'kube-node-lease']) await runtime.complete(api.namespace(name), many)
  const stopping = new AbortController()
  const { signal } = stopping
  const writes: NodeWrite[] = []
  const states: NodeStage['states'] = []
  const events: JsonObject[] = []
  const pods = new Map<string, KubeObject>()

  const handler: Handler = async (request) => {
    const [, , , , own, resource] = request.path.split('/')
    if (own === namespace && request.method === 'GET') await options.hold?.(request.path)
    if (request.method === 'GET' || own !== namespace) return api.handler(request)
    const body = (request.body?.kind === 'object' ? request.body.object : null) as Json
    if (resource === 'events') {
      if (request.method === 'POST') events.push(body as JsonObject)
      return api.handler(request)
    }
    const verb = { POST: 'create', PATCH: 'patch', DELETE: 'delete', PUT: 'update' }[request.method] ?? ''
    options.fault?.(verb, request.path, 'before')
    const answer = request.path.endsWith('/token') ? tokenAnswer(request) : await api.handler(request)
    options.fault?.(verb, request.path, 'after')
    writes.push({ user: request.user?.name ?? '', verb, uri: request.path, code: answer.status, body })
    return answer
  }

  const transport = inProcessTransport(handler)
  const observer = createInformerFactory(
    runtime,
    createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'observer' }),
    signal,
  )
  const note = (type: string) => (object: KubeObject) => {
    states.push({ type, object })
    if (type === 'DELETED') pods.delete(object.metadata.name ?? '')
    else pods.set(object.metadata.name ?? '', object)
  }
  observer.informer({ group: '', version: 'v1', resource: 'pods' }).addHandlers({
    added: note('ADDED'),
    updated: (_, object) => note('MODIFIED')(object),
    deleted: note('DELETED'),
  })
  observer.start()
  const ask = (method: string, path: string, body?: unknown) => {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : undefined
    return runtime.complete(api.request(method, path, body, headers), many)
  }
  await ask('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-root-ca.crt' },
    data: { 'ca.crt': 'CA' },
  })
  const user = { name: `system:node:${NODE}`, groups: ['system:nodes', 'system:authenticated'] }
  const client = createClient(runtime, transport, { user, userAgent: 'kubelet' })
  if (options.controllers) {
    const clientFor = (identity: ClientIdentity) => createClient(runtime, transport, identity)
    await runtime.complete(startControllerManager({ runtime, clientFor, rootCa: AUTHORITY, signal }), many)
    const scheduler = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }
    const own = clientFor({ user: scheduler, userAgent: 'kube-scheduler' })
    await runtime.complete(startScheduler({ runtime, client: own, signal }), many)
  }
  let running = new AbortController()
  const newMachine = () =>
    (options.around ?? ((same) => same))(createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0))))
  let containerRuntime = newMachine()
  const startAnew = () => {
    running = new AbortController()
    const { signal: own } = running
    const { staticPods = [], eviction, shutdown, registersItself = true } = options
    const starting = startKubelet({
      ...(eviction === undefined ? {} : { eviction }),
      ...(shutdown === undefined ? {} : { shutdown }),
      runtime: stoppable(runtime, own),
      client,
      nodeName: NODE,
      signal: own,
      containerRuntime,
      staticPods,
      registersItself,
    })
    return runtime.complete(registersItself ? starting : madeByOthers(starting), many)
  }
  /** The Node comes a while after the kubelet. */
  async function madeByOthers(starting: Promise<Kubelet>): Promise<Kubelet> {
    await sleep(runtime.clock, 5000)
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }
    const { code } = await api.request('POST', '/api/v1/nodes', node)
    if (code !== 201) throw new Error(`the kubelet has made a Node by itself: ${code}`)
    return starting
  }

  let kubelet = await startAnew()
  // Nobody else is there to do it.
  await ask('PUT', `/api/v1/nodes/${NODE}`, await withoutTaints())

  async function withoutTaints(): Promise<unknown> {
    const { body } = await ask('GET', `/api/v1/nodes/${NODE}`)
    return { ...body, spec: {} }
  }

  const podsPath = `/api/v1/namespaces/${namespace}/pods`
  return {
    runtime,
    get kubelet() {
      return kubelet
    },
    stopKubelet: () => running.abort(),
    async startKubelet(reboot) {
      if (reboot) containerRuntime = newMachine()
      kubelet = await startAnew()
    },
    writes,
    states,
    events,
    ask,
    async run(pod) {
      const name = pod.metadata.name
      const created = await ask('POST', podsPath, pod)
      if (created.code !== 201) throw new Error(created.text)
      const target = { kind: 'Node', name: NODE }
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, uid: created.body.metadata.uid }, target }
      const bound = await ask('POST', `${podsPath}/${name}/binding`, binding)
      if (bound.code !== 201) throw new Error(bound.text)
    },
    journal: () => runtime.complete(journalOf(api.storage)),
    pod: (name) => pods.get(name),
    async stop() {
      running.abort()
      stopping.abort()
      await runtime.complete(api.stop(), many)
    },
  }
}

/** The API server under test signs no tokens. */
function tokenAnswer(request: ApiRequest) {
  const object = request.body?.kind === 'object' ? request.body.object : undefined
  if (object === undefined) throw new Error('a TokenRequest was expected')
  return { kind: 'object', status: 201, object: { ...object, status: { token: 'token' } } } as const
}
