import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodStatus } from '../api/generated/types.ts'
import { statusPatch } from './status-patch.ts'

const ready = (status: string, extra: object = {}) => ({ type: 'Ready', status, ...extra })
const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null as never }

test('equal statuses need no patch, whatever the order of their fields', () => {
  const a: PodStatus = { phase: 'Running', conditions: [scheduled] }
  const b: PodStatus = { conditions: [{ status: 'True', type: 'PodScheduled' }], phase: 'Running' }
  assert.equal(statusPatch('u', a, a), undefined)
  assert.equal(statusPatch('u', a, b), undefined)
})

test('conditions are patched one by one, with the order of all', () => {
  const from: PodStatus = { conditions: [scheduled] }
  const to: PodStatus = { conditions: [ready('True'), scheduled] }
  assert.deepEqual(statusPatch('u', from, to), {
    metadata: { uid: 'u' },
    status: {
      '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'PodScheduled' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  })
})

test('what a condition no longer says becomes null', () => {
  const from: PodStatus = { conditions: [ready('False', { reason: 'R', message: 'm' })] }
  const to: PodStatus = { conditions: [ready('True')] }
  assert.deepEqual(statusPatch('u', from, to)?.['status'], {
    '$setElementOrder/conditions': [{ type: 'Ready' }],
    conditions: [{ type: 'Ready', status: 'True', reason: null, message: null }],
  })
})

test('a condition that went is deleted, a field that went is null', () => {
  const from: PodStatus = { reason: 'Evicted', conditions: [ready('True'), scheduled] }
  assert.deepEqual(statusPatch('u', from, { conditions: [scheduled] })?.['status'], {
    reason: null,
    '$setElementOrder/conditions': [{ type: 'PodScheduled' }],
    conditions: [{ $patch: 'delete', type: 'Ready' }],
  })
})

test('container statuses are replaced whole', () => {
  const container = { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0 }
  const to: PodStatus = { containerStatuses: [{ ...container, ready: true }] }
  assert.deepEqual(statusPatch('u', { containerStatuses: [container] }, to)?.['status'], to)
})
