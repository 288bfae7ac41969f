/** What a real scheduler's queue did, done again by ours on the simulated clock: every attempt, why it was made, and what was written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserInfo } from '../../src/api/request.ts'
import { sleep } from '../../src/base/clock.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { startScheduler } from '../../src/scheduler/scheduler.ts'
import { createNeutral, type SeenWrite, stepOf } from '../devices/recording.ts'
import { play, type Scenario } from '../devices/scenario.ts'
import { seeingHandler } from '../devices/seen-writes.ts'
import { ADMIN, startTestApi } from '../harness.ts'
import { comparable, countsOf, countsSince, NAMED, type QueueStep, readRecording } from './recording.ts'
import { scenarios, slowScenarios } from './scenarios.ts'

const namespace = 'played'
const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }

/** Their steps are well apart from the ends of backoffs. */
const timed = new Set(['no-nodes', 'backoff'])

for (const [name, scenario] of Object.entries({ ...scenarios, ...slowScenarios }))
  test(`${name}: attempts, queues and writes as recorded`, async () => {
    const form = (step: QueueStep) => comparable(step, timed.has(name))
    assert.deepEqual((await replay(scenario)).map(form), readRecording(name).map(form))
  })

async function replay(scenario: Scenario): Promise<readonly QueueStep[]> {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const api = await runtime.complete(startTestApi(runtime))
  const stop = new AbortController()
  let writes: SeenWrite[] = []
  const handler = seeingHandler(api.handler, (write) => writes.push(write))
  const clientFor = (user: UserInfo) => createClient(runtime, inProcessTransport(handler), { user, userAgent: 'user' })
  const user = clientFor(ADMIN)
  await runtime.complete(api.namespace(namespace))
  const ready = startScheduler({ runtime, client: clientFor(SCHEDULER), signal: stop.signal })
  await runtime.complete(ready, { maxSteps: 2_000_000 })

  const neutral = createNeutral(namespace)
  const told = new Set<string>()
  const steps: QueueStep[] = []
  let before = countsOf(metrics.text())
  let outcome: { readonly error?: unknown } | undefined
  play(scenario, {
    client: user,
    namespace,
    pass: (ms) => sleep(runtime.clock, ms),
    async ended() {
      for (const [group, resource, kind] of NAMED) {
        const { items } = await user.resource({ group, version: 'v1', resource }).namespace(namespace).list()
        neutral.know(items.map((item) => ({ ...item, kind })))
      }
      const now = countsOf(metrics.text())
      steps.push({ ...countsSince(before, now), wrote: stepOf(writes, neutral, told) })
      before = now
      writes = []
    },
  }).then(
    () => {
      outcome = {}
    },
    (error) => {
      outcome = { error }
    },
  )
  while (outcome === undefined) await runtime.advance(100)
  stop.abort()
  await runtime.complete(api.stop())
  if (outcome.error !== undefined) throw outcome.error
  return steps
}
