import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated.ts'
import { createFakeServer } from './fake-server.ts'
import { runLeaderElection } from './leader-election.ts'
import { createClient, inProcessTransport } from './transport.ts'

test('one candidate leads at a time, and another takes over when it falls silent or releases', async () => {
  const runtime = simulatedRuntime(3)
  const server = createFakeServer()
  const client = createClient(runtime, inProcessTransport(server.handler), { userAgent: 'test' })
  const leading = new Set<string>()
  const candidate = (identity: string) => {
    const stop = new AbortController()
    void runLeaderElection(
      runtime,
      client,
      {
        namespace: 'kube-system',
        name: 'kube-scheduler',
        identity,
        onStarted: () => {
          leading.add(identity)
          assert.equal(leading.size, 1)
        },
        onStopped: () => leading.delete(identity),
      },
      stop.signal,
    )
    return stop
  }
  const first = candidate('a')
  await runtime.advance(10)
  candidate('b')
  await runtime.advance(60_000)
  assert.deepEqual([...leading], ['a'])
  first.abort()
  await runtime.advance(10_000)
  assert.deepEqual([...leading], ['b'])
  assert.equal(server.get('kube-system/kube-scheduler')?.['spec'].leaseTransitions, 1)
})
