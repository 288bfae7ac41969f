import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, ConnectionInfo } from '../../api/request.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Client } from '../../client/client.ts'
import type { Kubelet } from '../kubelet.ts'
import type { ContainerRuntime, ContainerUsage } from '../runtimes/runtime.ts'
import { subresourcesOf } from './access.ts'
import { handlerOf, type KubeletServerOptions, serveReadOnly } from './server.ts'
import { resourceMetricsText, summary } from './usage.ts'

const directory = mkdtempSync(join(tmpdir(), 'skiff-server-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const logPath = join(directory, '0.log')
writeFileSync(logPath, '2026-01-02T03:04:05Z stdout F hello\n')

const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'ns', uid: 'u' },
  spec: { containers: [{ name: 'c' }] },
}

/** An API server that knows two tokens, and lets `admin` do everything and `reader` read what nodes use. */
function stage(state: 'running' | 'exited' | 'none' = 'running', more: Partial<KubeletServerOptions> = {}) {
  const reviews: KubeObject[] = []
  const client = {
    resource: () => ({
      async create(review: KubeObject) {
        reviews.push(review)
        const { token, user, resourceAttributes } = review['spec']
        const status =
          review.kind === 'TokenReview'
            ? { authenticated: token !== 'bad', user: { username: token, groups: ['g'] } }
            : { allowed: user === 'admin' || (user === 'reader' && resourceAttributes.subresource === 'stats') }
        return { ...review, status }
      },
    }),
  } as unknown as Client
  const container = { id: 'c1', metadata: { name: 'c', attempt: 0 }, state, logPath }
  const containerRuntime = {
    real: {
      usage: async () => [],
      checkpoint: async (_id: string, location: string) => writeFileSync(location, 'memory'),
    },
  } as unknown as ContainerRuntime
  const kubelet = {
    containerRuntime,
    pods: { get: () => pod, list: () => [pod] },
    activePods: () => [pod],
    working: () => [{ pod, phase: 'syncing' as const, isDesired: true }],
    shutdownTimes: { start: 1_795_713_611_265, end: 1_795_713_632_781 },
    runtimeStatus: () => ({
      uid: 'u',
      ips: [],
      sandboxes: state === 'running' ? [{ id: 's1', state: 'ready' }] : [],
      containers: state === 'none' ? [] : [container],
    }),
    podStatus: () => ({
      phase: 'Running',
      containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ContainerCreating' } } }],
    }),
  } as unknown as Kubelet
  const runtime = liveRuntime()
  const { real } = containerRuntime
  const tls = { cert: '', key: '', clientCa: '' }
  const options = { runtime, client, nodeName: 'n', host: '127.0.0.1', tls, kubelet: () => kubelet, real: real! }
  const handler = handlerOf({ ...options, ...more })
  const ask = async (target: string, token?: string, method = 'GET', connection?: ConnectionInfo) => {
    const { pathname, searchParams } = new URL(target, 'https://kubelet')
    const request = {
      method,
      path: pathname,
      query: searchParams,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: new AbortController().signal,
      ...(connection === undefined ? {} : { connection }),
    } as ApiRequest
    return said(await handler(request))
  }
  return { ask, reviews, options }
}

async function said(response: ApiResponse): Promise<readonly [number, string]> {
  const parts: Uint8Array[] = []
  if (response.kind === 'bytes') parts.push(...response.bytes)
  if (response.kind === 'stream') for await (const chunk of response.chunks) parts.push(chunk)
  return [response.status, Buffer.concat(parts).toString()]
}

test('who is not known is told so, who may not is told what he lacks, and nothing else', async () => {
  const { ask, reviews } = stage()
  assert.deepEqual(await ask('/pods'), [401, 'Unauthorized'])
  assert.deepEqual(await ask('/pods', 'bad'), [401, 'Unauthorized'])
  assert.deepEqual(await ask('/exec/ns/p/c?command=id', 'reader', 'POST'), [
    403,
    'Forbidden (user=reader, verb=create, resource=nodes, subresource(s)=[proxy])\n',
  ])
  const last = reviews.at(-1)?.['spec']
  assert.deepEqual(last.resourceAttributes, {
    verb: 'create',
    group: '',
    version: 'v1',
    resource: 'nodes',
    subresource: 'proxy',
    name: 'n',
  })
  assert.deepEqual([last.user, last.groups], ['reader', ['g']])
})

test('a client that shows nothing is anonymous where it is let in, and one with a wrong token is not; it is told what it lacks', async () => {
  const accessRules = { anonymous: true, tokens: true, allowsAll: false }
  const { ask } = stage('running', { accessRules })
  const lacks = (verb: string, subresources: string) => [
    403,
    `Forbidden (user=system:anonymous, verb=${verb}, resource=nodes, subresource(s)=[${subresources}])\n`,
  ]
  assert.deepEqual(await ask('/pods'), lacks('get', 'pods proxy'))
  assert.deepEqual(await ask('/metrics'), lacks('get', 'metrics'))
  assert.deepEqual(await ask('/healthz'), lacks('get', 'healthz proxy'))
  assert.deepEqual(await ask('/exec/ns/p/c?command=id', undefined, 'POST'), lacks('create', 'proxy'))
  assert.deepEqual(await ask('/pods', 'bad'), [401, 'Unauthorized'])
  const tokenless = stage('running', { accessRules: { ...accessRules, tokens: false } })
  assert.deepEqual(await tokenless.ask('/metrics', 'admin'), lacks('get', 'metrics'))
})

test('one with a certificate that did not verify is not anonymous; a token may still prove it', async () => {
  const { ask } = stage('running', { accessRules: { anonymous: true, tokens: true, allowsAll: true } })
  const foreign = { remoteAddress: '', certificateError: 'CERT_HAS_EXPIRED' }
  assert.deepEqual(await ask('/pods', undefined, 'GET', foreign), [401, 'Unauthorized'])
  assert.deepEqual(await ask('/pods', 'bad', 'GET', foreign), [401, 'Unauthorized'])
  assert.equal((await ask('/pods', 'reader', 'GET', foreign))[0], 200)
  assert.equal((await ask('/pods', undefined, 'GET', { remoteAddress: '' }))[0], 200)
})

test('with AlwaysAllow each known client may do everything, and the API server is not asked', async () => {
  const accessRules = { anonymous: true, tokens: true, allowsAll: true }
  const { ask, reviews } = stage('running', { accessRules })
  assert.equal((await ask('/pods'))[0], 200)
  assert.equal((await ask('/pods', 'bad'))[0], 401)
  assert.deepEqual(
    reviews.map(({ kind }) => kind),
    ['TokenReview'],
  )
  const known = stage('running', { accessRules: { ...accessRules, anonymous: false } })
  assert.deepEqual(await known.ask('/pods'), [401, 'Unauthorized'])
  assert.equal((await known.ask('/pods', 'reader'))[0], 200)
})

const DEBUGGING = [
  ...['/runningpods/', '/logs/', '/debug/pprof/', '/containerLogs/ns/p/c', '/exec/ns/p/c?command=ls', '/run/ns/p/c'],
  ...['/attach/ns/p/c', '/portForward/ns/p'],
]
const DISABLED = [405, 'Debug endpoints are disabled.\n']

test('without debugging handlers it answers what machines ask, and neither logs nor sessions', async () => {
  const { ask } = stage('running', { debugging: false })
  for (const path of DEBUGGING) assert.deepEqual(await ask(path, 'admin'), DISABLED, path)
  assert.deepEqual(await ask('/exec/ns/p/c?command=ls', 'admin', 'POST'), DISABLED)
  for (const path of ['/configz', '/nope', '/'])
    assert.deepEqual(await ask(path, 'admin'), [404, '404 page not found\n'])
  for (const path of ['/pods', '/metrics', '/healthz', '/stats/summary'])
    assert.equal((await ask(path, 'admin'))[0], 200, path)
})

test('the read-only port answers the same to all, by plain HTTP, until it is stopped', async (t) => {
  const { options } = stage()
  const free = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
  const stop = await serveReadOnly({ ...options, configuration: () => ({}), readOnlyPort: free })
  t.after(stop)
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${free}${path}`, { method })
    return [response.status, await response.text()] as const
  }
  assert.match((await ask('/pods'))[1], /^\{"kind":"PodList"/)
  for (const path of ['/metrics', '/healthz', '/stats/summary']) assert.equal((await ask(path))[0], 200, path)
  for (const path of DEBUGGING) assert.deepEqual(await ask(path), DISABLED, path)
  assert.deepEqual(await ask('/exec/ns/p/c?command=ls', 'POST'), DISABLED)
  assert.equal((await ask('/configz'))[0], 404)
  await stop()
  await assert.rejects(ask('/pods'))
  await (await serveReadOnly(options))()
})

test('a read-only port that is taken is told of, and tried again until it is free', async (t) => {
  const lines: string[] = []
  const runtime = simulatedRuntime(1, { log: { level: 0, write: (line) => lines.push(line) } })
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port: readOnlyPort } = holder.address() as AddressInfo
  const stop = await serveReadOnly({ ...stage().options, runtime, readOnlyPort })
  t.after(stop)
  await new Promise((resolve) => holder.close(resolve))
  assert.match(lines.join(), /Failed to start the read-only server.*EADDRINUSE/)
  await runtime.advance(5000)
  const isServed = () =>
    fetch(`http://127.0.0.1:${readOnlyPort}/healthz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  while (!(await isServed())) await new Promise(setImmediate)
})

test('answers of the API server are kept, so that it is asked once', async () => {
  const { ask, reviews } = stage()
  for (let times = 0; times < 3; times++) assert.equal((await ask('/stats/summary', 'reader'))[0], 200)
  assert.deepEqual(
    reviews.map(({ kind }) => kind),
    ['TokenReview', 'SubjectAccessReview'],
  )
})

test('the kubelet counts its pods and containers at /metrics', async () => {
  const { ask } = stage()
  const [status, text] = await ask('/metrics', 'admin')
  assert.equal(status, 200)
  assert.match(text, /^kubelet_node_name\{node="n"\} 1$/m)
  assert.match(text, /^kubelet_running_pods 1$/m)
  assert.match(text, /^kubelet_running_containers\{container_state="running"\} 1$/m)
  assert.match(text, /^process_start_time_seconds /m)
  assert.match(text, /^kubelet_desired_pods\{static=""\} 1$/m)
  assert.match(text, /^kubelet_active_pods\{static="true"\} 0$/m)
  assert.match(text, /^kubelet_mirror_pods 0$/m)
  assert.match(text, /^kubelet_graceful_shutdown_end_time_seconds 1\.795713632781e\+09$/m)
  assert.equal((await ask('/metrics', 'reader'))[0], 403)
})

test('each path counts as the subresource that Kubernetes has for it', () => {
  assert.deepEqual(
    [
      '/stats/summary',
      '/metrics/resource',
      '/logs/x',
      '/pods',
      '/healthz',
      '/containerLogs/a/b/c',
      '/exec/a/b/c',
      '/',
    ].map(subresourcesOf),
    [['stats'], ['metrics'], ['log'], ['pods', 'proxy'], ['healthz', 'proxy'], ['proxy'], ['proxy'], ['proxy']],
  )
})

test('logs of a container, and why there are none', async () => {
  const { ask } = stage('exited')
  assert.deepEqual(await ask('/containerLogs/ns/p/c', 'admin'), [200, 'hello\n'])
  assert.deepEqual(await ask('/containerLogs/ns/p/c?timestamps=true&tailLines=1', 'admin'), [
    200,
    '2026-01-02T03:04:05.000000000Z hello\n',
  ])
  assert.deepEqual(await ask('/containerLogs/ns/q/c', 'admin'), [404, 'pod "q" does not exist'])
  assert.deepEqual(await ask('/containerLogs/ns/p/d', 'admin'), [404, 'container "d" not found in pod "p"'])
  assert.deepEqual(await ask('/containerLogs/ns/p/c?previous=true', 'admin'), [
    400,
    'previous terminated container "c" in pod "p" not found',
  ])
  assert.equal((await ask('/containerLogs/ns/p/c?tailLines=x', 'admin'))[0], 400)
  assert.equal((await ask('/containerLogs/ns/%ff/c', 'admin'))[0], 400)
  assert.deepEqual(await stage('none').ask('/containerLogs/ns/p/c', 'admin'), [
    400,
    'container "c" in pod "p" is waiting to start: ContainerCreating',
  ])
})

test('a session needs a container that runs', async () => {
  const { ask } = stage('exited')
  assert.deepEqual(await ask('/exec/ns/p/c?command=id&output=1', 'admin', 'POST'), [500, 'container not found ("c")'])
  assert.deepEqual(await ask('/attach/ns/p/c?output=1', 'admin', 'POST'), [500, 'container c not found in pod p_ns'])
  assert.deepEqual(await ask('/exec/ns/q/c?command=id&output=1', 'admin', 'POST'), [404, 'pod does not exist'])
  assert.deepEqual(await ask('/portForward/ns/p', 'admin', 'POST'), [500, 'sandbox is not running'])
  assert.equal((await ask('/nothing', 'admin'))[0], 404)
})

test('pods are told with the status they have now', async () => {
  const { items } = JSON.parse((await stage().ask('/pods', 'admin'))[1])
  assert.deepEqual([items.length, items[0].metadata.name, items[0].status.phase], [1, 'p', 'Running'])
})

test('what is used is told of containers, summed up for pods, and of the node', () => {
  const one = (name: string, cpu: number): ContainerUsage => ({
    podUid: 'u',
    podName: 'p',
    podNamespace: 'ns',
    name,
    time: 1000,
    cpuNanoCores: cpu,
    cpuNanoSeconds: cpu * 1e9,
    workingSetBytes: 10,
    usageBytes: 20,
    rssBytes: 5,
    rootfsBytes: 7,
    rootfsInodes: 1,
  })
  const node = { cpuSeconds: 9, workingSetBytes: 100, availableBytes: 200, processes: { maxpid: 9, curproc: 1 } }
  const lines = resourceMetricsText([one('a', 1), one('b', 2)], node, 2000).split('\n')
  assert.ok(lines.includes('container_cpu_usage_seconds_total{container="b",namespace="ns",pod="p"} 2 1000'))
  assert.ok(lines.includes('pod_cpu_usage_seconds_total{namespace="ns",pod="p"} 3 1000'))
  assert.ok(lines.includes('pod_memory_working_set_bytes{namespace="ns",pod="p"} 20 1000'))
  assert.ok(lines.includes('node_cpu_usage_seconds_total 9 2000'))
  const { pods } = summary('n', [one('a', 1), one('b', 2)], node, 2000) as {
    pods: { cpu: object; containers: object[] }[]
  }
  assert.deepEqual(pods[0]?.cpu, { time: '1970-01-01T00:00:01Z', usageNanoCores: 3, usageCoreNanoSeconds: 3e9 })
  assert.equal(pods[0]?.containers.length, 2)
  const memory = {
    ...{ usage: 70, workingSet: 60, rss: 30, cache: 0, mapped: 0, swap: 4, limit: 0, swapLimit: 9 },
    ...{ activeFile: 0, inactiveFile: 10, dirty: 0, writeback: 0 },
    ...({ pageFaults: [1, 2], majorPageFaults: [0, 0] } as const),
  }
  const usage = { cpuSeconds: 8, memory, madeAt: 3000, processes: 2, threads: 2, pids: [] }
  const group = { container: '', id: '/', image: '', name: '', namespace: '', pod: '', usage }
  const groups = [
    group,
    { ...group, id: '/k/b' },
    { ...group, id: '/k' },
    { ...group, id: '/k/podu', namespace: 'ns', pod: 'p' },
  ]
  const measured = resourceMetricsText([one('a', 1)], node, 2000, groups).split('\n')
  assert.ok(measured.includes('node_memory_working_set_bytes 60 2000'), 'of the group of the machine')
  assert.ok(measured.includes('pod_cpu_usage_seconds_total{namespace="ns",pod="p"} 8 2000'), 'with its sandbox')
  assert.ok(measured.includes('pod_swap_usage_bytes{namespace="ns",pod="p"} 4 2000'))
  assert.ok(measured.includes('resource_scrape_error 0'))
  const whole = summary('n', [one('a', 1)], node, 2000, [], groups) as { node: Record<string, unknown> }
  assert.deepEqual(whole.node['memory'], {
    ...{ time: '1970-01-01T00:00:02Z', usageBytes: 70, workingSetBytes: 60, rssBytes: 30, availableBytes: 240 },
    ...{ pageFaults: 1, majorPageFaults: 0 },
  })
  const [shared] = whole.node['systemContainers'] as { name: string; startTime: string }[]
  assert.deepEqual([shared?.name, shared?.startTime], ['pods', '1970-01-01T00:00:03Z'])
  assert.deepEqual(whole.node['rlimit'], { time: '1970-01-01T00:00:02Z', maxpid: 9, curproc: 1 })
})

test('a checkpoint is written below a directory that is made for it, and its timeout is a whole number', async () => {
  const checkpoints = join(directory, 'kubelet', 'checkpoints')
  const { ask } = stage('running', { checkpoints })
  const [status, body] = await ask('/checkpoint/ns/p/c', 'admin', 'POST')
  assert.equal(status, 200, body)
  assert.equal(readFileSync(JSON.parse(body).items[0], 'utf8'), 'memory')
  assert.equal(statSync(checkpoints).mode & 0o777, 0o700)
  for (const timeout of ['x', '1.5', '-1', ''])
    assert.equal((await ask(`/checkpoint/ns/p/c?timeout=${timeout}`, 'admin', 'POST'))[0], 500)
})

test("the command line that is told is this kubelet's, not that of the process it is in", async () => {
  const { ask } = stage('running', { flags: { 'node-ip': '10.0.0.1' } })
  assert.deepEqual(await ask('/debug/pprof/cmdline', 'admin'), [200, 'kubelet\0--node-ip=10.0.0.1'])
})

test('streams of a session are those that kubelets have names for, and each is asked for by 1', async () => {
  const { ask } = stage('running')
  for (const query of ['stdin=1&stdout=1&stderr=1', 'input=true&output=true', 'error=1&tty=1', ''])
    assert.deepEqual(
      await ask(`/exec/ns/p/c?command=id&${query}`, 'admin', 'POST'),
      [400, 'you must specify at least 1 of stdin, stdout, stderr'],
      query,
    )
})
