import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Container, Pod } from '../pod.ts'
import type { RuntimePodStatus } from '../pod-cache.ts'
import type { ContainerRuntime, ProbeAction, ProbeResult, RuntimeContainerStatus } from '../runtimes/runtime.ts'
import { createProbeManager } from './probe-manager.ts'

const every = { periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 }

function setup(container: object, outcome: (kind: ProbeAction['kind']) => boolean | ProbeResult['errored'] | 'warned') {
  const runtime = simulatedRuntime(1, { order: 'fifo' })
  const asked: string[] = []
  const told: string[] = []
  const synced: number[] = []
  const from = runtime.clock.monotonic()
  const seconds = () => (runtime.clock.monotonic() - from) / 1000
  const cri = {
    async probe(_: string, { kind }: ProbeAction) {
      asked.push(`${kind} ${seconds()}`)
      const success = outcome(kind)
      return {
        success: success === true || success === 'warned',
        ...(success === 'unknown' || success === 'failure' ? { errored: success } : {}),
        output: 'out',
        ...(success === 'warned' ? { warning: 'odd' } : {}),
      }
    },
  } as unknown as ContainerRuntime
  const events = {
    normal() {},
    about() {},
    warning: (_: Pod, reason: string, message: string) => void told.push(`${reason} ${message}`),
  }
  const manager = createProbeManager(runtime, cri, events, () => synced.push(seconds()))
  const own = { name: 'c', ...container } as Container
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { uid: 'u' }, spec: { containers: [own] } } as unknown as Pod
  const status = (id: string, state = 'running'): RuntimePodStatus => ({
    uid: 'u',
    ips: [],
    sandboxes: [],
    containers: [
      { id, metadata: { name: 'c', attempt: 0 }, state, startedAt: runtime.clock.now() } as RuntimeContainerStatus,
    ],
  })
  return { runtime, asked, told, synced, manager, own, pod, status }
}

test('a container is ready once its probe succeeds, and no more after so many failures', async () => {
  let works = true
  const { runtime, asked, told, synced, manager, own, pod, status } = setup(
    { readinessProbe: { ...every, initialDelaySeconds: 5 } },
    () => works,
  )
  manager.add(pod, status('1'))
  assert.equal(manager.ready('1', own), false)
  await runtime.advance(5000)
  assert.equal(manager.ready('1', own), true)
  works = false
  await runtime.advance(20_000)
  assert.equal(manager.ready('1', own), true)
  await runtime.advance(10_000)
  assert.equal(manager.ready('1', own), false)
  assert.deepEqual(asked, ['readiness 5', 'readiness 15', 'readiness 25', 'readiness 35'])
  assert.deepEqual(told, Array(3).fill('Unhealthy Readiness probe failed: out'))
  assert.deepEqual(synced, [5, 35])
  manager.forget('u')
  await runtime.advance(60_000)
  assert.equal(asked.length, 4)
})

test('other probes wait for the startup probe, and come at once when it succeeds', async () => {
  let up = false
  const { runtime, asked, manager, own, pod, status } = setup(
    { startupProbe: { ...every, failureThreshold: 30 }, readinessProbe: { ...every, periodSeconds: 60 } },
    (kind) => kind !== 'startup' || up,
  )
  manager.add(pod, status('1'))
  await runtime.advance(15_000)
  assert.deepEqual([manager.started('1', own), manager.ready('1', own)], [false, false])
  up = true
  await runtime.advance(5000)
  assert.deepEqual([manager.started('1', own), manager.ready('1', own)], [true, true])
  assert.deepEqual(asked, ['startup 0', 'startup 10', 'startup 20', 'readiness 20'])
  manager.forget('u')
})

test('a container that failed its liveness probe is not probed again; its successor is, anew', async () => {
  const { runtime, asked, manager, pod, status } = setup(
    { livenessProbe: { ...every, failureThreshold: 1 } },
    () => false,
  )
  manager.add(pod, status('1'))
  await runtime.advance(30_000)
  assert.deepEqual(asked, ['liveness 0'])
  assert.equal(manager.livenessFailed('1'), true)
  manager.add(pod, status('2'))
  assert.deepEqual([manager.livenessFailed('1'), manager.livenessFailed('2')], [false, false])
  await runtime.advance(1000)
  assert.equal(manager.livenessFailed('2'), true)
  manager.forget('u')
})

test('a probe that could not be done is told of, and counts neither for nor against a container', async () => {
  let works: boolean | ProbeResult['errored'] = true
  const { runtime, asked, told, manager, own, pod, status } = setup({ readinessProbe: every }, () => works)
  manager.add(pod, status('1'))
  await runtime.advance(0)
  works = 'unknown'
  await runtime.advance(100_000)
  assert.equal(manager.ready('1', own), true)
  assert.deepEqual(told, Array(10).fill('Unhealthy Readiness probe errored and resulted in unknown state: out'))
  // Each is tried three times at once.
  assert.deepEqual(asked.slice(0, 5), ['readiness 0', ...Array(3).fill('readiness 10'), 'readiness 20'])
  told.length = 0
  works = 'failure'
  await runtime.advance(10_000)
  assert.equal(manager.ready('1', own), true)
  assert.deepEqual(told, ['Unhealthy Readiness probe errored and resulted in failure state: out'])
  works = false
  await runtime.advance(30_000)
  assert.equal(manager.ready('1', own), false)
  manager.forget('u')
})

test('a success that should be told of is one all the same', async () => {
  const { runtime, told, manager, own, pod, status } = setup({ readinessProbe: every }, () => 'warned')
  manager.add(pod, status('1'))
  await runtime.advance(10_000)
  assert.equal(manager.ready('1', own), true)
  assert.deepEqual(told, Array(2).fill('ProbeWarning Readiness probe warning: odd'))
})
