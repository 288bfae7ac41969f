/**
 * Acts as KWOK did in the recordings: its nodes report that they are well, a pod on one of them runs at once, a job's pod
 * succeeds a second later, and a pod that is being deleted goes.
 */
import type { Fields, JsonObject, KubeObject } from '../../src/api/object.ts'
import { formatMicroTime, formatTime } from '../../src/base/clock.ts'
import type { Runtime } from '../../src/base/runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { createInformerFactory } from '../../src/client/informer.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const nodes = { group: '', version: 'v1', resource: 'nodes' }
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const heartbeatMs = 10_000
const jobRunsMs = 1000

export interface NodeStandIn {
  /** `runsPods` false: it is well, and leaves its pods alone. */
  add(name: string, how?: { readonly runsPods: boolean }): Promise<void>
  /** This node (or all of them) says and does nothing any more. */
  silence(name?: string): void
  /** It is heard again. */
  speak(name: string): void
}

export function startNodeStandIn(runtime: Runtime, client: Client, signal: AbortSignal): NodeStandIn {
  const { clock } = runtime
  const mine = new Set<string>()
  const quiet = new Set<string>()
  const silent = new AbortController()
  const stop = () => silent.abort()
  signal.addEventListener('abort', stop, { once: true })
  const podsOf = (pod: KubeObject) => client.resource(pods).namespace(pod.metadata.namespace ?? '')
  const nameOf = (pod: KubeObject) => pod.metadata.name ?? ''
  let addresses = 0

  const informers = createInformerFactory(runtime, client, silent.signal)
  const informer = informers.informer(pods)
  const look = (pod: KubeObject) => {
    const nodeName: string = pod['spec'].nodeName
    if (!mine.has(nodeName) || quiet.has(nodeName) || silent.signal.aborted) return
    if (pod.metadata.deletionTimestamp !== undefined) return remove(pod)
    const phase = pod['status']?.phase
    if (phase === 'Pending') run(pod)
    else if (phase === 'Running' && pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Job'))
      clock.setTimer(jobRunsMs, 'stand-in', () => finish(pod))
  }
  informer.addHandlers({ added: look, updated: (_, pod) => look(pod) })
  informers.start()

  function remove(pod: KubeObject): void {
    if (pod.metadata.deletionGracePeriodSeconds === 0) return
    void podsOf(pod)
      .delete(nameOf(pod), { gracePeriodSeconds: 0 })
      .catch(() => {})
  }

  function run(pod: KubeObject): void {
    const now = formatMicroTime(clock.now())
    const ip = `10.0.0.${++addresses}`
    const containers: readonly Fields[] = pod['spec'].containers
    patch(pod, {
      conditions: ['Initialized', 'Ready', 'ContainersReady'].map((type) => ({
        lastTransitionTime: now,
        status: 'True',
        type,
      })),
      containerStatuses: containers.map(({ image, name }) => ({
        image,
        name,
        ready: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
      })) as never,
      initContainerStatuses: null as never,
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      startTime: now,
    })
  }

  function finish(pod: KubeObject): void {
    if (silent.signal.aborted || informer.store.get(`${pod.metadata.namespace}/${nameOf(pod)}`) === undefined) return
    const now = formatMicroTime(clock.now())
    const containers: readonly Fields[] = pod['spec'].containers
    const startedAt = formatTime(Date.parse(pod['status'].startTime))
    patch(pod, {
      containerStatuses: containers.map(({ image, name }) => ({
        image,
        name,
        ready: false,
        restartCount: 0,
        started: false,
        state: { terminated: { exitCode: 0, finishedAt: now, reason: 'Completed', startedAt } },
      })) as never,
      phase: 'Succeeded',
    })
  }

  function patch(pod: KubeObject, status: JsonObject): void {
    void podsOf(pod)
      .patch(nameOf(pod), 'strategic', { status }, { subresource: 'status' })
      .catch(() => {})
  }

  return {
    silence(name) {
      if (name === undefined) silent.abort()
      else quiet.add(name)
    },
    speak: (name) => void quiet.delete(name),
    async add(name, { runsPods } = { runsPods: true }) {
      if (runsPods) mine.add(name)
      await client.resource(nodes).create(nodeObject(name, runsPods))
      const beat = async () => {
        if (silent.signal.aborted) return
        const now = clock.now()
        clock.setTimer(heartbeatMs, 'heartbeat', () => void beat())
        if (quiet.has(name)) return
        await client
          .resource(nodes)
          .patch(name, 'strategic', { status: { conditions: conditionsAt(now) } }, { subresource: 'status' })
          .catch(() => {})
        await renewLease(name, now).catch(() => {})
      }
      const body = { status: statusAt(clock.now()) }
      await client.resource(nodes).patch(name, 'strategic', body, { subresource: 'status' })
      clock.setTimer(0, 'heartbeat', () => void beat())
    },
  }

  async function renewLease(name: string, now: number): Promise<void> {
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(now) }
    const own = client.resource(leases).namespace('kube-node-lease')
    try {
      await own.patch(name, 'merge', { spec })
    } catch {
      await own.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec } as KubeObject)
    }
  }
}

const size = { cpu: '32', memory: '256Gi', pods: '2k' }

function nodeObject(name: string, isKwoks: boolean): KubeObject {
  const given = { cpu: '32', memory: '256Gi', pods: '2000' }
  const metadata = {
    annotations: { ...(isKwoks ? { 'kwok.x-k8s.io/node': 'fake' } : {}) },
    labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' },
    name,
  }
  const applied = { apiVersion: 'v1', kind: 'Node', metadata, status: { allocatable: given, capacity: given } }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      ...metadata,
      labels: { 'beta.kubernetes.io/os': 'linux', ...metadata.labels },
      annotations: {
        ...metadata.annotations,
        'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(applied)}\n`,
        'node.alpha.kubernetes.io/ttl': '0',
      },
    },
    status: { capacity: size, allocatable: size },
  } as KubeObject
}

function conditionsAt(now: number): readonly JsonObject[] {
  const time = formatTime(now)
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
    reason,
    message,
  })
  return [
    condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    condition('NetworkUnavailable', 'False', 'RouteCreated', 'RouteController created a route'),
  ]
}

function statusAt(now: number): JsonObject {
  return {
    capacity: size,
    allocatable: size,
    phase: 'Running',
    conditions: conditionsAt(now) as never,
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: {
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: 'kwok-0.8.0',
      osImage: '',
      containerRuntimeVersion: 'kwok-0.8.0',
      kubeletVersion: 'kwok-0.8.0',
      kubeProxyVersion: 'kwok-0.8.0',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  }
}
