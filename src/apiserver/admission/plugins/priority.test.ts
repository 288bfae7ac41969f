import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../api/object.ts'
import type { AdmissionAttributes, AdmissionHost, CacheReads } from '../plugin.ts'
import { priority } from './priority.ts'

test('pods without a class have the priority of the class that is the default now', () => {
  let classes: readonly KubeObject[] = []
  let generation = 0
  const reads = { list: () => classes } as unknown as CacheReads
  const { mutate } = priority(reads, { generationOf: () => () => generation } as unknown as AdmissionHost)
  const priorityOfNewPod = () => {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: {} }
    const row = { group: '', version: 'v1', resource: 'pods' }
    const attributes = { operation: 'CREATE', row, subresource: '', object } as unknown as AdmissionAttributes
    assert.ok(mutate)
    return (mutate(attributes) as KubeObject)['spec'].priority
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
