import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import { createMetrics } from '../base/metrics.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createFakeServer } from '../client/fake-server.ts'
import { inProcessTransport } from '../client/transport.ts'
import { createElections } from './leading.ts'

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 }

for (const stalled of ['main', 'migration'])
  test(`a process that holds two Leases is unhealthy once that of the ${stalled} one is not renewed`, async () => {
    const runtime = simulatedRuntime(1)
    const server = createFakeServer()
    let stalls = false
    const handler: Handler = (request) =>
      stalls && request.path.endsWith(`/leases/${stalled}`) ? new Promise(() => {}) : server.handler(request)
    const ends: string[] = []
    const process = { runtime, say: () => {}, onStop: () => {}, fail: (line: string) => ends.push(line) }
    const settings = { ...TIMES, enabled: true, namespace: 'kube-system' }
    const events = { component: 'kube-controller-manager', userAgent: 'test' }
    const elections = createElections(settings, process, inProcessTransport(handler), events)
    elections.check.check()
    for (const name of ['main', 'migration']) {
      const won = elections.of(name).won()
      await runtime.settle()
      assert.equal((await won)?.mayWrite(), true)
    }
    const holders = ['main', 'migration'].map((name) => server.get(`kube-system/${name}`)?.['spec'])
    assert.equal(new Set(holders.map((spec) => Object(spec).holderIdentity)).size, 1)
    await runtime.advance(20_000)
    elections.check.check()
    stalls = true
    await runtime.advance(15_000)
    assert.throws(() => elections.check.check(), {
      message: `failed election to renew leadership on lease ${stalled}`,
    })
    assert.equal(ends.length, 1)
  })

test('/metrics tells of each Lease whether this process leads by it, and of none where nothing is elected', async () => {
  for (const enabled of [true, false]) {
    const metrics = createMetrics()
    const runtime = { ...simulatedRuntime(1), metrics }
    const process = { runtime, say: () => {}, onStop: () => {}, fail: () => {} }
    const settings = { ...TIMES, enabled, namespace: 'kube-system' }
    const events = { component: 'kube-scheduler', userAgent: 'test' }
    const elections = createElections(settings, process, inProcessTransport(createFakeServer().handler), events)
    elections.of('kube-scheduler')
    assert.equal(metrics.text().includes('leader_election_master_status{name="kube-scheduler"} 0'), enabled)
  }
})
