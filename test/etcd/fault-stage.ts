/** Three members of etcd, two API servers, clients that read and write at both, and a judgement of all that was answered (history.ts). */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { problemsOf } from '../history/history.ts'
import { type ServerProcess, startServerProcess } from '../history/server-process.ts'
import { startWorkload, truthOf, type Workload } from '../history/workload.ts'
import { type EtcdClusterOptions, type EtcdMember, startEtcd } from './member.ts'
import { type MemberProxy, startProxy } from './proxy.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e']

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
      const server = await startServerProcess(dataDir, '--etcd-servers', etcdServers)
      servers.push(server)
      undo.push(server.end)
      return server.client
    }
    const one = await start('one', proxied)
    cpSync(join(folder, 'one', 'pki'), join(folder, 'two', 'pki'), { recursive: true })
    const two = await start('two', etcd.servers)
    const namespace = 'default'
    const maps = one.resource({ group: '', version: 'v1', resource: 'configmaps' })
    const before = Number((await maps.list()).metadata.resourceVersion)
    const workload = startWorkload({ servers: [one, two], workers: 6, namespace, keys: KEYS })
    undo.push(workload.abandon)
    await workload.progress()
    await faults({ members: etcd.members, proxies, workload, servers })
    await workload.progress()
    const { operations, watches } = await workload.finish()
    const direct = await openEtcd(liveRuntime(), { servers: etcd.servers, compactEveryMs: 0 })
    undo.push(() => direct.close())
    const truth = await truthOf(direct, namespace, before)
    assert.deepEqual(problemsOf({ operations, watches, truth }), [])
    assert.ok(truth.length > 50, `${truth.length} changes`)
    const unknown = operations.filter(({ outcome }) => outcome.type === 'unknown').length
    console.log(`${operations.length} requests, ${unknown} without an answer, ${truth.length} changes`)
  } finally {
    for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  }
}
