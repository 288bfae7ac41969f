/** Three members of etcd, two API servers, clients that read and write at both, and a judgement of all that was answered (history.ts). */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { freePort, type RunningProcess, startProcess } from '../components/processes.ts'
import { problemsOf } from './history.ts'
import { type EtcdClusterOptions, type EtcdMember, startEtcd } from './member.ts'
import { type MemberProxy, startProxy } from './proxy.ts'
import { startWorkload, truthOf, type Workload } from './workload.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e']

/** `skiff apiserver`, which can be killed and started again. */
export interface ServerProcess {
  readonly dataDir: string
  readonly process: RunningProcess
  /** Resolves when it serves again. */
  start(): Promise<void>
}

export interface Stage {
  readonly members: readonly EtcdMember[]
  /** Between the first API server and each member. */
  readonly proxies: readonly MemberProxy[]
  readonly workload: Workload
  /** The API servers, where they are processes of their own. */
  readonly servers: readonly ServerProcess[]
}

export interface StageOptions extends Omit<EtcdClusterOptions, 'size'> {
  /** The API servers are processes of their own. Default: they are in this one. */
  readonly apart?: boolean
}

/** Resolves once so many more requests were answered. */
export async function progress(workload: Workload, count = 60): Promise<void> {
  const until = workload.answered() + count
  while (workload.answered() < until) await pause(20)
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** @throws AssertionError where what was answered does not fit together */
export async function play(faults: (stage: Stage) => Promise<void>, options: StageOptions = {}): Promise<void> {
  const undo: (() => unknown)[] = []
  try {
    const folder = mkdtempSync(join(tmpdir(), 'skiff-faults-'))
    undo.push(() => rmSync(folder, { recursive: true, force: true }))
    const etcd = await startEtcd({ ...options, size: 3 })
    undo.push(etcd.stop)
    const proxies = await Promise.all(etcd.members.map(({ url }) => startProxy(Number(new URL(url).port))))
    undo.push(() => Promise.all(proxies.map((proxy) => proxy.stop())))
    const proxied = proxies.map(({ port }) => `http://127.0.0.1:${port}`).join(',')
    const servers: ServerProcess[] = []
    const start = async (name: string, etcdServers: string): Promise<Client> => {
      const dataDir = join(folder, name)
      if (options.apart !== true) {
        const cluster = await startCluster({ dataDir, components: ['apiserver'], etcd: { servers: etcdServers } })
        undo.push(cluster.stop)
        return cluster.client
      }
      const server = await startServer(dataDir, etcdServers)
      servers.push(server)
      undo.push(async () => {
        server.process.child.kill('SIGCONT')
        server.process.child.kill('SIGKILL')
        await server.process.ended
      })
      const transport = httpsTransport(endpointFromKubeconfig(readFileSync(join(dataDir, 'kubeconfig'), 'utf8')))
      undo.push(() => transport.close())
      return createClient(liveRuntime(), transport, { userAgent: 'test' })
    }
    const one = await start('one', proxied)
    cpSync(join(folder, 'one', 'pki'), join(folder, 'two', 'pki'), { recursive: true })
    const two = await start('two', etcd.servers)
    const maps = one.resource({ group: '', version: 'v1', resource: 'configmaps' })
    const before = Number((await maps.list()).metadata.resourceVersion)
    const workload = startWorkload([one, two], 6, KEYS)
    undo.push(workload.abandon)
    await progress(workload)
    await faults({ members: etcd.members, proxies, workload, servers })
    await progress(workload)
    const { operations, watches } = await workload.finish()
    const direct = await openEtcd(liveRuntime(), { servers: etcd.servers, compactEveryMs: 0 })
    undo.push(() => direct.close())
    const truth = await truthOf(direct, before)
    assert.deepEqual(problemsOf({ operations, watches, truth }), [])
    assert.ok(truth.length > 50, `${truth.length} changes`)
    const unknown = operations.filter(({ outcome }) => outcome.type === 'unknown').length
    console.log(`${operations.length} requests, ${unknown} without an answer, ${truth.length} changes`)
  } finally {
    for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  }
}

async function startServer(dataDir: string, etcdServers: string): Promise<ServerProcess> {
  const port = String(await freePort())
  const begin = () =>
    startProcess('apiserver', '--data-dir', dataDir, '--secure-port', port, '--etcd-servers', etcdServers)
  let process = begin()
  await process.until(/serves on/)
  return {
    dataDir,
    get process() {
      return process
    },
    async start() {
      process = begin()
      await process.until(/serves on/)
    },
  }
}
