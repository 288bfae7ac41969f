/**
 * Three members of etcd and two API servers, and what goes wrong among them: members killed and paused, connections cut, swallowed
 * and delayed. Whatever was answered meanwhile must fit together (history.ts).
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { lacks } from '../machine.ts'
import { problemsOf } from './history.ts'
import { type EtcdMember, startEtcd } from './member.ts'
import { type MemberProxy, startProxy } from './proxy.ts'
import { startWorkload, truthOf, type Workload } from './workload.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-faults-'))
after(() => rmSync(root, { recursive: true, force: true }))
const KEYS = ['a', 'b', 'c', 'd', 'e']

interface Stage {
  readonly members: readonly EtcdMember[]
  /** Between the first API server and each member. */
  readonly proxies: readonly MemberProxy[]
  readonly workload: Workload
}

/** Resolves once so many more requests were answered. */
async function progress(workload: Workload, count = 60): Promise<void> {
  const until = workload.answered() + count
  while (workload.answered() < until) await new Promise((resolve) => setTimeout(resolve, 20))
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function play(faults: (stage: Stage) => Promise<void>): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  try {
    const etcd = await startEtcd({ size: 3 })
    undo.push(etcd.stop)
    const proxies = await Promise.all(etcd.members.map(({ url }) => startProxy(Number(new URL(url).port))))
    undo.push(() => Promise.all(proxies.map((proxy) => proxy.stop())))
    const folder = mkdtempSync(join(root, 'c-'))
    const start = async (name: string, servers: string) => {
      const cluster = await startCluster({ dataDir: join(folder, name), components: ['apiserver'], etcd: { servers } })
      undo.push(cluster.stop)
      return cluster
    }
    const one = await start('one', proxies.map(({ port }) => `http://127.0.0.1:${port}`).join(','))
    cpSync(join(folder, 'one', 'pki'), join(folder, 'two', 'pki'), { recursive: true })
    const two = await start('two', etcd.servers)
    const before = Number(
      (await two.client.resource({ group: '', version: 'v1', resource: 'configmaps' }).list()).metadata.resourceVersion,
    )
    const workload = startWorkload([one.client, two.client], 6, KEYS)
    await progress(workload)
    await faults({ members: etcd.members, proxies, workload })
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

const test3 = (name: string, faults: (stage: Stage) => Promise<void>) =>
  test(name, { skip: lacks.etcd(), timeout: 120_000 }, () => play(faults))

test3('members are killed, one after the other, and come back', async ({ members, workload }) => {
  for (const member of members) {
    await member.kill()
    await progress(workload)
    await member.start()
    await progress(workload)
  }
})

test3('members are paused for longer than an election', async ({ members, workload }) => {
  for (const member of members) {
    member.pause()
    await progress(workload)
    await pause(1500)
    member.resume()
    await progress(workload)
  }
})

test3(
  'connections to etcd are cut, swallowed and delayed in the midst of requests and watches',
  async ({ proxies, workload }) => {
    for (let i = 0; i < 10; i++) {
      for (const proxy of proxies) proxy.cut()
      await progress(workload, 20)
    }
    for (const proxy of proxies) {
      proxy.swallow(true)
      await progress(workload)
      await pause(2000)
      proxy.swallow(false)
    }
    for (const proxy of proxies) proxy.delay(true)
    await progress(workload)
    for (const proxy of proxies) proxy.delay(false)
  },
)

test3('the members are without a majority for a while', async ({ members, workload }) => {
  const [first, second] = members
  await Promise.all([first?.kill(), second?.kill()])
  await pause(3000)
  await Promise.all([first?.start(), second?.start()])
  await progress(workload)
})
