import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '../errors/field-errors.ts'
import type { Fields, KubeObject } from '../object.ts'
import { validateGrantedAccess, validateRequestedAccess, validateResourceClaimStatus } from './claim-status.ts'

const spec = { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'c' } }] } }
const result = { request: 'gpu', driver: 'd.example.com', pool: 'p', device: 'one' }
const allocation = { devices: { results: [result] } }
const consumer = { resource: 'pods', name: 'p', uid: 'u1' }
const claim = (status?: Fields, metadata: object = {}): KubeObject => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: 'c', ...metadata },
  spec,
  ...(status ? { status } : {}),
})
const lines = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`)
const told = (status: Fields, before?: Fields, metadata?: object) =>
  lines(validateResourceClaimStatus(claim(status, metadata), claim(before)))

test('an allocation and whom it is reserved for are right together', () => {
  assert.deepEqual(told({ allocation, reservedFor: [consumer] }), [])
})

test('a claim that is not allocated is reserved for no one', () => {
  assert.deepEqual(told({ reservedFor: [consumer] }), [
    'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
  ])
})

test('a consumer is told by resource, name and uid', () => {
  assert.deepEqual(told({ allocation, reservedFor: [{}] }), [
    'status.reservedFor[0].resource: Required value',
    'status.reservedFor[0].name: Required value',
    'status.reservedFor[0].uid: Required value',
  ])
})

test('a claim that is going keeps its consumers and takes no other', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const before = { allocation, reservedFor: [consumer] }
  assert.deepEqual(told(before, before, going), [])
  const more = { allocation, reservedFor: [consumer, { ...consumer, uid: 'u2' }] }
  assert.match(told(more, before, going)[0]!, /^status\.reservedFor: Forbidden: new entries may not be added/)
})

test('an allocation names requests of the claim, and is judged only when it is new', () => {
  const wrong = { devices: { results: [{ ...result, request: 'other' }] } }
  assert.match(told({ allocation: wrong })[0]!, /^status\.allocation\.devices\.results\[0\]\.request: /)
  assert.deepEqual(told({ allocation: wrong }, { allocation: wrong }), [])
})

test('a driver tells of allocated devices alone', () => {
  const { request: _, ...device } = result
  assert.deepEqual(told({ allocation, devices: [device] }), [])
  assert.match(told({ allocation, devices: [{ ...device, device: 'two' }] })[0]!, /must be an allocated device/)
})

test('the data of a device is an object of at most ten kibibytes', () => {
  const { request: _, ...device } = result
  const data = (value: unknown) => told({ allocation, devices: [{ ...device, data: value }] } as Fields)
  assert.deepEqual(data({ a: 1 }), [])
  assert.match(data([1])[0]!, /must be a valid JSON object/)
  assert.match(data({ a: 'x'.repeat(10 * 1024) })[0]!, /Too long/)
})

test("a device's addresses have a length and stand in their canonical form", () => {
  const { request: _, ...device } = result
  const ips = (...list: string[]) => told({ allocation, devices: [{ ...device, networkData: { ips: list } }] })
  assert.deepEqual(ips('10.9.8.7/24', '2001:db8::1/64'), [])
  assert.match(ips('10.9.8.7')[0]!, /must be a valid address in CIDR form/)
  assert.match(ips('2001:0db8::1/64')[0]!, /must be in canonical form \("2001:db8::1\/64"\)/)
  assert.match(ips('10.09.8.7/24')[0]!, /must be in canonical form \("10.9.8.7\/24"\)/)
})

test('a device has at most eight conditions, each a whole one', () => {
  const { request: _, ...device } = result
  const condition = { status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const conditions = (count: number) =>
    told({
      allocation,
      devices: [{ ...device, conditions: Array.from({ length: count }, (_, i) => ({ ...condition, type: `T${i}` })) }],
    })
  assert.deepEqual(conditions(8), [])
  assert.match(conditions(9)[0]!, /^status\.devices\[0\]\.conditions: Too many/)
})

test('administrative access asks for the label of the namespace', () => {
  const wanted = { devices: { requests: [{ name: 'a' }, { name: 'b', exactly: { adminAccess: true } }] } }
  assert.match(
    lines(validateRequestedAccess(wanted, () => ({})))[0]!,
    /^spec\.devices\.requests\[1\]\.adminAccess: Forb/,
  )
  assert.deepEqual(
    validateRequestedAccess(wanted, () => ({ 'resource.kubernetes.io/admin-access': 'true' })),
    [],
  )
  assert.deepEqual(
    validateRequestedAccess(spec, () => assert.fail('the namespace is not asked about')),
    [],
  )
})

test('access that was granted stays granted', () => {
  const granted = claim({ allocation: { devices: { results: [{ ...result, adminAccess: true }] } } })
  assert.equal(validateGrantedAccess(granted, claim(), () => ({})).length, 1)
  assert.deepEqual(
    validateGrantedAccess(granted, granted, () => ({})),
    [],
  )
})
