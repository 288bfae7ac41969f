import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint, EndpointSlice } from '../../api/generated/types.ts'
import type { SlicePlan } from './distribute-endpoints.ts'
import { isOverloaded, withoutHints, withZoneHints } from './zone-hints.ts'

/** `zone` or `zone>hint`, with `!` before it when it is not ready. */
function endpoint(text: string): Endpoint {
  const ready = !text.startsWith('!')
  const [zone = '', hint] = text.replace('!', '').split('>')
  return {
    addresses: ['10.0.0.1'],
    conditions: { ready, serving: ready, terminating: false },
    ...(zone === '' ? {} : { zone }),
    ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
  }
}
const slice = (...texts: readonly string[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: texts.join() },
  addressType: 'IPv4',
  endpoints: texts.map(endpoint),
  ports: [],
})
const none: SlicePlan = { create: [], update: [], remove: [], unchanged: [] }
const shares = (zones: Readonly<Record<string, number>>) => new Map(Object.entries(zones))
const unequal = shares({ a: 0.5, b: 0.25, c: 0.25 })
const halves = shares({ a: 0.5, b: 0.5 })
const hintsOf = (slices: readonly EndpointSlice[]) =>
  slices.flatMap(({ endpoints = [] }) =>
    endpoints.map(({ zone = '', hints }) => `${zone}>${(hints?.forZones ?? []).map(({ name }) => name)}`),
  )
const hinted = (zones: ReadonlyMap<string, number> | undefined, ...texts: readonly string[]) =>
  hintsOf(withZoneHints({ ...none, create: [slice(...texts)] }, zones).plan.create)
const many = (text: string, count: number): readonly string[] => Array.from({ length: count }, () => text)
const reason = (zones: ReadonlyMap<string, number> | undefined, ...texts: readonly string[]) =>
  withZoneHints({ ...none, create: [slice(...texts)] }, zones).zones

test('endpoints are for their own zone where each has as many as its share', () => {
  assert.deepEqual(hinted(unequal, 'a', 'b', 'a', 'c'), ['a>a', 'b>b', 'a>a', 'c>c'])
})

test('zones with more than their share give the first of their endpoints to those with less', () => {
  const all = [...many('a', 4), ...many('b', 4), ...many('c', 4)]
  assert.deepEqual(hinted(unequal, ...all).slice(4), ['b>a', 'b>b', 'b>b', 'b>b', 'c>a', 'c>c', 'c>c', 'c>c'])
  assert.deepEqual(hinted(unequal, ...many('c', 4)), ['c>a', 'c>a', 'c>b', 'c>c'])
  // Half an endpoint too many is no reason to give one to a zone that lacks half of one.
  assert.deepEqual(hinted(halves, ...many('a', 4), ...many('b', 5)), [...many('a>a', 4), ...many('b>b', 5)])
})

test('one that is not ready is for no zone and does not count', () => {
  assert.deepEqual(hinted(halves, 'a', '!a', 'b', '!b>b'), ['a>a', 'a>', 'b>b', 'b>'])
  assert.deepEqual(reason(halves, 'a', '!b'), { because: 'endpoints', endpoints: 1, zones: 2 })
})

test('there are no hints without shares, enough endpoints, their zones, or where endpoints would be overloaded', () => {
  assert.deepEqual(reason(undefined, 'a', 'b'), { because: 'nodes' })
  assert.deepEqual(reason(unequal, 'a', 'b'), { because: 'endpoints', endpoints: 2, zones: 3 })
  assert.deepEqual(reason(unequal, 'a', 'b', 'c'), { because: 'overload', endpoints: 3, zones: 3 })
  assert.deepEqual(reason(halves, 'a', 'b', '', 'b'), { because: 'endpoint without zone' })
  assert.deepEqual(hinted(halves, 'a>a', 'b>b', 'b>b'), ['a>', 'b>', 'b>'])
})

test('endpoints in a zone that has no share stay for it', () => {
  assert.deepEqual(hinted(halves, ...many('z', 4)), many('z>z', 4))
})

test('a slice that is not written anyway stays while no zone has more than it may', () => {
  // Of nine, each half may have five.
  const kept = slice(...many('a>a', 5))
  const { plan, zones } = withZoneHints({ ...none, unchanged: [kept], create: [slice(...many('b', 4))] }, halves)
  assert.deepEqual(plan.unchanged, [kept])
  assert.deepEqual(zones, new Map(Object.entries({ a: 5, b: 4 })))
  const over = { ...none, unchanged: [slice(...many('a>a', 6))], create: [slice(...many('b', 3))] }
  assert.deepEqual(hintsOf(withZoneHints(over, halves).plan.update), [...many('a>b', 1), ...many('a>a', 5)])
})

test('a slice without hints, and one with hints for a zone that has no share, is written', () => {
  for (const text of ['b', 'b>z']) {
    const { plan } = withZoneHints({ ...none, unchanged: [slice('a>a', 'a>a'), slice(text, 'b>b')] }, halves)
    assert.deepEqual(
      [hintsOf(plan.unchanged), hintsOf(plan.update)],
      [
        ['a>a', 'a>a'],
        ['b>b', 'b>b'],
      ],
    )
  }
})

test('without hints all slices are that have any, and the others stay', () => {
  const plan = { ...none, create: [slice('a>a')], update: [slice('b>b')], unchanged: [slice('a>a', 'b'), slice('b')] }
  const bare = withoutHints(plan)
  assert.deepEqual(hintsOf([...bare.create, ...bare.update]), ['a>', 'b>', 'a>', 'b>'])
  assert.deepEqual(bare.unchanged, [plan.unchanged[1]])
})

test('endpoints are overloaded where a zone has less than five sixths of its share, or none', () => {
  const zones = (a: number, b: number) => new Map(Object.entries({ a, b }))
  assert.ok(!isOverloaded(zones(5, 7), halves))
  assert.ok(isOverloaded(zones(4, 8), halves))
  assert.ok(isOverloaded(zones(5, 5), unequal))
  assert.ok(isOverloaded(zones(5, 5), undefined))
  assert.ok(!isOverloaded(new Map(), undefined))
})
