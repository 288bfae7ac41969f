import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../api/generated/types.ts'
import { createConditionEvents } from './node-condition-events.ts'

function node(ready: string, pressure = 'False', unschedulable = false, bootID = 'b'): Node {
  const conditions = [
    ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type, status: 'False' })),
    { type: 'Ready', status: ready },
  ].map((one) => (one.type === 'MemoryPressure' ? { ...one, status: pressure } : one))
  return {
    metadata: { name: 'n' },
    spec: unschedulable ? { unschedulable } : {},
    status: { conditions, nodeInfo: { bootID } },
  } as unknown as Node
}

test('what a node is, is told at its start, then when it changes', () => {
  const told: string[] = []
  const tell = (reason: string, message: string) => void told.push(`${reason}: ${message}`)
  const events = createConditionEvents({ normal: tell, warning: tell }, 'n')
  const reasons = () => told.splice(0).map((line) => line.split(':')[0])
  events(undefined, node('True'))
  assert.equal(told[0], 'NodeHasSufficientMemory: Node n status is now: NodeHasSufficientMemory')
  assert.deepEqual(reasons(), ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'])
  events(node('True'), node('True'))
  assert.deepEqual(reasons(), [])
  events(node('True'), node('False', 'True'))
  assert.deepEqual(reasons(), ['NodeHasInsufficientMemory', 'NodeNotReady'])
  events(node('False', 'True'), node('True', 'False', true))
  assert.deepEqual(reasons(), ['NodeHasSufficientMemory', 'NodeReady', 'NodeNotSchedulable'])
  events(node('True', 'False', true), node('True'))
  assert.deepEqual(reasons(), ['NodeSchedulable'])
})

test('a node that was there before is not told to be ready again; that its machine was started anew is', () => {
  const told: string[] = []
  const tell = (reason: string, message: string) => void told.push(`${reason}: ${message}`)
  createConditionEvents({ normal: tell, warning: tell }, 'n')(node('True'), node('True', 'False', false, 'c'))
  assert.equal(told.length, 4)
  assert.equal(told[3], 'Rebooted: Node n has been rebooted, boot id: c')
})
