import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { planSlices } from './distribute-endpoints.ts'
import { endpointsByPorts } from './endpoint.ts'

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'n', uid: 'u', labels: { own: 'x' } },
  spec: { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 'web', protocol: 'TCP' }] },
} as unknown as KubeObject

const pod = (index: number, port: number | null = 8080, more: Fields = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${index}`, namespace: 'n', uid: `u${index}`, ...more },
    spec: {
      nodeName: 'node',
      containers: [{ name: 'c', ports: port === null ? [] : [{ name: 'web', protocol: 'TCP', containerPort: port }] }],
    },
    status: { podIPs: [{ ip: `10.0.0.${index}` }], conditions: [{ type: 'Ready', status: 'True' }] },
  }) as unknown as KubeObject
const pods = (count: number) => Array.from({ length: count }, (_, index) => pod(index))
const groupsOf = (of: KubeObject, all: readonly KubeObject[]) => endpointsByPorts(of, all, 'IPv4', () => 'zone-1')
/** What is to be written. */
function plan(existing: readonly EndpointSlice[], all: readonly KubeObject[], of: KubeObject = service) {
  const { unchanged: _, counts: __, ...writes } = planSlices(of, 'IPv4', existing, groupsOf(of, all))
  return writes
}
const stored = (slices: readonly EndpointSlice[]) =>
  slices.map((slice, index) => ({
    ...slice,
    metadata: { ...slice.metadata, name: `s-${index}`, resourceVersion: '1' },
  }))
const sizes = (slices: readonly EndpointSlice[]) => slices.map((slice) => (slice.endpoints ?? []).length)

test('a slice has a hundred endpoints at most', () => {
  assert.deepEqual(sizes(plan([], pods(250)).create), [100, 100, 50])
})

test('a service without pods has one empty slice, once', () => {
  const { create } = plan([], [])
  assert.deepEqual(sizes(create), [0])
  assert.deepEqual(plan(stored(create), []), { create: [], update: [], remove: [] })
})

test('what is new fills a slice that has room, and nothing else is written', () => {
  const existing = stored(plan([], pods(150)).create)
  assert.deepEqual(plan(existing, pods(150)), { create: [], update: [], remove: [] })
  const { create, update, remove } = plan(existing, pods(160))
  assert.deepEqual([sizes(create), sizes(update), sizes(remove)], [[], [60], []])
  assert.equal(update[0]?.metadata.name, 's-1')
})

test('pods whose target port has another number stand in a slice of their own, and those without it in one without ports', () => {
  const { create } = plan([], [pod(1), pod(2, 9090), pod(3, null)])
  assert.deepEqual(
    create.map((slice) => [slice.ports?.[0]?.port, slice.endpoints.length]),
    [
      [8080, 1],
      [9090, 1],
      [undefined, 1],
    ],
  )
})

test('a slice that would go gives its name to the one that would be made', () => {
  const existing = stored(plan([], pods(1)).create)
  const { create, update, remove } = plan(existing, [])
  assert.deepEqual([create, remove], [[], []])
  assert.deepEqual([update[0]?.metadata.name, update[0]?.metadata.resourceVersion], ['s-0', undefined])
})

test('a pod that is being deleted still serves, but is not ready', () => {
  const { create } = plan([], [pod(1, 8080, { deletionTimestamp: '2026-01-01T00:00:00Z' })])
  assert.deepEqual(create[0]?.endpoints[0]?.conditions, { ready: false, serving: true, terminating: true })
  assert.equal(create[0]?.endpoints[0]?.zone, 'zone-1')
})

test('what fills a slice to the last place makes no new one, and one more does', () => {
  const existing = stored(plan([], pods(99)).create)
  const filled = plan(existing, pods(100))
  assert.deepEqual([sizes(filled.update), sizes(filled.create)], [[100], []])
  const beyond = plan(existing, pods(101))
  assert.deepEqual([sizes(beyond.update), sizes(beyond.create)], [[], [2]])
})

const without = (slices: readonly EndpointSlice[]) =>
  slices.map(({ metadata: { ownerReferences: _, ...metadata }, ...slice }) => ({ ...slice, metadata }) as EndpointSlice)

test('a slice that the service does not own goes, and one is made in its place, unless the service is being deleted', () => {
  const left = without(stored(plan([], pods(2)).create))
  const { create, update, remove } = plan(left, pods(2))
  assert.deepEqual([sizes(create), sizes(update), remove], [[2], [], left])
  const going = { ...service, metadata: { ...service.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  assert.deepEqual(plan(left, pods(2), going), { create: [], update: [], remove: left })
  const other = stored(plan([], pods(2), { ...service, metadata: { ...service.metadata, uid: 'before' } }).create)
  assert.deepEqual(plan(other, pods(2)).remove, other)
})

test('an empty one stays, whosever it is', () => {
  assert.deepEqual(plan(without(stored(plan([], []).create)), []), { create: [], update: [], remove: [] })
})

test('the slices that stay as they are are told, and hints alone are a reason to write one only where they count', () => {
  const existing = stored(plan([], pods(150)).create)
  const hinted = existing.map((slice) => ({
    ...slice,
    endpoints: slice.endpoints.map((endpoint) => ({ ...endpoint, hints: { forZones: [{ name: 'z' }] } })),
  }))
  const groups = groupsOf(service, pods(160))
  const counted = planSlices(service, 'IPv4', hinted, groups)
  assert.deepEqual([sizes(counted.update), counted.unchanged], [[100, 60], []])
  const ignored = planSlices(service, 'IPv4', hinted, groups, { ignoreHints: true })
  assert.deepEqual([sizes(ignored.update), ignored.unchanged], [[60], [hinted[0]]])
})
