import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../api/generated/types.ts'
import { readyLine, unwellLines } from './status-of-nodes.ts'

const node = (name: string, ...conditions: readonly (readonly [type: string, status: string, message?: string])[]) =>
  ({
    kind: 'Node',
    metadata: { name },
    status: { conditions: conditions.map(([type, status, message]) => ({ type, status, message })) },
  }) as unknown as Node

test('a node that is short of disk is told of with what that means and what helps, although it is ready', () => {
  const nodes = [
    node('a', ['Ready', 'True'], ['DiskPressure', 'True']),
    node('b', ['Ready', 'True'], ['DiskPressure', 'False']),
  ]
  assert.equal(readyLine(nodes, 'containerd'), '2 of 2 ready, containerd')
  const lines = unwellLines(nodes)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /^a has DiskPressure: no pod starts there .* 5 %.*--eviction-hard/)
})

test('a node has one line, whatever it is short of, and a cordoned one tells how it takes pods again', () => {
  const many = node('a', ['Ready', 'False', 'runtime is down'], ['DiskPressure', 'True'], ['PIDPressure', 'True'])
  const lines = unwellLines([{ ...many, spec: { unschedulable: true } }])
  assert.equal(lines.length, 1)
  assert.match(
    lines[0]!,
    /^a is not ready: runtime is down; it has DiskPressure: .*; it has PIDPressure: .*; it is cordoned: /,
  )
  assert.deepEqual(unwellLines([{ ...node('b', ['Ready', 'True']), spec: { unschedulable: true } }]), [
    'b is cordoned: only pods that tolerate that are scheduled there until kubectl uncordon b',
  ])
  assert.deepEqual(unwellLines([node('c', ['Ready', 'True'])]), [])
  const all = Array.from({ length: 7 }, (_, index) => ({ ...many, metadata: { name: `n${index}` } }))
  assert.equal(unwellLines(all)[5], 'and 2 more: kubectl describe nodes')
})

test('nodes that are not ready are told of with why, five of them', () => {
  assert.deepEqual(unwellLines([node('a', ['Ready', 'Unknown', 'Kubelet stopped posting node status.']), node('b')]), [
    'a is not ready: Kubelet stopped posting node status.',
    'b is not ready: its kubelet has not said how it is',
  ])
  const lines = unwellLines(Array.from({ length: 9 }, (_, index) => node(`n${index}`)))
  assert.equal(lines.length, 6)
  assert.equal(lines[5], 'and 4 more: kubectl describe nodes')
})
