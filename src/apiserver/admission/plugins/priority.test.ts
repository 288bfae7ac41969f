import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../api/object.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionHost } from '../plugin.ts'
import { priority } from './priority.ts'

test('pods without a class have the priority of the class that is the default now', () => {
  let classes: readonly KubeObject[] = []
  let generation = 0
  const reads: CacheReads = { get: () => undefined, list: () => classes as never, getLive: async () => undefined }
  const { mutate } = priority(reads, {
    generationOf: () => () => generation,
  } as Partial<AdmissionHost> as AdmissionHost)
  const priorityOfNewPod = () => {
    const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: {} }
    const row = { group: '', version: 'v1', resource: 'pods' } as ResourceRow
    const asked: Partial<AdmissionAttributes> = { operation: 'CREATE', row, subresource: '', object: pod }
    assert.ok(mutate)
    return (mutate(asked as AdmissionAttributes) as KubeObject)['spec'].priority
  }
  const makeDefault = (...values: number[]) => {
    generation++
    classes = values.map((value) => ({
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: `c${value}` },
      value,
      globalDefault: true,
    }))
  }
  assert.equal(priorityOfNewPod(), 0)
  makeDefault(7)
  assert.equal(priorityOfNewPod(), 7)
  makeDefault(9, 8)
  assert.equal(priorityOfNewPod(), 8)
  makeDefault()
  assert.equal(priorityOfNewPod(), 0)
})
