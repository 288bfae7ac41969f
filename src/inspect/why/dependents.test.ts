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
