import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../../api/request.ts'
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
