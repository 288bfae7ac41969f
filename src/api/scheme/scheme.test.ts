import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { builtinGroups, builtinKind, builtinScheme } from './scheme.ts'

test('every served resource is a row with a schema, subresources too', () => {
  const rows = builtinScheme().rows()
  assert.equal(rows.length, 72)
  for (const row of rows) {
    assert.ok(row.schema.fields.length > 0, row.resource)
    for (const sub of row.subresources) assert.ok(sub.schema.fields.length > 0, `${row.resource}/${sub.name}`)
  }
})

test('rows are found by resource and by kind', () => {
  const scheme = builtinScheme()
  const pods = scheme.find('', 'v1', 'pods')
  assert.equal(pods?.kind, 'Pod')
  assert.deepEqual(pods?.shortNames, ['po'])
  assert.equal(scheme.findKind('apps', 'v1', 'Deployment')?.resource, 'deployments')
  assert.equal(scheme.find('', 'v1', 'bogus'), undefined)
  assert.equal(scheme.find('apps', 'v9', 'deployments'), undefined)
})

test('resources are stored where the layout of etcd has them', () => {
  const prefix = (group: string, version: string, resource: string) =>
    builtinScheme().find(group, version, resource)?.storagePrefix
  assert.equal(prefix('', 'v1', 'pods'), 'pods')
  assert.equal(prefix('', 'v1', 'services'), 'services/specs')
  assert.equal(prefix('', 'v1', 'endpoints'), 'services/endpoints')
  assert.equal(prefix('', 'v1', 'nodes'), 'minions')
  assert.equal(prefix('', 'v1', 'replicationcontrollers'), 'controllers')
  assert.equal(prefix('networking.k8s.io', 'v1', 'ingresses'), 'ingress')
  assert.equal(prefix('apiregistration.k8s.io', 'v1', 'apiservices'), 'apiregistration.k8s.io/apiservices')
  assert.equal(
    prefix('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
    'apiextensions.k8s.io/customresourcedefinitions',
  )
  assert.equal(prefix('authorization.k8s.io', 'v1', 'subjectaccessreviews'), '')
})

// Kubernetes hashes the group, version and kind it stores; kinds that it stores in a version it does not serve are left out.
test('storage versions agree with the storage version hashes', () => {
  const notServed = ['CustomResourceDefinition', 'ClusterTrustBundle', 'PodCertificateRequest', 'DeviceTaintRule']
  for (const row of builtinScheme().rows()) {
    if (row.storageVersionHash === '' || notServed.includes(row.kind) || row.kind === 'StorageVersionMigration')
      continue
    const stored = `${row.storageGroup}/${row.storageVersion}/${row.kind}`
    const hash = createHash('sha256').update(stored).digest().subarray(0, 8).toString('base64')
    assert.equal(hash, row.storageVersionHash, stored)
  }
})

test('subresources carry their own kind', () => {
  const deployments = builtinScheme().find('apps', 'v1', 'deployments')
  const scale = deployments?.subresources.find(({ name }) => name === 'scale')
  assert.equal(`${scale?.group}/${scale?.version} ${scale?.kind}`, 'autoscaling/v1 Scale')
  assert.equal(scale?.schema.goType, 'v1.Scale')
})

test('kinds are known by every name a body may give them', () => {
  const definition = (group: string, version: string, kind: string) => {
    const found = builtinKind(group, version, kind)
    return typeof found === 'object' ? found.definition : found
  }
  assert.equal(definition('apps', 'v1', 'Deployment'), 'io.k8s.api.apps.v1.Deployment')
  assert.equal(definition('batch', 'v1beta1', 'CronJob'), 'unserved')
  assert.equal(definition('apps', 'v1', 'DeleteOptions'), 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions')
  assert.equal(definition('apps', 'v1', 'constructor'), undefined)
  assert.equal(definition('bogus', 'v1', 'Pod'), undefined)
})

test('groups are listed in the order of discovery', () => {
  assert.deepEqual(
    builtinGroups()
      .slice(0, 3)
      .map(({ name }) => name),
    ['apiregistration.k8s.io', 'apps', 'events.k8s.io'],
  )
})
