import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../api/generated/types.ts'
import type { Pod } from './pod.ts'
import { admissionRefusal, appArmorRefusal, createAllocations, systemRefusal } from './pod-admission.ts'

const allocatable = { cpu: '2', memory: '1Gi', pods: '3' }
const node = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', labels: { zone: 'a' } } } as Node

function pod(uid: string, spec: object = {}, container: object = {}): Pod {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { uid },
    spec: { containers: [{ name: 'c', ...container }], ...spec },
  } as Pod
}
const asking = (uid: string, requests: object) => pod(uid, {}, { resources: { requests } })

test('a pod that asks for more than is left is refused, with what there is', () => {
  const taken = createAllocations()
  taken.add(asking('a', { cpu: '1500m' }))
  assert.deepEqual(admissionRefusal(asking('b', { cpu: '600m' }), node, allocatable, taken), {
    reason: 'OutOfcpu',
    message: "Node didn't have enough resource: cpu, requested: 600, used: 1500, capacity: 2000",
    shortages: [{ name: 'cpu', nanos: 100_000_000n }],
  })
  assert.equal(admissionRefusal(asking('b', { cpu: '500m' }), node, allocatable, taken), undefined)
  assert.equal(admissionRefusal(asking('b', { memory: '2Gi' }), node, allocatable, taken)?.reason, 'OutOfmemory')
  taken.remove('a')
  assert.equal(admissionRefusal(asking('b', { cpu: '2' }), node, allocatable, taken), undefined)
})

test('extended resources count as the Node says, and not where it says nothing', () => {
  const taken = createAllocations()
  const with5 = { ...node, status: { allocatable: { 'example.com/foo': '5' } } } as Node
  assert.equal(admissionRefusal(asking('a', { 'example.com/foo': '5' }), with5, allocatable, taken), undefined)
  taken.add(asking('a', { 'example.com/foo': '4' }))
  assert.equal(
    admissionRefusal(asking('b', { 'example.com/foo': '2' }), with5, allocatable, taken)?.reason,
    'OutOfexample.com/foo',
  )
  assert.equal(admissionRefusal(asking('b', { 'example.com/foo': '2' }), node, allocatable, taken), undefined)
})

test('a node takes so many pods and no more', () => {
  const taken = createAllocations()
  for (const uid of ['a', 'b', 'c']) taken.add(pod(uid))
  assert.deepEqual(admissionRefusal(pod('d'), node, allocatable, taken), {
    reason: 'OutOfpods',
    message: "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    shortages: [{ name: 'pods', nanos: 1_000_000_000n }],
  })
  // Making room would not help a pod that the node does not take in any case.
  const elsewhere = admissionRefusal(pod('d', { nodeSelector: { zone: 'b' } }), node, allocatable, taken)
  assert.deepEqual([elsewhere?.reason, elsewhere?.shortages], ['OutOfpods', undefined])
})

test('labels, taints and host ports of the node count', () => {
  const taken = createAllocations()
  assert.equal(
    admissionRefusal(pod('a', { nodeSelector: { zone: 'b' } }), node, allocatable, taken)?.reason,
    'NodeAffinity',
  )
  const tainted = { ...node, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } } as Node
  assert.equal(admissionRefusal(pod('a'), tainted, allocatable, taken)?.reason, 'TaintToleration')
  const tolerant = pod('a', { tolerations: [{ operator: 'Exists' }] })
  assert.equal(admissionRefusal(tolerant, tainted, allocatable, taken), undefined)
  const listening = (uid: string, hostIP?: string) =>
    pod(uid, {}, { ports: [{ containerPort: 80, hostPort: 80, hostIP }] })
  taken.add(listening('a', '127.0.0.1'))
  assert.equal(admissionRefusal(listening('b'), node, allocatable, taken)?.reason, 'NodePorts')
  for (const other of ['127.0.0.2', '::'])
    assert.equal(admissionRefusal(listening('b', other), node, allocatable, taken), undefined)
})

test('a pod for another system is refused, and one that wants AppArmor where there is none', () => {
  assert.equal(systemRefusal(pod('a', { os: { name: 'linux' } })), undefined)
  assert.equal(systemRefusal(pod('a', { os: { name: 'windows' } }))?.reason, 'PodOSNotSupported')
  const confined = (type: string) => pod('a', {}, { securityContext: { appArmorProfile: { type } } })
  assert.equal(appArmorRefusal(confined('RuntimeDefault'), true), undefined)
  assert.equal(appArmorRefusal(confined('Unconfined'), false), undefined)
  assert.equal(appArmorRefusal(confined('RuntimeDefault'), false)?.reason, 'AppArmor')
  const wholly = pod('a', { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } } })
  assert.equal(appArmorRefusal(wholly, false)?.message, 'Cannot enforce AppArmor: AppArmor is not enabled on the host')
})
