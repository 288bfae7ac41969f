import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { conflict } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated.ts'
import { createClient, inProcessTransport } from '../../client/transport.ts'
import { createOperations } from './operations.ts'

const identity = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'a', uid: 'u' }
const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'g' }

/** An object that is another one at every look: `states` are its owners then. */
async function deletesOf(...states: readonly (readonly object[])[]) {
  const runtime = simulatedRuntime(1)
  const deletes: Fields[] = []
  let version = 0
  const current = (): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      ...{ name: 'a', namespace: 'n', uid: 'u', resourceVersion: String(version) },
      ownerReferences: (states[Math.min(version, states.length - 1)] ?? []) as never,
    },
  })
  const handler: Handler = async ({ method, body }) => {
    if (method === 'GET') return { kind: 'object', status: 200, object: current() }
    const preconditions: Fields = body?.kind === 'object' ? body.object['preconditions'] : {}
    deletes.push(preconditions)
    if (preconditions['resourceVersion'] === String(version) && deletes.length > 2)
      return { kind: 'object', status: 200, object: current() }
    version++
    throw conflict({ group: '', resource: 'ConfigMap' }, 'a', 'changed')
  }
  const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'test' })
  const row = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: [] }
  const { deleteObject } = createOperations(runtime, client, () => row)
  const outcome = await runtime.complete(
    deleteObject(identity, current(), 'Background').then(
      () => 'deleted',
      () => 'decided anew',
    ),
  )
  return { outcome, versions: deletes.map(({ resourceVersion }) => resourceVersion) }
}

test('an object that only changed otherwise is deleted as it was last seen', async () => {
  assert.deepEqual(await deletesOf([gone]), { outcome: 'deleted', versions: ['0', '1', '2'] })
})

test('an object that lost or got an owner since is not deleted: its owners are looked at again', async () => {
  assert.deepEqual(await deletesOf([gone], []), { outcome: 'decided anew', versions: ['0'] })
  assert.deepEqual(await deletesOf([gone], [gone], [gone, { ...gone, uid: 'other' }]), {
    outcome: 'decided anew',
    versions: ['0', '1'],
  })
})
