import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import { controllerLinks } from './controllers.ts'
import { refOf } from './look.ts'
import { givenResource, lookAt } from './look-fixture.test.ts'

const now = Date.parse('2026-11-28T12:00:00Z')

/** What is said of a finalizer, where one Deployment runs. */
async function saidOf(finalizer: string, namespace: string, name: string, image: string, command = 'run') {
  const labels = { of: 'it' }
  const deployment: Fields = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, uid: 'd' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { serviceAccountName: 'own', containers: [{ name: 'c', image, command: [command] }] },
      },
    },
    status: { readyReplicas: 1 },
  }
  const held: Fields = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'x',
      namespace: 'team',
      uid: 'x',
      finalizers: [finalizer],
      deletionTimestamp: '2026-11-28T11:00:00Z',
    },
  }
  const served = ['StatefulSet', 'DaemonSet'].map((kind) => ['apps/v1', kind] as const)
  const look = lookAt({ objects: [deployment, held], now, served })
  const links = await controllerLinks(
    look,
    refOf(givenResource('v1', 'ConfigMap'), held as never),
    held as never,
    finalizer,
    undefined,
  )
  return links.map(({ cause }) => cause.kind)
}

test('a workload is known by the beginning of a domain: by its own name or image, and not where that is another word', async () => {
  const none = ['controller-missing']
  assert.deepEqual(await saidOf('networks.acme8.io/cleanup', 'network', 'frontend', 'registry.test/web:1'), none)
  assert.deepEqual(await saidOf('networks.acme8.io/cleanup', 'shop', 'network', 'registry.test/web:1'), none)
  assert.deepEqual(await saidOf('gatewaysystem.acme8.io/cleanup', 'gateway', 'frontend', 'registry.test/web:1'), none)
  assert.deepEqual(await saidOf('gatewaysystem.acme8.io/cleanup', 'shop', 'frontend', 'web:1', '/bin/gateway'), none)
  assert.deepEqual(await saidOf('registryapps.io/cleanup', 'shop', 'frontend', 'registry.test:5000/web:1'), none)
  for (const [name, image] of [
    ['harvester', 'registry.test/web:1'],
    ['main', 'registry.test:5000/rancher/harvester:v1'],
  ] as const)
    assert.notDeepEqual(await saidOf('harvesterhci.io/cleanup', 'shop', name, image), none, name)
})
