/**
 * What servers say of objects that cannot be read, put in the place of what this one says. Case 24, objects whose key of the encryption at rest is gone,
 * is tried with such objects in test/unreadable; a Kubernetes v1.37.1 said of them what stands here.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../src/api/generated/types.ts'
import { forbidden, StatusError } from '../../src/api/status.ts'
import { define, type Stage, startStage, version } from './stage.ts'

const CORRUPT =
  'StorageError: corrupt object, Code: 7, Key: /secrets/vault/s, ResourceVersion: 0, AdditionalErrorMsg: data from the storage is not transformable revision=0: identity transformer tried to read encrypted data'
const get = new StatusError(500, 'InternalError', `Internal error occurred: ${CORRUPT}`)
const list = new StatusError(500, 'StorageReadError', `failed to read one or more secrets from the storage: ${CORRUPT}`)
const instead = (path: string) => (path.endsWith('/secrets/s') ? get : path.endsWith('/secrets') ? list : undefined)

let stage: Stage
before(async () => {
  stage = await startStage()
  await stage.namespace('vault')
})
after(async () => stage?.stop())

test('case 24: a Secret that cannot be decrypted', async () => {
  const { said, exitCode } = await stage.why('secret', 's', 'vault', { instead })
  assert.deepEqual([said['state'], said['verdict'], said['cause'].kind], ['unreadable', 'refused', 'unreadable'])
  assert.deepEqual([said['cause'].isDecryption, exitCode], [true, 12])
  assert.match(said['responsible'], /encryption at rest/)
  assert.match(said['sentence'], /identity transformer tried to read encrypted data/)
})

test('and the namespace it is in', async () => {
  const held = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'vault', finalizers: ['acme.test/f'] },
  }
  await stage.make(held)
  await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } })
  const { said } = await stage.why('ns', 'vault', '', { instead })
  assert.deepEqual([said['verdict'], said['cause'].kind, said['cause'].object], ['refused', 'unreadable', 'secrets'])
  assert.equal(said['cause'].isDecryption, true)
})

test('what a caller may not list of a namespace is told as the namespace’s own conditions tell it', async () => {
  const namespace = await stage.namespace('partly-seen')
  const held = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace, finalizers: ['acme.test/f'] },
  }
  await stage.make(held)
  await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const at = { group: '', resource: 'configmaps' }
  const refused = forbidden(at, '', 'User "somebody" cannot list resource "configmaps" in API group ""')
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await stage.until(object, (now) =>
    ((now as Namespace).status?.conditions ?? []).some(
      ({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True',
    ),
  )
  const instead = (path: string) => (path.endsWith('/configmaps') ? refused : undefined)
  const { said } = await stage.why('ns', namespace, '', { instead })
  assert.deepEqual([said['verdict'], said['cause'].kind], ['slow', 'unseen'])
  assert.match(
    said['sentence'],
    /configmaps\. has 1 resource instances; .*acme\.test\/f in 1 resource instances.*cannot list resource/,
  )
})

test('a server that has too much to do says nothing of the object, nor of what holds it', async () => {
  const busy = new StatusError(429, 'TooManyRequests', 'too many requests, please try again later.')
  const read = await stage.why('configmap', 'c', 'vault', {
    instead: (path) => (path.endsWith('/configmaps/c') ? busy : undefined),
  })
  assert.deepEqual([read.said['state'], read.said['verdict'], read.exitCode], ['not-visible', 'slow', 5])
  const listed = await stage.why('ns', 'vault', '', {
    instead: (path) => (path.includes('/namespaces/vault/') ? busy : undefined),
  })
  assert.deepEqual([listed.said['verdict'], listed.said['cause'].kind], ['slow', 'unseen'])
  assert.match(listed.said['sentence'], /too many requests/)
})

test('case 4, as a server says it whose watch cache cannot be filled: the definition tells the webhook', async () => {
  const versions = [version('v1', true), version('v2', false)]
  const crd = await define(stage, 'cold.acme.test', 'Gizmo', { versions })
  const service = { namespace: 'gone-system', name: 'converter', path: '/convert' }
  const webhook = { clientConfig: { service, caBundle: '' }, conversionReviewVersions: ['v1'] }
  const conversion = { spec: { conversion: { strategy: 'Webhook', webhook } } }
  await stage.of(crd).patch(crd['metadata'].name, 'merge', conversion as never)
  const cold = new StatusError(429, 'TooManyRequests', 'storage is (re)initializing')
  const { said } = await stage.why('gizmo', 'g', 'vault', {
    instead: (path) => (path.includes('/gizmos/') ? cold : undefined),
  })
  assert.deepEqual([said['verdict'], said['cause'].kind], ['nobody', 'conversion-webhook'])
})
