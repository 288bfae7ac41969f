/** Owners deleted in the foreground, and what they wait for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { givenResource, lookAt } from './look-fixture.test.ts'
import { survey } from './survey-of-deletions.ts'
import { explainObject } from './why.ts'

const SINCE = '2026-01-01T00:00:00Z'
const NOW = Date.parse(SINCE) + 60_000
const FOREGROUND = ['foregroundDeletion']

function goes(apiVersion: string, kind: string, name: string, finalizers: readonly string[], more: Fields = {}) {
  const metadata = { name, namespace: 'n', uid: `uid-${name}`, deletionTimestamp: SINCE, finalizers }
  return { apiVersion, kind, metadata, ...more }
}

const owned = (object: Fields, owner: Fields): Fields => {
  const { apiVersion, kind, metadata } = owner
  const reference = { apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true }
  return { ...object, metadata: { ...object['metadata'], ownerReferences: [reference] } }
}

const ask = (look: ReturnType<typeof lookAt>, object: Fields) =>
  explainObject(look, givenResource(object['apiVersion'], object['kind']), object as KubeObject)

for (const volumes of [{ x: 1 }, 'hi', [null]])
  test(`custom resources that wait for each other may have volumes of any form: ${JSON.stringify(volumes)}`, async () => {
    const [a, b] = ['a', 'b'].map((name) => goes('acme.test/v1', 'Thing', name, FOREGROUND, { spec: { volumes } }))
    const objects = [owned(a!, b!), owned(b!, a!)]
    const { verdict, cause } = await ask(lookAt({ objects, now: NOW }), objects[0]!)
    assert.deepEqual([verdict, cause.kind], ['cannot-end', 'owner-cycle'])
  })

test('an object that cannot be looked at hides no other from the survey', async () => {
  const objects = ['a', 'b'].map((name) => goes('acme.test/v1', `Thing${name}`, name, ['acme.test/f']))
  const look = lookAt({ objects, now: NOW })
  const get: typeof look.reader.get = (gvr, namespace, name) => {
    if (name === 'a') throw new TypeError('volumes.some is not a function')
    return look.reader.get(gvr, namespace, name)
  }
  const { found } = await survey({ ...look, reader: { ...look.reader, get } })
  const said = new Map(found.map((one) => [one.object.name, one]))
  assert.equal(said.get('b')?.cause.kind, 'controller-missing')
  assert.deepEqual([said.get('a')?.state, said.get('a')?.cause.kind], ['deleting', 'unseen'])
  assert.match(said.get('a')?.sentence ?? '', /could not be looked at: volumes/)
})

test('of a cycle through a claim the reference that blocks is named, from whichever end it is asked', async () => {
  const pod = goes('v1', 'Pod', 'db', FOREGROUND, {
    spec: { nodeName: 'x', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }], containers: [] },
    status: { phase: 'Succeeded' },
  })
  const claim = owned(goes('v1', 'PersistentVolumeClaim', 'data', ['kubernetes.io/pvc-protection']), pod)
  for (const asked of [pod, claim]) {
    const { cause, waysOut } = await ask(lookAt({ objects: [pod, claim], now: NOW }), asked)
    assert.equal(cause.kind, 'owner-cycle')
    const commands = waysOut.filter(({ what }) => what.includes('blockOwnerDeletion')).map(({ command }) => command)
    assert.deepEqual(commands, ['kubectl edit persistentvolumeclaims/data -n n'])
  }
})

const owner = goes('v1', 'ConfigMap', 'owner', FOREGROUND)
const COLLECTS: Fields = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
  spec: { holderIdentity: 'a', renewTime: new Date(NOW).toISOString() },
}
const role = owned(
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r', uid: 'r' } },
  owner,
)
const elsewhere = owned(
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'e', namespace: 'm', uid: 'e' } },
  owner,
)
const INVALID: Fields = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'default' },
  reason: 'OwnerRefInvalidNamespace',
  message: 'ownerRef [v1/ConfigMap, namespace: , name: owner, uid: uid-owner] does not exist in namespace ""',
  involvedObject: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'r', uid: 'r' },
}
const MANY = Array.from({ length: 81 }, (_, index) => ['acme.test/v1', `Kind${index}`] as const)
const ROLES = ['rbac.authorization.k8s.io/v1', 'ClusterRole'] as const

/** What is said of the owner, the lists of all namespaces that were asked for, and how many requests were made. */
async function said(given: Omit<Parameters<typeof lookAt>[0], 'now'>) {
  const asked: string[] = []
  const look = lookAt({ ...given, now: NOW, onRequest: (path) => asked.push(path) })
  const { cause, sentence, chain } = await ask(look, owner)
  const wide = asked.filter((path) => /v1\/\w+\?$/.test(path))
  return { kind: cause.kind, sentence, chain: JSON.stringify(chain), wide, requests: asked.length }
}

test('a dependent in no namespace is found by its Event, before anything is listed in all namespaces', async () => {
  const { kind, wide } = await said({ objects: [owner, role, COLLECTS, INVALID], served: MANY })
  assert.deepEqual([kind, wide.filter((path) => !path.includes('k8s.io'))], ['misplaced-owner', []])
})

test('without an Event kinds that are in no namespace are listed first, which many definitions do not hinder', async () => {
  const { kind, wide } = await said({ objects: [owner, role, COLLECTS], served: MANY, budget: 150 })
  assert.equal(kind, 'misplaced-owner')
  assert.deepEqual(
    wide.filter((path) => path.includes('acme')),
    [],
  )
})

test('a dependent in another namespace is found last', async () => {
  const { chain } = await said({ objects: [owner, elsewhere, COLLECTS], served: [ROLES] })
  assert.match(chain, /"kind":"blocking-dependent","dependent":{[^}]*"name":"e"/)
})

test('who may list in the namespace alone is told that nothing is known of what is outside of it', async () => {
  const refused = ['/api/v1/configmaps', '/api/v1/events', '/apis/rbac.authorization.k8s.io/v1/clusterroles']
  const events = ['v1', 'Event'] as const
  const one = await said({ objects: [owner, role, COLLECTS], served: [events], refused })
  assert.match(
    one.chain,
    /dependents outside of its namespace among clusterroles.rbac.authorization.k8s.io, configmaps/,
  )
  assert.doesNotMatch(one.chain, /dependents among/)
  const secrets = ['v1', 'Secret'] as const
  const two = await said({
    objects: [owner, role, COLLECTS],
    served: [events, secrets, ...MANY],
    refused: [...refused, '/api/v1/namespaces/n/secrets'],
    budget: 115,
  })
  assert.match(two.chain, /dependents among secrets/)
  assert.match(two.chain, /outside of its namespace/)
})
