/**
 * npm run bench -- --overload: what others notice of a crowd that asks for more than the server can do. Clients of several users
 * patch, read and list pods as fast as they are answered, first 64 of them, then as many as --connections says (640); beside
 * them, ten times a second each, on connections of their own: a look at /livez, a node's Lease renewed by that node, an administrator's
 * read, and one by a new connection each time. At the end SIGTERM is sent amid the crowd.
 *
 *   --connections 640      how many clients there are in the crowd
 *   --seconds 20           how long the crowd lasts, each of the two
 */
import { Worker } from 'node:worker_threads'
import type { HttpsEndpoint } from '../../src/http/client.ts'
import { type BenchClient, createBenchClient, expectOk, json } from '../client.ts'
import type { Figure } from '../figure.ts'
import { latencyOf, load, pause, until } from '../load.ts'
import { makeNamespace, pod, podsPath } from '../pods.ts'
import { type Subject, startSkiff } from '../subject.ts'
import type { CrowdOptions, Told } from './crowd.ts'

export interface OverloadOptions {
  readonly connections: number
  readonly seconds: number
  readonly nodeArgs: readonly string[]
  report(figure: Figure): void
}

const PODS = 2000
const USERS = 20
const THREADS = 2
const PROBE_EVERY_MS = 100
const LISTS = 0.01
const GETS = 0.2

export async function runOverload({ connections, seconds, nodeArgs, report }: OverloadOptions): Promise<void> {
  const subject = await startSkiff('all', { nodeArgs })
  const admin = createBenchClient(subject.endpoint)
  const namespace = 'overload'
  let stopped = false
  try {
    await makeNamespace(admin, namespace)
    expectOk(await admin.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', ALL_RIGHTS))
    const tokens = await tokensOf(admin, namespace)
    await load(PODS, 64, (index) => admin.request('POST', podsPath(namespace), pod(`p${index}`)))
    const probes = createProbes(admin, subject.endpoint)
    await probes.begin()
    for (const clients of [64, connections]) {
      const tell = (name: string, value: number, unit: Figure['unit'], detail = '') => {
        const figure: Figure = { name: `${name}, ${clients} clients`, subject: subject.name, value, unit, detail }
        report(figure)
        process.stderr.write(`${figure.name}: ${value.toFixed(1)} ${unit} ${detail}\n`)
      }
      const crowd = startCrowd(subject, tokens, namespace, clients)
      // Making thousands of connections is a load of another kind.
      await until('every client was answered', 300_000, 500, async () => (await crowd.told()).served >= clients)
      const before = await crowd.told()
      const cpuBefore = subject.usage?.().cpuSeconds ?? Number.NaN
      probes.clear()
      let memory = 0
      for (let second = 0; second < seconds; second++) {
        await pause(1000)
        memory = Math.max(memory, subject.usage?.().residentMiB ?? Number.NaN)
      }
      const after = await crowd.told()
      for (const [name, took] of probes.times()) {
        const { p50, p99 } = latencyOf(took)
        const longest = Math.max(...took)
        tell(name, p99, 'ms', `p50 ${p50.toFixed(0)}, longest ${longest.toFixed(0)}, ${took.length} answers`)
      }
      const codes = Object.keys(after.answered).map(Number)
      const per = (code: number) => ((after.answered[code] ?? 0) - (before.answered[code] ?? 0)) / seconds
      tell(
        'answers',
        codes.reduce((sum, code) => sum + per(code), 0),
        '/s',
        codes.map((code) => `${code}: ${per(code).toFixed(0)}`).join(', '),
      )
      const cpu = (subject.usage?.().cpuSeconds ?? Number.NaN) - cpuBefore
      tell('processor', (cpu / seconds) * 100, '%')
      tell('bytes', (after.bytes - before.bytes) / seconds / 1e6, '/s', 'in MB')
      tell('most memory', memory, 'MiB')
      if (clients === connections) {
        const begin = performance.now()
        probes.end()
        await subject.stop()
        stopped = true
        tell('stop', (performance.now() - begin) / 1000, 's')
      }
      await crowd.end()
    }
  } finally {
    admin.close()
    if (!stopped) await subject.stop()
  }
}

const ALL_RIGHTS = json({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'overload' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts:overload' }],
})

/** Tokens of service accounts of their own: priority and fairness tells them apart, and none is an administrator's. */
async function tokensOf(admin: BenchClient, namespace: string): Promise<string[]> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  const tokens: string[] = []
  for (let index = 0; index < USERS; index++) {
    const name = `user${index}`
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }
    expectOk(await admin.request('POST', accounts, json(account)))
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const answer = expectOk(await admin.request('POST', `${accounts}/${name}/token`, json(request)))
    tokens.push(JSON.parse(answer.body.toString()).status.token)
  }
  return tokens
}

function startCrowd(subject: Subject, tokens: readonly string[], namespace: string, clients: number) {
  const { server, ca } = subject.endpoint
  const endpoint: HttpsEndpoint = { server, ...(ca === undefined ? {} : { ca }) }
  const workers = Array.from({ length: THREADS }, () => {
    const workerData: CrowdOptions = {
      endpoint,
      tokens,
      namespace,
      connections: Math.ceil(clients / THREADS),
      lists: LISTS,
      gets: GETS,
      pods: PODS,
    }
    return new Worker(new URL('crowd.ts', import.meta.url), { workerData })
  })
  const told = (worker: Worker) =>
    new Promise<Told>((resolve) => {
      worker.once('message', resolve)
      worker.postMessage('tell')
    })
  return {
    /** Of all threads together. */
    async told(): Promise<Told> {
      const each = await Promise.all(workers.map(told))
      const answered: Record<number, number> = {}
      for (const one of each)
        for (const [code, count] of Object.entries(one.answered))
          answered[Number(code)] = (answered[Number(code)] ?? 0) + count
      const sum = (of: (one: Told) => number) => each.reduce((all, one) => all + of(one), 0)
      return { answered, bytes: sum(({ bytes }) => bytes), served: sum(({ served }) => served) }
    },
    async end() {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

/** What must go on: each asks every tenth of a second, or when the one before was answered if that took longer. */
function createProbes(admin: BenchClient, endpoint: HttpsEndpoint) {
  const node = {
    'impersonate-user': 'system:node:probed',
    'impersonate-group': ['system:nodes', 'system:authenticated'],
  }
  const clients = [{}, node, {}].map((headers) => createBenchClient(endpoint, 1, headers))
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/probed'
  const leaseBody = json({ spec: { holderIdentity: 'probed', leaseDurationSeconds: 40 } }).bytes
  /** As a command makes one each time it is run. */
  const anew = async () => {
    const client = createBenchClient(endpoint)
    try {
      return await client.request('GET', '/api/v1/namespaces/default')
    } finally {
      client.close()
    }
  }
  const asks = [
    ['/livez', () => clients[0]?.request('GET', '/livez')],
    [
      "a node's Lease",
      () => clients[1]?.request('PATCH', lease, { bytes: leaseBody, contentType: 'application/merge-patch+json' }),
    ],
    ["an administrator's read", () => clients[2]?.request('GET', '/api/v1/namespaces/default')],
    ['the same by a new connection', anew],
  ] as const
  const times = new Map<string, number[]>(asks.map(([name]) => [name, []]))
  const timers: NodeJS.Timeout[] = []
  let since = 0
  return {
    async begin() {
      const metadata = { name: 'probed', namespace: 'kube-node-lease' }
      const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata }
      expectOk(await admin.request('POST', lease.slice(0, -'/probed'.length), json(object)))
      for (const [name, ask] of asks) {
        // A connection that is being made is not what is measured.
        await ask()
        let asking = false
        const probe = async () => {
          if (asking) return
          asking = true
          const begin = performance.now()
          const answer = await ask()?.catch(() => undefined)
          asking = false
          if (begin < since) return
          const works = answer !== undefined && answer.code < 300
          times.get(name)?.push(works ? performance.now() - begin : Number.POSITIVE_INFINITY)
        }
        timers.push(setInterval(() => void probe(), PROBE_EVERY_MS))
      }
    },
    clear() {
      since = performance.now()
      for (const list of times.values()) list.length = 0
    },
    times: () => [...times].map(([name, list]) => [name, Float64Array.from(list)] as const),
    end() {
      for (const timer of timers) clearInterval(timer)
      for (const client of clients) client.close()
    },
  }
}
