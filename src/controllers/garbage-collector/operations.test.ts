import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../../client/transport.ts'
import { createGarbageOperations } from './operations.ts'

const resource = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: ['get', 'delete'],
}
const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' }

test('an owner that many ask for at once is asked for once, and anew after the graph changed', async () => {
  const runtime = simulatedRuntime(1)
  let asked = 0
  const handler: Handler = async ({ path }) => {
    asked++
    const metadata = { name: 'owner', namespace: path.split('/')[4] ?? '', uid: String(asked) }
    return { kind: 'object', status: 200, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } }
  }
  const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'test' })
  const operations = createGarbageOperations(runtime, client, () => resource)
  const ask = (namespace: string) => operations.getOwner(reference, resource, namespace)

  const both = [ask('a'), ask('a')]
  const other = ask('b')
  operations.graphChanged()
  const later = ask('a')
  const answers = await runtime.complete(Promise.all([...both, other, later]))
  assert.equal(asked, 3)
  assert.equal(answers[0], answers[1])
  assert.equal(answers[2]?.metadata.namespace, 'b')
  assert.notEqual(answers[3], answers[0])
  await runtime.complete(ask('a'))
  assert.equal(asked, 4)
})

test('what changed since it was looked at is deleted whatever its version is now, as long as its owners are the same', async () => {
  const deletionsOf = async (ownersNow: readonly (typeof reference)[]) => {
    const runtime = simulatedRuntime(1)
    const asked: Fields[] = []
    const handler: Handler = async ({ method, body }) => {
      const metadata = { name: 'a', namespace: 'n', uid: '1', resourceVersion: '8', ownerReferences: ownersNow }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
      if (method !== 'DELETE') return { kind: 'object', status: 200, object }
      const preconditions: Fields = body?.kind === 'object' ? (body.object as Fields)['preconditions'] : {}
      asked.push(preconditions)
      if (preconditions['resourceVersion'] === '7') throw new StatusError(409, 'Conflict', 'it is 8')
      return { kind: 'object', status: 200, object }
    }
    const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'test' })
    const { deleteObject } = createGarbageOperations(runtime, client, () => resource)
    const identity = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'a', uid: '1' }
    const latest = { name: 'a', namespace: 'n', uid: '1', resourceVersion: '7', ownerReferences: [reference] }
    const deleting = deleteObject(identity, { apiVersion: 'v1', kind: 'ConfigMap', metadata: latest }, 'Background')
    return {
      asked,
      failed: await runtime.complete(
        deleting.then(
          () => false,
          () => true,
        ),
      ),
    }
  }
  const looked = { uid: '1', resourceVersion: '7' }
  assert.deepEqual(await deletionsOf([reference]), { asked: [looked, { uid: '1' }], failed: false })
  assert.deepEqual(await deletionsOf([]), { asked: [looked], failed: true })
})
