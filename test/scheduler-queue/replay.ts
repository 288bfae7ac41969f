/** Plays a scenario to our scheduler on the simulated clock, and tells of each step what its queue did and what it wrote. */

import type { UserInfo } from '../../src/api/request.ts'
import { sleep } from '../../src/base/clock.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { type SchedulerChoice, type SchedulerOptions, startScheduler } from '../../src/scheduler/scheduler.ts'
import { createNeutral, type SeenWrite, stepOf } from '../devices/recording.ts'
import { play, type Scenario } from '../devices/scenario.ts'
import { seeingHandler } from '../devices/seen-writes.ts'
import { ADMIN, startTestApi } from '../harness.ts'
import { playedOut } from '../played-out.ts'
import { countsOf, countsSince, NAMED, type QueueStep } from './recording.ts'

const namespace = 'played'
const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }

export interface ReplayChoice extends SchedulerChoice, Pick<SchedulerOptions, 'extenderOf'> {
  /** A step is over: what else is to be told of it, uids by what they are. */
  readonly ended?: (neutral: (text: string) => string) => object
}

export async function replay(scenario: Scenario, choice: ReplayChoice = {}, seed = 1): Promise<readonly QueueStep[]> {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(seed), metrics }
  const api = await runtime.complete(startTestApi(runtime))
  const stop = new AbortController()
  let writes: SeenWrite[] = []
  const handler = seeingHandler(api.handler, (write) => writes.push(write))
  const clientFor = (user: UserInfo) => createClient(runtime, inProcessTransport(handler), { user, userAgent: 'user' })
  const user = clientFor(ADMIN)
  await runtime.complete(api.namespace(namespace))
  const ready = startScheduler({ runtime, client: clientFor(SCHEDULER), signal: stop.signal, ...choice })
  await runtime.complete(ready, { maxSteps: 2_000_000 })

  const neutral = createNeutral(namespace)
  const told = new Set<string>()
  const steps: QueueStep[] = []
  let before = countsOf(metrics.text())
  const played = play(scenario, {
    client: user,
    namespace,
    pass: (ms) => sleep(runtime.clock, ms),
    async ended() {
      for (const [group, resource, kind] of NAMED) {
        const { items } = await user.resource({ group, version: 'v1', resource }).namespace(namespace).list()
        neutral.know(items.map((item) => ({ ...item, kind })))
      }
      const now = countsOf(metrics.text())
      const more = choice.ended?.(neutral.text) ?? {}
      steps.push({ ...countsSince(before, now), wrote: stepOf(writes, neutral, told), ...more })
      before = now
      writes = []
    },
  })
  await playedOut(runtime, played, 100, async () => {
    stop.abort()
    await runtime.complete(api.stop())
  })
  return steps
}
