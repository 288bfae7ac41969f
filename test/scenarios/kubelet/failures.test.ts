/** Each step of a pod's end fails, before or after it was done, once and often, with and without a new kubelet in between. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../../src/api/status.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import type { ContainerRuntime } from '../../../src/kubelet/runtimes/runtime.ts'
import { namespace, startNodeStage } from './stage.ts'

const RUNTIME_STEPS = [
  'probe',
  'stopContainer',
  'stopPodSandbox',
  'listContainers',
  'listPodSandboxes',
  'removePodSandbox',
] as const
const WRITES = ['patch', 'delete'] as const

interface Fault {
  readonly step: (typeof RUNTIME_STEPS)[number] | (typeof WRITES)[number]
  readonly when: 'before' | 'after'
  readonly times: number
  readonly restart: boolean
}

const faults: Fault[] = []
for (const step of [...RUNTIME_STEPS, ...WRITES])
  for (const when of ['before', 'after'] as const)
    for (const times of [1, 4]) for (const restart of [false, true]) faults.push({ step, when, times, restart })

for (const { step, when, times, restart } of faults)
  test(`a pod goes though ${step} fails ${times === 1 ? 'once' : `${times} times`} ${when === 'before' ? 'undone' : 'done'}${restart ? ' and the kubelet starts anew' : ''}`, async () => {
    const runtime = simulatedRuntime(7, { order: 'fifo' })
    let left = 0
    let failed = 0
    let machine: ContainerRuntime | undefined
    const fail = () => {
      left--
      failed++
      throw step === 'patch' || step === 'delete' ? new StatusError(500, 'InternalError', 'fault') : new Error('fault')
    }
    const stage = await startNodeStage(runtime, {
      around(containers) {
        machine = containers
        if (step === 'patch' || step === 'delete') return containers
        const original = containers[step] as (...args: unknown[]) => Promise<unknown>
        const faulty = async (...args: unknown[]) => {
          if (left > 0 && when === 'before') fail()
          const answer = await original(...args)
          if (left > 0 && when === 'after') fail()
          return answer
        }
        return { ...containers, [step]: faulty }
      },
      fault(verb, path, at) {
        if (left > 0 && verb === step && at === when && path.includes('/pods/p')) fail()
      },
    })
    const lifecycle = { preStop: { exec: { command: ['x'] } } }
    const sidecar = { name: 's', image: 'i', restartPolicy: 'Always' }
    await stage.run({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 5,
        initContainers: [sidecar],
        containers: [
          { name: 'c', image: 'i', lifecycle },
          { name: 'd', image: 'i' },
        ],
      },
    })
    await runtime.advance(2000)
    assert.equal(stage.pod('p')?.['status'].phase, 'Running')
    const path = `/api/v1/namespaces/${namespace}/pods/p`
    left = times
    await stage.ask('DELETE', path)
    if (restart) {
      await runtime.advance(100)
      stage.stopKubelet()
      await runtime.advance(100)
      await stage.startKubelet(false)
    }
    for (let second = 0; second < 200; second++) {
      await runtime.advance(1000)
      if (stage.pod('p') === undefined) break
    }
    assert.equal(stage.pod('p'), undefined, 'the pod stays')
    assert.deepEqual(
      (await (machine as ContainerRuntime).listContainers({})).filter(({ state }) => state === 'running'),
      [],
      'a container outlives its object',
    )
    await runtime.advance(250_000)
    assert.deepEqual(await (machine as ContainerRuntime).listPodSandboxes({}), [], 'a sandbox is left')
    assert.ok(failed > 0, 'nothing failed')
    await stage.stop()
  })
