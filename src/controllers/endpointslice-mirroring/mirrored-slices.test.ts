import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { planMirror, wantsMirror } from './mirrored-slices.ts'

const endpoints = (subsets: readonly Fields[], metadata: Fields = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 's', namespace: 'n', uid: 'u', ...metadata },
  subsets: subsets as never,
})
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ip: `192.0.${at >> 8}.${at & 255}` }))
const named = (slice: EndpointSlice, name: string): EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, name },
})

test('a slice that mirrors all is left alone; one that does not gives its name to the new one', () => {
  const first = endpoints([{ addresses: many(2), ports }])
  const [slice] = planMirror(first, []).create as readonly [EndpointSlice]
  const there = [named(slice, 's-1')]
  assert.deepEqual(planMirror(first, there), { create: [], update: [], remove: [], skipped: 0 })
  const next = planMirror(endpoints([{ addresses: many(1), ports }], { labels: { a: 'b' } }), there)
  assert.deepEqual([next.create.length, next.remove.length], [0, 0])
  assert.equal(next.update[0]?.metadata.name, 's-1')
  assert.equal(next.update[0]?.metadata.labels?.['a'], 'b')
  assert.equal(next.update[0]?.metadata.generateName, undefined)
  const otherPorts = [{ name: 'https', port: 443, protocol: 'TCP' }]
  const moved = planMirror(endpoints([{ addresses: many(1), ports: otherPorts }]), there)
  assert.deepEqual(
    moved.update.map(({ metadata }) => [metadata.name, metadata.generateName]),
    [['s-1', 's-']],
  )
  assert.deepEqual(planMirror(endpoints([]), there).remove, there)
})

test('of a subset without ports the slice has null, and is left alone when it is there', () => {
  const portless = endpoints([{ addresses: many(1) }])
  const [slice] = planMirror(portless, []).create as readonly [EndpointSlice]
  assert.equal(slice.ports, null)
  assert.deepEqual(planMirror(portless, [named(slice, 's-1')]), { create: [], update: [], remove: [], skipped: 0 })
})

test('a thousand addresses of a subset are mirrored', () => {
  const { create, skipped } = planMirror(endpoints([{ addresses: many(1500), ports }]), [])
  assert.deepEqual(
    create.map((slice) => slice['endpoints'].length),
    [1000],
  )
  assert.equal(skipped, 500)
})

test('locks and what says so are not mirrored', () => {
  assert.ok(wantsMirror(endpoints([])))
  assert.ok(!wantsMirror(endpoints([], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } })))
  assert.ok(!wantsMirror(endpoints([], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } })))
})
