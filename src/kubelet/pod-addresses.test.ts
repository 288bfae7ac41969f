import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPodAddresses, nodeIPOf, podCIDROf } from './pod-addresses.ts'

test('the ranges of nodes do not touch and hold 2,000 pods each', () => {
  assert.deepEqual([0, 1, 99].map(podCIDROf), ['10.244.0.0/21', '10.244.8.0/21', '10.247.24.0/21'])
  assert.deepEqual([0, 1].map(nodeIPOf), ['172.18.0.2', '172.18.0.3'])
  const addresses = createPodAddresses(podCIDROf(1))
  const taken = new Set(Array.from({ length: 2000 }, () => addresses.take()))
  assert.equal(taken.size, 2000)
  assert.ok(taken.has('10.244.8.2'))
})

test('an address comes back when it was released, and not before', () => {
  const addresses = createPodAddresses('10.0.0.0/29')
  const all = Array.from({ length: 5 }, () => addresses.take())
  assert.throws(() => addresses.take(), /no address is free/)
  addresses.release(all[3]!)
  assert.equal(addresses.take(), all[3])
})

test('a reserved address is not given to another before it is released', () => {
  const addresses = createPodAddresses('10.0.0.0/29')
  for (const ip of ['10.0.0.2', '10.0.0.4', '10.0.0.4', '10.9.9.9']) addresses.reserve(ip)
  assert.deepEqual([addresses.take(), addresses.take(), addresses.take()], ['10.0.0.3', '10.0.0.5', '10.0.0.6'])
  assert.throws(() => addresses.take(), /no address is free/)
  addresses.release('10.0.0.4')
  assert.equal(addresses.take(), '10.0.0.4')
})

test('a range that is none is refused', () => {
  assert.throws(() => createPodAddresses('10.0.0.0'), /not a pod range/)
  assert.throws(() => createPodAddresses('fd00::/64'), /not a pod range/)
})
