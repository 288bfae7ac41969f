import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/generated/types.ts'
import { surplusPods } from './removal-order.ts'

const pod = (name: string, readyAt?: string, more: object = {}) =>
  ({
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z', ...more },
    spec: { nodeName: 'n' },
    status: {
      phase: 'Running',
      conditions: readyAt === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: readyAt }],
    },
  }) as unknown as Pod

const namesOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name)

test('what is least far goes first, whatever it costs; of equal ones the first', () => {
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-100' }
  const long = pod('long', '2026-01-01T00:00:10Z', { annotations })
  const lately = pod('lately', '2026-01-01T00:00:20Z')
  const unready = pod('unready')
  assert.deepEqual(namesOf(surplusPods([long, lately, unready], 2)), ['unready', 'lately'])
  assert.deepEqual(namesOf(surplusPods([pod('a'), pod('b')], 1)), ['a'])
})
