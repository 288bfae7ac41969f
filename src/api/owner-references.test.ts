import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OwnerReference } from './object.ts'
import { sameOwnerReferences } from './owner-references.ts'

const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: '1', controller: true }

test('owner references are the same by all that they say, in their order', () => {
  assert.equal(sameOwnerReferences([owner], [{ ...owner }]), true)
  assert.equal(sameOwnerReferences(undefined, undefined), true)
  assert.equal(sameOwnerReferences(undefined, []), false)
  const other = { ...owner, uid: '2' }
  assert.equal(sameOwnerReferences([owner, other], [other, owner]), false)
  assert.equal(sameOwnerReferences([owner], [owner, other]), false)
  const differing: readonly Partial<OwnerReference>[] = [
    { apiVersion: 'apps/v2' },
    { kind: 'B' },
    { name: 'b' },
    { uid: '2' },
    { controller: false },
    { blockOwnerDeletion: true },
  ]
  for (const field of differing) assert.equal(sameOwnerReferences([owner], [{ ...owner, ...field }]), false)
})
