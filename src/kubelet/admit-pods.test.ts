import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createPodAdmission } from './admit-pods.ts'
import { createPatientWrite } from './checkpoint-file.ts'
import { madeUpTopology } from './machine/made-up-topology.ts'
import { type Pod, uidOf } from './pod.ts'
import { createAllocations } from './pod-admission.ts'
import { createPodManager } from './pod-manager.ts'
import { createPodResizes } from './pod-resize.ts'
import { createResourceManagers, OWN_MANAGERS } from './topology-manager/resource-managers.ts'
import { NO_HINTS } from './topology-manager/topology-hints.ts'

const noDevices = { hints: () => NO_HINTS, podHints: () => NO_HINTS, allocate() {}, forget() {}, forgetUnknown() {} }

/** With the static policy, on a machine of four CPUs of which one is reserved. */
function stage() {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-admission-'))
  after(() => rmSync(directory, { recursive: true }))
  const runtime = simulatedRuntime(1)
  const { clock } = runtime
  const { signal } = new AbortController()
  const allocatable = { cpu: '3', memory: '1Gi', pods: '10' }
  const managers = createResourceManagers(
    { ...OWN_MANAGERS, cpu: { ...OWN_MANAGERS.cpu, policy: 'static', reservedMilli: 1000 } },
    madeUpTopology({ sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 1 }),
    {},
    directory,
    noDevices,
    createPatientWrite(runtime, signal),
  )
  const pods = createPodManager(() => {})
  const allocations = createAllocations()
  const started: string[] = []
  const refused: string[] = []
  const admission = createPodAdmission({
    ...{ clock, signal, pods, allocatable, allocations },
    isStatic: () => false,
    node: () => ({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' } }),
    resizes: createPodResizes(allocations, allocatable),
    machine: { managers, devicePlugins: undefined, hasAppArmor: () => true, knowsStrictGroups: () => true } as never,
    allowedUnsafeSysctls: undefined,
    stateRefusal: () => undefined,
    start: (pod) => void started.push(uidOf(pod)),
    sync() {},
    refused: (pod, { reason, message }) => void refused.push(`${uidOf(pod)} ${reason}: ${message}`),
    preempt() {},
    hasEnded: () => false,
  })
  const add = (pod: Pod) => {
    pods.set(pod)
    admission.add(pod)
  }
  const file = join(directory, 'cpu_manager_state')
  const kept = () => JSON.parse(readFileSync(file, 'utf8')).entries ?? {}
  return { runtime, managers, allocations, admission, started, refused, add, file, kept }
}

const podOf = (uid: string, status: Pod['status'] = {}): Pod => {
  const amounts = { cpu: '1', memory: '1Mi' }
  return {
    ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: uid, namespace: 'n', uid }, status },
    spec: { containers: [{ name: 'c', resources: { limits: amounts, requests: amounts } }] },
  }
}

test('a pod for which nothing can be kept is refused, and one that ends then leaves what it had', async () => {
  const { runtime, managers, allocations, admission, started, refused, add, file, kept } = stage()
  add(podOf('a'))
  assert.deepEqual([started, kept()], [['a'], { a: { c: '1' } }])
  mkdirSync(`${file}.new`)
  add(podOf('b'))
  assert.match(refused.join(), /^b UnexpectedAdmissionError: Allocate failed due to EISDIR: .*, which is unexpected$/)
  admission.release('a')
  assert.deepEqual([allocations.pods, managers.cpus.cpusOf('a', 'c'), managers.cpus.cpusOf('b', 'c')], [0, [], []])
  await runtime.advance(10_000)
  rmSync(`${file}.new`, { recursive: true })
  assert.deepEqual(kept(), { a: { c: '1' } })
  await runtime.advance(10_000)
  assert.deepEqual(kept(), {}, 'it is written as soon as it can be')
})

test('a pod that is found ended leaves what an earlier kubelet kept of it', () => {
  const { managers, started, add, kept } = stage()
  const [container] = podOf('a').spec!.containers
  managers.cpus.allocate(podOf('a'), container!, undefined)
  managers.cpus.allocate(podOf('b'), container!, undefined)
  add(podOf('a', { phase: 'Succeeded' }))
  add(podOf('b', { phase: 'Running', startTime: '2026-11-26T00:00:00Z' }))
  assert.deepEqual([started, kept()], [['a', 'b'], { b: { c: '2' } }])
})
