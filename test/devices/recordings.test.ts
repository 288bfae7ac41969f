/** What a real cluster's scheduler and controllers wrote about claims, devices and taints, done again by ours on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserInfo } from '../../src/api/request.ts'
import { sleep } from '../../src/base/clock.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { startControllerManager } from '../../src/controllers/manager.ts'
import { startScheduler } from '../../src/scheduler/scheduler.ts'
import { ADMIN, startTestApi } from '../harness.ts'
import { playedOut } from '../played-out.ts'
import { createNeutral, readRecording, type SeenStep, type SeenWrite, stepOf } from './recording.ts'
import { play, type Scenario } from './scenario.ts'
import { scenarios } from './scenarios.ts'
import { seeingHandler } from './seen-writes.ts'

const namespace = 'played'
const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }
const CONTROLLERS = ['resourceclaim-controller', 'device-taint-eviction-controller', 'garbage-collector-controller']

for (const [name, scenario] of Object.entries(scenarios))
  test(`${name}: every write, order and Event as recorded`, async () => {
    assert.deepEqual(await replay(scenario), readRecording(name))
  })

async function replay(scenario: Scenario): Promise<readonly SeenStep[]> {
  // Of another seed a nomination of the scheduler may be undone before it is written: the writes are the recorded ones but for that.
  const runtime = simulatedRuntime(3)
  const api = await runtime.complete(startTestApi(runtime))
  const stop = new AbortController()
  const { signal } = stop
  let writes: SeenWrite[] = []
  const handler = seeingHandler(api.handler, (write) => writes.push(write))
  const clientFor = ({ user, userAgent }: { user: UserInfo; userAgent: string }) =>
    createClient(runtime, inProcessTransport(handler), { user, userAgent })
  const user = clientFor({ user: ADMIN, userAgent: 'user' })
  await runtime.complete(api.namespace(namespace))
  const labels = { 'resource.kubernetes.io/admin-access': 'true' }
  const namespaces = user.resource({ group: '', version: 'v1', resource: 'namespaces' })
  await runtime.complete(namespaces.patch(namespace, 'merge', { metadata: { labels } }))
  const many = { maxSteps: 2_000_000 }
  await runtime.complete(startControllerManager({ runtime, clientFor, signal, controllers: CONTROLLERS }), many)
  const client = clientFor({ user: SCHEDULER, userAgent: 'kube-scheduler' })
  await runtime.complete(startScheduler({ runtime, client, signal }), many)

  const neutral = createNeutral(namespace)
  const told = new Set<string>()
  const steps: SeenStep[] = []
  const played = play(scenario, {
    client: user,
    namespace,
    pass: (ms) => sleep(runtime.clock, ms),
    async ended() {
      for (const [group, resource, kind] of KNOWN) {
        const { items } = await user.resource({ group, version: 'v1', resource }).namespace(namespace).list()
        neutral.know(items.map((item) => ({ ...item, kind })))
      }
      steps.push(stepOf(writes, neutral, told))
      writes = []
    },
  })
  await playedOut(runtime, played, 500, async () => {
    stop.abort()
    await runtime.complete(api.stop())
  })
  return steps
}

const KNOWN = [
  ['', 'pods', 'Pod'],
  ['resource.k8s.io', 'resourceclaims', 'ResourceClaim'],
] as const
