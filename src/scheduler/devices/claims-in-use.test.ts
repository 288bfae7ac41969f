import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'
import { createClaimsInUse } from './claims-in-use.ts'

const allocation = (device: string) => ({ devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device }] } })
const claim = (resourceVersion: string, device?: string) =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { namespace: 'ns', name: 'c', uid: 'u', resourceVersion },
    status: device === undefined ? {} : { allocation: allocation(device) },
  }) as unknown as ResourceClaim

/** A watch of which the tests say what it shows. */
function setup() {
  const shown = new Map<string, ResourceClaim>()
  const inUse = createClaimsInUse((key) => shown.get(key))
  return {
    inUse,
    isTaken: (device: string) => inUse.usage.trial().isTaken(`d/p/${device}`),
    show(one: ResourceClaim) {
      shown.set('ns/c', one)
      inUse.noticed(one)
    },
    hide(one: ResourceClaim) {
      shown.delete('ns/c')
      inUse.noticed(one)
    },
  }
}

test('what was promised is taken until it is settled', () => {
  const { inUse, isTaken, show } = setup()
  show(claim('1'))
  inUse.promise('ns/c', allocation('a'))
  assert.ok(isTaken('a'))
  inUse.settle('ns/c')
  assert.ok(!isTaken('a'))
})

test('an answer counts until the watch shows something as new', () => {
  const { inUse, isTaken, show, hide } = setup()
  show(claim('1'))
  inUse.answered(claim('3', 'a'))
  show(claim('2'))
  assert.ok(isTaken('a'))
  show(claim('4'))
  assert.ok(!isTaken('a'))
  show(claim('5', 'b'))
  hide(claim('5', 'b'))
  assert.ok(!isTaken('b'))
})

test('a claim without a name yet counts once, then by its name', () => {
  const { inUse, isTaken, show, hide } = setup()
  inUse.promiseUnnamed('pod', allocation('a'))
  inUse.named('pod', 'ns/c')
  show(claim('1'))
  assert.ok(isTaken('a'))
  show(claim('2', 'a'))
  assert.ok(isTaken('a'))
  assert.equal(inUse.nameOf('pod'), undefined)
  hide(claim('2', 'a'))
  assert.ok(!isTaken('a'))
})
