import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createCrashLoopBackOff } from './crash-loop-back-off.ts'
import type { Pod } from './pod.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import type { PodEvents } from './pod-events.ts'
import type { StartContainerError } from './sync-error.ts'

test('a container that ends again waits ten seconds, and up to half as much more by chance', async () => {
  const runtime = simulatedRuntime(1)
  const told: string[] = []
  const events = { warning: (_: Pod, reason: string) => void told.push(reason) } as unknown as PodEvents
  const container = { name: 'c', image: 'i' }
  const waitOf = (pod: string) => {
    const backOff = createCrashLoopBackOff(runtime, events)
    const own = {
      metadata: { name: pod, namespace: 'n', uid: pod },
      spec: { containers: [container] },
    } as unknown as Pod
    const ended = { metadata: { name: 'c', attempt: 0 }, state: 'exited', finishedAt: runtime.clock.now() }
    const status = { uid: pod, ips: [], sandboxes: [], containers: [ended] } as unknown as RuntimePodStatus
    try {
      for (let times = 0; times < 10; times++) backOff.check(own, container, status)
    } catch (error) {
      return (error as StartContainerError).retryMs ?? 0
    }
    throw new Error('a container that ended ten times did not wait')
  }
  const many = Array.from({ length: 50 }, (_, index) => waitOf(`p${index}`))
  assert.ok(Math.min(...many) >= 10_000 && Math.max(...many) <= 15_000)
  assert.ok(Math.max(...many) - Math.min(...many) > 4000)
  assert.equal(told.length, 50)
})
