import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState, ContainerStatus } from '../api/generated/types.ts'
import type { Pod } from './pod.ts'
import { containerPhase } from './pod-phase.ts'

const SIDECAR = { restartPolicy: 'Always' }

type State = 'waiting' | 'running' | 'crashed' | number

function status(state: State, at: number): ContainerStatus {
  const terminated = (exitCode: number): ContainerState => ({ terminated: { exitCode } })
  const base = { name: `c${at}`, image: 'i', imageID: '', ready: false, restartCount: 0, started: state === 'running' }
  if (state === 'waiting') return { ...base, state: { waiting: {} }, lastState: {} }
  if (state === 'crashed') return { ...base, state: { waiting: {} }, lastState: terminated(1) }
  if (state === 'running') return { ...base, state: { running: {} } }
  return { ...base, state: terminated(state) }
}

function phase(policy: string, containers: readonly State[], inits: readonly State[] = [], init: object = {}): string {
  const named = (states: readonly State[], extra: object = {}) => states.map((_, at) => ({ name: `c${at}`, ...extra }))
  const initContainers = named(inits, init)
  const spec = { restartPolicy: policy, containers: named(containers), initContainers }
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata: {}, spec } as Pod
  return containerPhase(pod, containers.map(status), inits.map(status), false)
}

test('a pod is Pending until every container was started once', () => {
  assert.equal(phase('Always', ['waiting']), 'Pending')
  assert.equal(phase('Always', ['running', 'waiting']), 'Pending')
  assert.equal(phase('Always', ['running', 'running']), 'Running')
  assert.equal(phase('Always', ['crashed']), 'Running')
})

test('ended containers leave the phase to the restart policy', () => {
  assert.deepEqual(
    [[0], [1], [0, 1]].map((codes) => ['Always', 'OnFailure', 'Never'].map((policy) => phase(policy, codes))),
    [
      ['Running', 'Succeeded', 'Succeeded'],
      ['Running', 'Running', 'Failed'],
      ['Running', 'Running', 'Failed'],
    ],
  )
  assert.equal(phase('Never', [0, 'running']), 'Running')
})

test('init containers keep a pod Pending, and fail it when they are not run again', () => {
  assert.equal(phase('Always', ['waiting'], ['running']), 'Pending')
  assert.equal(phase('Always', ['waiting'], [0, 'waiting']), 'Pending')
  assert.equal(phase('Always', ['waiting'], [2]), 'Pending')
  assert.equal(phase('Never', ['waiting'], [2]), 'Failed')
  assert.equal(phase('Always', ['running'], [0]), 'Running')
})

test('an init container’s own rules and policy go before the pod’s', () => {
  const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }]
  const never = { restartPolicy: 'Never', restartPolicyRules: rules }
  assert.equal(phase('Never', ['waiting'], [42], never), 'Pending')
  assert.equal(phase('Always', ['waiting'], [2], never), 'Failed')
  assert.equal(phase('Never', ['waiting'], [2], { restartPolicy: 'OnFailure' }), 'Pending')
})

test('a running sidecar keeps the pod Running, an ended one does not', () => {
  assert.equal(phase('Never', ['waiting'], ['waiting'], SIDECAR), 'Pending')
  assert.equal(phase('Never', [0], ['running'], SIDECAR), 'Running')
  assert.equal(phase('Never', [0], [137], SIDECAR), 'Succeeded')
})
