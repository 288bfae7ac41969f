import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPodAddresses, nodeIPOf, podCIDROf, simulatedNetwork } from './pod-addresses.ts'

test('the ranges of nodes do not touch and hold 2,000 pods each', () => {
  assert.deepEqual([0, 1, 99].map(podCIDROf), ['10.244.0.0/21', '10.244.8.0/21', '10.247.24.0/21'])
  assert.deepEqual([0, 1].map(nodeIPOf), ['172.18.0.2', '172.18.0.3'])
  const addresses = createPodAddresses(podCIDROf(1))
  const taken = new Set(Array.from({ length: 2000 }, () => addresses.take()).flat())
  assert.equal(taken.size, 2000)
  assert.ok(taken.has('10.244.8.2'))
})

test('an address comes back when it was released, and not before', () => {
  const addresses = createPodAddresses('10.0.0.0/29')
  const all = Array.from({ length: 5 }, () => addresses.take()).flat()
  assert.throws(() => addresses.take(), /no address is free/)
  addresses.release(all[3]!)
  assert.deepEqual(addresses.take(), [all[3]])
})

test('a reserved address is not given to another before it is released', () => {
  const addresses = createPodAddresses('10.0.0.0/29')
  for (const ip of ['10.0.0.2', '10.0.0.4', '10.0.0.4', '10.9.9.9']) addresses.reserve(ip)
  assert.deepEqual([addresses.take(), addresses.take(), addresses.take()].flat(), ['10.0.0.3', '10.0.0.5', '10.0.0.6'])
  assert.throws(() => addresses.take(), /no address is free/)
  addresses.release('10.0.0.4')
  assert.deepEqual(addresses.take(), ['10.0.0.4'])
})

test('a range that is none is refused', () => {
  assert.throws(() => createPodAddresses('10.0.0.0'), /not a pod range/)
  assert.throws(() => createPodAddresses('fd00::/127'), /not a pod range/)
})

test('a pod has an address of each range, or none of any', () => {
  const addresses = createPodAddresses('10.0.0.0/30', 'fd00:1::/64')
  addresses.reserve('fd00:1::2')
  assert.deepEqual(addresses.take(), ['10.0.0.2', 'fd00:1::3'])
  assert.throws(() => addresses.take(), /no address is free in 10\.0\.0\.0\/30/)
  for (const ip of ['10.0.0.2', 'fd00:1::3', 'fd00:1::2']) addresses.release(ip)
  assert.deepEqual(addresses.take(), ['10.0.0.2', 'fd00:1::4'])
})

test('what one range gave goes back when another one has none', () => {
  const addresses = createPodAddresses('10.0.0.0/29', 'fd00:1::/126')
  assert.deepEqual(addresses.take(), ['10.0.0.2', 'fd00:1::2'])
  assert.throws(() => addresses.take(), /no address is free in fd00:1::\/126/)
  addresses.release('fd00:1::2')
  for (const ip of ['10.0.0.4', '10.0.0.5', '10.0.0.6']) addresses.reserve(ip)
  assert.deepEqual(addresses.take(), ['10.0.0.3', 'fd00:1::2'])
})

test('nodes have a range and an address of each family, in the order of the cluster', () => {
  const both = simulatedNetwork({ families: ['IPv6', 'IPv4'], nodes: 3 })
  assert.deepEqual(both.podCIDRs(2), ['fd00:10:244:2::/64', '10.244.16.0/21'])
  assert.deepEqual(both.nodeIPs(2), ['fd00:172:18::4', '172.18.0.4'])
  assert.deepEqual(simulatedNetwork({ families: ['IPv4'], nodes: 1 }).podCIDRs(1), [podCIDROf(1)])
})

test('ranges of nodes are pieces of the range that is given, the largest there is room for', () => {
  const network = (nodes: number, ...clusterCidrs: readonly string[]) =>
    simulatedNetwork({ families: clusterCidrs.length > 1 ? ['IPv4', 'IPv6'] : ['IPv4'], nodes, clusterCidrs })
  assert.deepEqual(network(3, '10.1.0.0/16', 'fd01::/56').podCIDRs(1), ['10.1.8.0/21', 'fd01:0:0:1::/64'])
  assert.deepEqual(network(3, '10.1.0.0/22').podCIDRs(2), ['10.1.2.0/24'])
  assert.throws(() => network(5, '10.1.0.0/22'), /10\.1\.0\.0\/22 has no room for 5 ranges of \/24/)
  assert.throws(() => network(1, 'fd01::/56'), /Services have IPv4 addresses/)
  assert.throws(() => network(1, '10.1.0.0'), /10\.1\.0\.0 is no range/)
})
