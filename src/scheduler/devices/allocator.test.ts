import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceRequestAllocationResult, Node, ResourceSlice } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'
import { allocateDevices, NotNow } from './allocator.ts'
import { createUsage } from './capacity.ts'
import { poolsOf } from './pools.ts'
import { ClaimError, createSelectors } from './selectors.ts'

const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
const cel = (expression: string) => ({ selectors: [{ cel: { expression } }] })

function slice(devices: readonly Fields[], spec: Fields = {}, pool: Fields = {}): ResourceSlice {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 's' },
    spec: {
      driver: 'd.example.com',
      nodeName: 'n',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1, ...pool },
      devices,
      ...spec,
    },
  } as unknown as ResourceSlice
}

const claim = (name: string, requests: readonly Fields[], more: Fields = {}) =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace: 'ns' },
    spec: { devices: { requests, ...more } },
  }) as unknown as ResourceClaim
const exactly = (name: string, more: Fields = {}) => ({ name, exactly: { deviceClassName: 'c', ...more } })

/** The devices of each claim; undefined when there are not enough. */
function devicesOf(
  slices: readonly ResourceSlice[],
  claims: readonly ResourceClaim[],
  inUse: readonly DeviceRequestAllocationResult[] = [],
) {
  const usage = createUsage()
  usage.set('ns/other', inUse)
  const allocations = allocateDevices(claims, node, {
    pools: poolsOf(slices).forNode(node),
    usage,
    classes: () => undefined,
    selectors: createSelectors(),
    taints: ({ device }) => device.taints ?? [],
    newShare: () => 'share',
  })
  return allocations?.map((one) => (one.devices?.results ?? []).map(({ device }) => device))
}

const named = (...names: readonly string[]) => names.map((name) => ({ name }))
const taken = (device: string, more: Fields = {}) => ({
  request: 'r',
  driver: 'd.example.com',
  pool: 'p',
  device,
  ...more,
})

test('what a later claim cannot do without, an earlier one leaves', () => {
  const odd = cel('device.attributes["d.example.com"].odd')
  const devices = named('a', 'b').map((device) => ({ ...device, attributes: { odd: { bool: device.name === 'a' } } }))
  const claims = [claim('any', [exactly('r')]), claim('odd', [exactly('r', odd)])]
  assert.deepEqual(devicesOf([slice(devices)], claims), [['b'], ['a']])
})

test('devices of claims are taken, but for administrative access', () => {
  assert.deepEqual(devicesOf([slice(named('a', 'b'))], [claim('c', [exactly('r')])], [taken('a')]), [['b']])
  const asAdmin = [taken('a', { adminAccess: true })]
  assert.deepEqual(devicesOf([slice(named('a', 'b'))], [claim('c', [exactly('r')])], asAdmin), [['a']])
})

test('a pool with two devices of one name gives none', () => {
  assert.equal(devicesOf([slice(named('a', 'a'))], [claim('c', [exactly('r')])]), undefined)
})

test('all devices are not asked of a pool whose slices are on their way', () => {
  const list = [slice(named('a'), {}, { resourceSliceCount: 2 })]
  assert.throws(() => devicesOf(list, [claim('c', [exactly('r', { allocationMode: 'All' })])]), {
    message:
      'claim ns/c, request r: asks for all devices, but resource pool d.example.com/p is currently being updated',
  })
})

test('all devices are not to be had where one has a taint that is not tolerated, by an administrator neither', () => {
  const list = [slice([{ name: 'a', taints: [{ key: 'k', effect: 'NoSchedule' }] }, { name: 'b' }])]
  const all = (more: object) => devicesOf(list, [claim('c', [exactly('r', { allocationMode: 'All', ...more })])])
  assert.equal(all({}), undefined)
  assert.equal(all({ adminAccess: true }), undefined)
  assert.deepEqual(all({ adminAccess: true, tolerations: [{ operator: 'Exists' }] }), [['a', 'b']])
})

test('a claim gets no more than 32 devices', () => {
  const names = Array.from({ length: 40 }, (_, at) => `d${at}`)
  assert.equal(devicesOf([slice(named(...names))], [claim('c', [exactly('r', { count: 32 })])])?.[0]?.length, 32)
  const more = claim('c', [exactly('r', { count: 32 }), exactly('s')])
  assert.throws(() => devicesOf([slice(named(...names))], [more]), ClaimError)
})

test('a search without end is given up', () => {
  const devices = Array.from({ length: 40 }, (_, at) => ({ name: `d${at}`, attributes: { odd: { int: at } } }))
  const same = { constraints: [{ distinctAttribute: 'd.example.com/odd' }] }
  const claims = [
    claim('c', [exactly('r', { count: 20 })], same),
    claim('e', [exactly('r', { ...cel('device.driver == "none"') })]),
  ]
  assert.throws(() => devicesOf([slice(devices)], claims), NotNow)
})

test('an alternative that fails later gives way to the next one', () => {
  const requests = [
    {
      name: 'r',
      firstAvailable: [
        { name: 'two', deviceClassName: 'c', count: 2 },
        { name: 'one', deviceClassName: 'c' },
      ],
    },
    exactly('s'),
  ]
  assert.deepEqual(devicesOf([slice(named('a', 'b'))], [claim('c', requests)]), [['a', 'b']])
})

test('an expression that does not hold for a device is told with both', () => {
  const claims = [claim('c', [exactly('r', cel('device.attributes["d.example.com"].size > 1'))])]
  assert.throws(
    () => devicesOf([slice(named('a'))], claims),
    (error) => {
      assert.ok(error instanceof ClaimError)
      assert.match(
        error.message,
        /^claim ns\/c: selector #0 on device d.example.com\/p\/a: CEL runtime error: no such key: size/,
      )
      return true
    },
  )
})

test('what a device has in a domain that it says nothing of is asked with has()', () => {
  const claims = [claim('c', [exactly('r', cel('!has(device.attributes["other.example.com"].size)'))])]
  assert.deepEqual(devicesOf([slice(named('a'))], claims), [['a']])
})
