import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, PersistentVolumeClaim, StorageClass } from '../api/generated/types.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { createStorageCapacity } from './storage-capacity.ts'
import { node } from './test-objects.ts'
import { startSchedulerStandIn } from './test-stand-in.ts'

const HOSTNAME = 'kubernetes.io/hostname'
const apiVersion = 'storage.k8s.io/v1'
const late = { metadata: { name: 'late' }, provisioner: 'example.com/p' } as unknown as StorageClass
const claim = { spec: { resources: { requests: { storage: '1Gi' } } } } as unknown as PersistentVolumeClaim

async function started(capacities: readonly Fields[]) {
  const it = startSchedulerStandIn()
  it.put('csidrivers', {
    apiVersion,
    kind: 'CSIDriver',
    metadata: { name: 'example.com/p' },
    spec: { storageCapacity: true },
  } as KubeObject)
  const put = (given: Fields, at: number) =>
    it.put('csistoragecapacities', {
      apiVersion,
      kind: 'CSIStorageCapacity',
      metadata: { name: `k${at}`, namespace: 'default' },
      storageClassName: 'late',
      capacity: '1Gi',
      ...given,
    } as KubeObject)
  capacities.forEach(put)
  const capacity = createStorageCapacity(it.informers, () => {})
  it.informers.start()
  await it.runtime.complete(capacity.whenSynced(it.options.signal))
  return {
    hasRoom: (one: KubeObject) => capacity.roomFor(claim, late, one as Node) !== undefined,
    async change(at: number, given: Fields) {
      put(given, at)
      await it.runtime.settle()
    },
    stop: it.stop,
  }
}

test('a capacity is for the nodes that its whole topology selects, however it does so', async () => {
  const zones = (operator: string, ...values: string[]) => ({
    matchExpressions: [{ key: 'zone', operator, ...(values.length > 0 && { values }) }],
  })
  const inZone = (zone?: string, labels: Fields = {}) =>
    node('n', { labels: { ...(zone !== undefined && { zone }), ...labels } })
  const nodes = [inZone(), inZone('a'), inZone('b'), inZone('c'), inZone('a', { rack: '1' })]
  const cases: readonly (readonly [Fields | undefined, string])[] = [
    [undefined, ''],
    [{}, '01234'],
    [{ matchLabels: { zone: 'a' } }, '14'],
    [{ matchLabels: { zone: 'a', rack: '1' } }, '4'],
    [zones('In', 'a', 'b'), '124'],
    [zones('NotIn', 'a', 'b'), '03'],
    [{ ...zones('In', 'b'), matchLabels: { zone: 'a' } }, ''],
    [{ ...zones('In', 'a'), matchLabels: { rack: '1' } }, '4'],
    [zones('Exists'), '1234'],
    [zones('DoesNotExist'), '0'],
    [{ ...zones('NotIn', 'b'), matchLabels: { rack: '1' } }, '4'],
  ]
  for (const [nodeTopology, expected] of cases) {
    const it = await started([nodeTopology === undefined ? {} : { nodeTopology }])
    const found = nodes.flatMap((one, at) => (it.hasRoom(one) ? [at] : [])).join('')
    assert.equal(found, expected, JSON.stringify(nodeTopology))
    it.stop()
  }
})

test('a capacity that changes is looked at anew: its size, its class, its nodes', async () => {
  const here = { nodeTopology: { matchLabels: { [HOSTNAME]: 'n' } } }
  const it = await started([here])
  assert.equal(it.hasRoom(node('n')), true)
  await it.change(0, { ...here, capacity: '1Mi' })
  assert.equal(it.hasRoom(node('n')), false)
  await it.change(0, { ...here, storageClassName: 'other' })
  assert.equal(it.hasRoom(node('n')), false)
  await it.change(0, { nodeTopology: { matchLabels: { [HOSTNAME]: 'm' } } })
  assert.deepEqual([it.hasRoom(node('n')), it.hasRoom(node('m'))], [false, true])
  it.stop()
})

test('a selector is compiled once an object, and a node is held against no capacity of another place', async () => {
  const count = 100
  const seen = { selectors: 0, labels: 0 }
  const names = Array.from({ length: count }, (_, at) => `n${at}`)
  const only = (name: string) => ({
    nodeTopology: {
      get matchLabels() {
        seen.selectors++
        return { region: 'r', [HOSTNAME]: name }
      },
    },
  })
  const it = await started([
    ...names.map(only),
    ...names.map((name) => ({ ...only(name), storageClassName: 'other', capacity: '1Mi' })),
  ])
  for (let claims = 0; claims < 3; claims++)
    for (const name of names) {
      const one = node(name, { labels: { region: 'r' } })
      const labels = new Proxy(one.metadata.labels as Fields, {
        get(target, key) {
          seen.labels++
          return Reflect.get(target, key)
        },
        getOwnPropertyDescriptor(target, key) {
          seen.labels++
          return Reflect.getOwnPropertyDescriptor(target, key)
        },
      })
      assert.equal(it.hasRoom({ ...one, metadata: { ...one.metadata, labels } } as KubeObject), true)
    }
  assert.equal(seen.selectors, 2 * count)
  // Both labels are looked for and read to find the one capacity of the place, and to hold it against the node.
  assert.equal(seen.labels, 3 * count * 8)
  it.stop()
})
