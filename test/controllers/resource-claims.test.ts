/** Claims that are made of templates, with all controllers on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

test('a claim that is deleted is made anew when something happens to its pod, not before', async () => {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 0 })
  const of = (resource: string, group = 'resource.k8s.io') =>
    stage.user.resource({ group, version: 'v1', resource }).namespace(namespace)
  const create = (resource: string, object: object, group?: string) =>
    runtime.complete(of(resource, group).create(object as KubeObject))
  const claims = async () => (await runtime.complete(of('resourceclaims').list())).items
  const requests = [{ name: 'r', exactly: { deviceClassName: 'none' } }]
  await create('resourceclaimtemplates', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name: 't' },
    spec: { spec: { devices: { requests } } },
  })
  const pod = async (name: string) => {
    await create(
      'pods',
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: {
          resourceClaims: [{ name: 'c', resourceClaimTemplateName: 't' }],
          containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'c' }] } }],
        },
      },
      '',
    )
    await runtime.advance(1000)
  }
  const deleteAll = async () => {
    for (const { metadata } of await claims()) await runtime.complete(of('resourceclaims').delete(metadata.name ?? ''))
    await runtime.advance(2000)
  }

  await pod('p')
  assert.equal((await claims()).length, 1)
  await deleteAll()
  assert.equal((await claims()).length, 0)

  await runtime.advance(300_000)
  assert.equal((await claims()).length, 0)
  await runtime.complete(of('pods', '').patch('p', 'merge', { metadata: { labels: { l: 'm' } } }))
  await runtime.advance(2000)
  assert.equal((await claims()).length, 1)
  await stage.stop()
})
