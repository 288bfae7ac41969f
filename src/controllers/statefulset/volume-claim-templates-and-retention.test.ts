import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { isStale, ownersFor } from './volume-claim-templates-and-retention.ts'

const setOf = (policy: Fields): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 's', uid: 'set' },
    spec: { persistentVolumeClaimRetentionPolicy: policy },
  }) as never
const pod = { metadata: { name: 's-1', uid: 'pod' } } as KubeObject
const claimOf = (...ownerReferences: Fields[]): KubeObject =>
  ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'd-s-1', ownerReferences } }) as never
const owners = (policy: Fields, inRange: boolean, claim: KubeObject = claimOf()) =>
  ownersFor(setOf(policy), claim, { pod, inRange })?.map(({ kind }) => kind)

test('whose end a claim shares follows the policy and whether its pod is wanted', () => {
  const both = { whenDeleted: 'Delete', whenScaled: 'Delete' }
  assert.equal(owners({}, true), undefined)
  assert.deepEqual(owners({ whenDeleted: 'Delete' }, true), ['StatefulSet'])
  assert.deepEqual(owners({ whenDeleted: 'Delete' }, false), ['StatefulSet'])
  assert.equal(owners({ whenScaled: 'Delete' }, true), undefined)
  assert.deepEqual(owners({ whenScaled: 'Delete' }, false), ['Pod'])
  assert.deepEqual(owners(both, true), ['StatefulSet'])
  assert.deepEqual(owners(both, false), ['Pod'])
})

test('who owns it already is kept or given up; foreign owners stay, and a foreign controller keeps all', () => {
  const bySet = { kind: 'StatefulSet', name: 's', uid: 'set', controller: true }
  const byOther = { kind: 'ConfigMap', name: 'x', uid: 'x' }
  assert.equal(owners({ whenDeleted: 'Delete' }, true, claimOf(bySet)), undefined)
  assert.deepEqual(owners({}, true, claimOf(bySet)), [])
  assert.deepEqual(owners({}, true, claimOf(byOther, bySet)), ['ConfigMap'])
  assert.equal(owners({ whenDeleted: 'Delete' }, true, claimOf({ ...byOther, controller: true })), undefined)
})

test('a claim that goes with a pod is no claim for the next one of its name', () => {
  assert.ok(isStale(claimOf({ kind: 'Pod', name: 's-1', uid: 'former' }), 's-1'))
  assert.ok(!isStale(claimOf({ kind: 'StatefulSet', name: 's', uid: 'set' }), 's-1'))
})
