import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../api/object.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionHost } from '../plugin.ts'
import { endpointOf } from '../policies/fixture.test.ts'
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
    const endpoint = endpointOf({ group: '', version: 'v1', resource: 'pods' } as ResourceRow)
    const asked: Partial<AdmissionAttributes> = { operation: 'CREATE', endpoint, subresource: '', object: pod }
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

test('a pod that has no name yet is refused by the beginning of the one that it will have', async () => {
  const reads: CacheReads = { get: () => undefined, list: () => [], getLive: async () => undefined }
  const host: Partial<AdmissionHost> = { generationOf: () => () => 0 }
  const { mutate } = priority(reads, host as AdmissionHost)
  const endpoint = endpointOf({ group: '', version: 'v1', resource: 'pods' } as ResourceRow)
  const refusal = (name: string, metadata: object) => {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { priorityClassName: 'none' } }
    const asked: Partial<AdmissionAttributes> = { operation: 'CREATE', endpoint, name, subresource: '', object }
    return async () => mutate?.(asked as AdmissionAttributes)
  }
  await assert.rejects(refusal('', { generateName: 'gen-' }), { message: /^pods "gen-" is forbidden: / })
  await assert.rejects(refusal('p', { name: 'p', generateName: 'gen-' }), { message: /^pods "p" is forbidden: / })
})
