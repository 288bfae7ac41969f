import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { indexLabel } from './completion-indexes.ts'
import { misplaced } from './progress.ts'
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

test('of the pods of one index the one that is furthest stays, be it the older or the newer', () => {
  const job: Job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j' },
    spec: { completionMode: 'Indexed', completions: 1, template: {} },
  }
  const annotations = { [indexLabel]: '0' }
  const ready = pod('ready', '2026-01-01T00:00:10Z', { annotations }) as KubeObject
  const unready = pod('unready', undefined, { annotations }) as KubeObject
  const beyond = pod('beyond', undefined, { annotations: { [indexLabel]: '1' } }) as KubeObject
  assert.deepEqual(namesOf(misplaced(job, [ready, unready, beyond])), ['unready', 'beyond'])
  assert.deepEqual(namesOf(misplaced(job, [unready, ready])), ['unready'])
})
