/** What a binding says of the pod it is for must be so, or the pod stays where it is. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from './harness.ts'

const PODS = '/api/v1/namespaces/default/pods'
let api: TestApi

before(async () => {
  api = await startTestApi()
  const metadata = { name: 'default' }
  await api.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata })
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata }
  await api.request('POST', '/api/v1/namespaces/default/serviceaccounts', account)
})
after(() => api.stop())

async function pod(name: string): Promise<Record<'uid' | 'resourceVersion', string>> {
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] }
  const { code, body } = await api.request('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
  assert.equal(code, 201, JSON.stringify(body))
  return body.metadata
}

async function bind(path: string, metadata: object): Promise<string> {
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: 'n1' } }
  const { code, body } = await api.request('POST', `/api/v1/namespaces/default/${path}`, binding)
  return code === 201 ? 'bound' : `${body.message} (${body.details?.kind})`
}

const invalid = (key: string, name: string, why: string) =>
  `Operation cannot be fulfilled on pods "${name}": StorageError: invalid object, Code: 4, Key: ${key}/pods/default/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${why} (pods)`

test('a foreign resourceVersion is refused, before a pod that has a node already', async () => {
  const { resourceVersion } = await pod('versions')
  const why = (now: string, sent = '1') =>
    `ResourceVersion in precondition: ${sent}, ResourceVersion in object meta: ${now}`
  for (const path of ['bindings', 'pods/versions/binding']) {
    const metadata = { name: 'versions', resourceVersion: '1' }
    assert.equal(await bind(path, metadata), invalid('/registry', 'versions', why(resourceVersion)))
    assert.equal(await bind(`${path}?dryRun=All`, metadata), invalid('', 'versions', why(resourceVersion)))
    const abc = await bind(path, { name: 'versions', resourceVersion: 'abc' })
    assert.equal(abc, invalid('/registry', 'versions', why(resourceVersion, 'abc')))
  }
  assert.equal(await bind('bindings', { name: 'versions', resourceVersion }), 'bound')
  const { body } = await api.request('GET', `${PODS}/versions`)
  const again = await bind('bindings', { name: 'versions', resourceVersion: '1' })
  assert.equal(again, invalid('/registry', 'versions', why(body.metadata.resourceVersion)))
})

test("a foreign uid is refused where the pod's own binding is made, before its resourceVersion; among bindings it does not count", async () => {
  const { uid } = await pod('uids')
  const foreign = { name: 'uids', uid: 'x' }
  const why = `UID in precondition: x, UID in object meta: ${uid}`
  assert.equal(await bind('pods/uids/binding', foreign), invalid('/registry', 'uids', why))
  const both = await bind('pods/uids/binding', { ...foreign, resourceVersion: '1' })
  assert.equal(both, invalid('/registry', 'uids', why))
  assert.equal(await bind('bindings', foreign), 'bound')
  assert.equal(
    await bind('bindings', foreign),
    'Operation cannot be fulfilled on pods/binding "uids": pod uids is already assigned to node "n1" (pods/binding)',
  )
  assert.equal(await bind('pods/uids/binding', foreign), invalid('/registry', 'uids', why))
})

test('no pod, no binding, whatever it says', async () => {
  for (const path of ['bindings', 'pods/none/binding'])
    assert.equal(await bind(path, { name: 'none', uid: 'x', resourceVersion: '1' }), 'pods "none" not found (pods)')
})
