/**
 * What a node of real containers takes: pods until they run and until they have gone, Services until the kernel leads them, and what the node's
 * processes use while nothing happens. Of any cluster by its kubeconfig; see main.ts for skiff's own.
 */
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { EndpointSlice, Node, Pod, Service } from '../../src/api/generated/types.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { isNotFound } from '../../src/api/status.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { createClient } from '../../src/client/transport.ts'
import { machineSeconds, type NodePlace, nodePlace } from './node-place.ts'

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    'node-name': { type: 'string' },
    'node-pid': { type: 'string' },
    processes: { type: 'string', default: 'kubelet|kube-proxy' },
    image: { type: 'string', default: 'example.test/busybox:1' },
    archive: { type: 'string' },
    pods: { type: 'string', default: '100' },
    services: { type: 'string', default: '1000' },
    changes: { type: 'string', default: '20' },
    'idle-seconds': { type: 'string', default: '60' },
    only: { type: 'string', default: 'ctr,pods,services,idle' },
  },
})
const PODS = { group: '', version: 'v1', resource: 'pods' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }
const SERVICES = { group: '', version: 'v1', resource: 'services' }
const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const ENDPOINTS = 5
const AT_ONCE = 20
/** Ends at once when it is asked to. */
const COMMAND = ['/bin/busybox', 'sh', '-c', 'trap "exit 0" TERM; busybox sleep 99999 & wait']

const now = () => performance.now()
const seconds = (since: number) => (now() - since) / 1000
const show = (name: string, text: string) => console.log(`${name.padEnd(44)} ${text}`)

async function all<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

const count = Number(values.pods)
const nodeName = values['node-name'] ?? ''
const namespace = `bench-${process.pid}`
const wanted = new Set(values.only.split(','))

const podOf = (i: number, set: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${set}-${i}`, labels: { set } },
  spec: {
    nodeName,
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'c', image: values.image, imagePullPolicy: 'Never', command: [...COMMAND] }],
  },
})

/** Resolves with the number of milliseconds until the informer's pods of the set are as wanted. */
function podsAre(client: Client, runtime: ReturnType<typeof liveRuntime>, signal: AbortSignal) {
  const factory = createInformerFactory(runtime, client, signal)
  const pods = factory.informer<Pod>(PODS, { fieldSelector: `spec.nodeName=${nodeName}` })
  let look = () => {}
  pods.addHandlers({ added: () => look(), updated: () => look(), deleted: () => look() })
  factory.start()
  const inSet = (set: string) => pods.store.list().filter(({ metadata }) => metadata.labels?.['set'] === set)
  const until = (done: () => boolean) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (done()) resolve()
      }
      look()
    })
  return {
    synced: factory.whenSynced(signal),
    running: (set: string) =>
      until(() => inSet(set).filter(({ status }) => status?.phase === 'Running').length === count),
    gone: (set: string) => until(() => inSet(set).length === 0),
  }
}

async function measurePods(client: Client, place: NodePlace, seen: ReturnType<typeof podsAre>): Promise<void> {
  const pods = client.resource<Pod>(PODS).namespace(namespace)
  // Once to warm up: what is compiled, cached and created once is.
  for (const set of ['warm', 'pod']) {
    const isMeasured = set === 'pod'
    const names = Array.from({ length: count }, (_, i) => i)
    let [cpu, own, from] = [machineSeconds(), place.usage().cpuSeconds, now()]
    let asked = isMeasured ? await askedBy(client) : new Map<string, number>()
    await all(names, (i) => pods.create(podOf(i, set)))
    await seen.running(set)
    if (isMeasured) {
      show(
        `pods from create to Running`,
        `${(count / seconds(from)).toFixed(1)}/s (${count} in ${seconds(from).toFixed(1)} s)`,
      )
      tellCpu(cpu, own, place)
      await tellAsked(client, asked)
      if (wanted.has('idle')) await measureIdle(place)
    }
    ;[cpu, own, from] = [machineSeconds(), place.usage().cpuSeconds, now()]
    if (isMeasured) asked = await askedBy(client)
    await all(names, (i) => pods.delete(`${set}-${i}`))
    await seen.gone(set)
    if (isMeasured) {
      show(
        `pods from delete to gone`,
        `${(count / seconds(from)).toFixed(1)}/s (${count} in ${seconds(from).toFixed(1)} s)`,
      )
      tellCpu(cpu, own, place)
      await tellAsked(client, asked)
    }
  }
}

/** What the node's kubelet has asked so far, by its own metrics: of the container runtime, by operation, and of API servers. */
async function askedBy(client: Client): Promise<ReadonlyMap<string, number>> {
  const { body } = await client.raw('GET', `/api/v1/nodes/${nodeName}/proxy/metrics`)
  const asked = new Map<string, number>()
  for (const [, name, labels = '', value] of body.matchAll(
    /^(kubelet_runtime_operations_total|rest_client_requests_total)\{([^}]*)\} (\S+)$/gm,
  )) {
    const isRuntime = name === 'kubelet_runtime_operations_total'
    const operation = isRuntime ? (/operation_type="([^"]*)"/.exec(labels)?.[1] ?? '') : 'requests of the API server'
    asked.set(operation, (asked.get(operation) ?? 0) + Number(value))
  }
  return asked
}

async function tellAsked(client: Client, before: ReadonlyMap<string, number>): Promise<void> {
  const each = [...(await askedBy(client))]
    .map(([operation, total]) => [operation, (total - (before.get(operation) ?? 0)) / count] as const)
    .filter(([, times]) => times >= 0.05)
    .sort(([, a], [, b]) => b - a)
  show('  asked for each', each.map(([operation, times]) => `${times.toFixed(1)} ${operation}`).join(', '))
}

function tellCpu(cpu: number, own: number, place: NodePlace): void {
  const each = (total: number) => `${((total / count) * 1000).toFixed(0)} ms`
  show(
    '  processor time for each',
    `${each(machineSeconds() - cpu)} of the machine, ${each(place.usage().cpuSeconds - own)} of them of the node's processes`,
  )
}

async function measureIdle(place: NodePlace): Promise<void> {
  const [forSeconds, from] = [Number(values['idle-seconds']), place.usage()]
  await pause(forSeconds * 1000)
  const { cpuSeconds, residentMiB, processes } = place.usage()
  const percent = ((cpuSeconds - from.cpuSeconds) / forSeconds) * 100
  show(
    `idle with ${count} pods`,
    `${percent.toFixed(1)}% of a processor, ${residentMiB.toFixed(0)} MiB (${processes} processes)`,
  )
}

/** Containers without any cluster: what containerd takes by its own client, as many at once. */
async function measureCtr(place: NodePlace): Promise<void> {
  const ctr = ['ctr', '-n', 'k8s.io'] as const
  const run = (...args: readonly string[]) =>
    new Promise<void>((resolve, reject) => {
      const child = place.start(ctr[0], ...ctr.slice(1), ...args)
      child.stdout?.resume()
      child.stderr?.resume()
      child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`ctr ${args.join(' ')}: ${code}`))))
    })
  const names = Array.from({ length: count }, (_, i) => `bench-${process.pid}-${i}`)
  let [cpu, from] = [machineSeconds(), now()]
  await all(names, (name) => run('run', '-d', '--null-io', values.image, name, ...COMMAND))
  show('containers by ctr, started', `${(count / seconds(from)).toFixed(1)}/s`)
  show('  processor time for each', `${(((machineSeconds() - cpu) / count) * 1000).toFixed(0)} ms of the machine`)
  ;[cpu, from] = [machineSeconds(), now()]
  await all(names, (name) => run('task', 'rm', '-f', name).then(() => run('container', 'rm', name)))
  show('containers by ctr, killed and removed', `${(count / seconds(from)).toFixed(1)}/s`)
  show('  processor time for each', `${(((machineSeconds() - cpu) / count) * 1000).toFixed(0)} ms of the machine`)
}

const serviceOf = (i: number): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `s-${i}` },
  spec: { ports: [{ port: 80, protocol: 'TCP' }] },
})

const sliceOf = (i: number, addresses: readonly string[], port: number): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: `s-${i}`, labels: { 'kubernetes.io/service-name': `s-${i}` } },
  addressType: 'IPv4',
  ports: [{ name: '', port, protocol: 'TCP' }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
})

async function measureServices(client: Client, place: NodePlace, host: string): Promise<void> {
  const total = Number(values.services)
  const services = client.resource<Service>(SERVICES).namespace(namespace)
  const slices = client.resource<EndpointSlice>(SLICES).namespace(namespace)
  const probe = place.start(process.execPath, new URL('probe.mjs', import.meta.url).pathname, host)
  probe.stderr?.pipe(process.stderr)
  const lines = createInterface({ input: probe.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const said = async () => String((await lines.next()).value)
  const leads = async (address: string, server: number) => {
    probe.stdin?.write(`${address} 80 ${server}\n`)
    return Number(await said())
  }
  try {
    const ports = (await said()).split(' ').map(Number)
    const last = total - 1
    const dummies = (i: number) =>
      Array.from({ length: ENDPOINTS }, (_, k) => `198.18.${(i >> 6) & 255}.${((i & 63) << 2) + k}`)
    const [own, cpu] = [place.usage().cpuSeconds, machineSeconds()]
    const begun = Date.now()
    await all(
      Array.from({ length: last }, (_, i) => i),
      async (i) => {
        await services.create(serviceOf(i))
        await slices.create(sliceOf(i, dummies(i), 8080))
      },
    )
    const created = await services.create(serviceOf(last))
    const address = created.spec?.clusterIP ?? ''
    const written = Date.now()
    await slices.create(sliceOf(last, [host], ports[0] ?? 0))
    const at = await leads(address, 0)
    show(
      `${total} Services of ${ENDPOINTS} endpoints, programmed`,
      `${at - begun} ms after the first was created, ${at - written} after the last`,
    )
    show(
      '  processor time',
      `${(place.usage().cpuSeconds - own).toFixed(2)} s of the node's processes, ${(machineSeconds() - cpu).toFixed(2)} of the machine`,
    )
    const times: number[] = []
    const before = place.usage().cpuSeconds
    const changes = Number(values.changes)
    for (let i = 1; i <= changes; i++) {
      await pause(1500)
      const slice = await slices.get(`s-${last}`)
      const server = i % 2
      const changed = Date.now()
      await slices.update({ ...slice, ports: [{ name: '', port: ports[server] ?? 0, protocol: 'TCP' }] })
      times.push((await leads(address, server)) - changed)
    }
    times.sort((a, b) => a - b)
    show(
      '  after one endpoint changes',
      `${times[times.length >> 1]} ms in the median, ${times.at(-1)} at most (${changes} changes)`,
    )
    show(
      '  processor time for each change',
      `${(((place.usage().cpuSeconds - before) / changes) * 1000).toFixed(0)} ms of the node's processes`,
    )
  } finally {
    probe.stdin?.end()
    probe.kill()
  }
}

async function main(): Promise<void> {
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, values.kubeconfig ?? '')
  const client = createClient(runtime, transport, { userAgent: 'skiff-bench' })
  const place = nodePlace(Number(values['node-pid'] ?? process.pid), new RegExp(values.processes))
  const stop = new AbortController()
  if (values.archive !== undefined) place.run('ctr', '-n', 'k8s.io', 'images', 'import', values.archive)
  if (wanted.has('ctr')) await measureCtr(place)
  const namespaces = client.resource(NAMESPACES)
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  try {
    await until(() => client.resource<KubeObject>(ACCOUNTS).namespace(namespace).get('default'))
    const node = await client.resource<Node>(NODES).get(nodeName)
    const host = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? ''
    if (wanted.has('pods')) {
      const seen = podsAre(client, runtime, stop.signal)
      await seen.synced
      await measurePods(client, place, seen)
    }
    if (wanted.has('services')) await measureServices(client, place, host)
  } finally {
    stop.abort()
    await namespaces.delete(namespace)
  }
}

async function until(look: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const found = await look().catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
    if (found !== undefined) return
    await pause(50)
  }
}

await main()
process.exit(0)
