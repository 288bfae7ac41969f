import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeRanges } from './node-ranges.ts'

test('each gets a piece of its own, past those that are taken, and what is given back comes last', () => {
  const ranges = nodeRanges('10.244.7.0/22', 24)
  ranges.occupy('10.244.5.128/25', 'a')
  ranges.occupy('192.168.0.0/16', 'a')
  assert.deepEqual([ranges.next('b'), ranges.next('c')], ['10.244.4.0/24', '10.244.6.0/24'])
  ranges.release('10.244.4.0/24', 'b')
  assert.deepEqual(
    [ranges.next('d'), ranges.next('e'), ranges.next('f')],
    ['10.244.7.0/24', '10.244.4.0/24', undefined],
  )
})

test('a network that covers the whole range leaves none', () => {
  const ranges = nodeRanges('10.244.0.0/30', 32)
  ranges.occupy('10.0.0.0/8', '')
  assert.equal(ranges.next('a'), undefined)
})

test('what does not fit is refused', () => {
  assert.throws(() => nodeRanges('10.244.0.0/24', 23), /ranges of \/23 do not fit into 10\.244\.0\.0\/24/)
  assert.throws(() => nodeRanges('10.244.0.0/24', 33), /ranges of \/33 do not fit/)
  assert.throws(() => nodeRanges('fd00::/48', 65), /holds more than 2\^16 ranges of \/65/)
  assert.throws(() => nodeRanges('fd00::', 64), /fd00:: is no range/)
})

test('ranges of IPv6 are cut in the same way', () => {
  const ranges = nodeRanges('fd00:10:244::/56', 64)
  ranges.occupy('fd00:10:244::/63', '')
  ranges.occupy('10.0.0.0/8', '')
  assert.deepEqual([ranges.next('a'), ranges.next('b')], ['fd00:10:244:2::/64', 'fd00:10:244:3::/64'])
})

test('a piece that two have is free when both have let it go', () => {
  const ranges = nodeRanges('10.244.0.0/23', 24)
  ranges.occupy('10.244.0.0/23', '')
  ranges.occupy('10.244.0.0/24', 'a')
  ranges.occupy('10.244.0.0/24', 'a')
  ranges.release('10.244.0.0/24', 'a')
  assert.equal(ranges.next('b'), undefined)
  ranges.release('10.244.0.0/24', '')
  assert.equal(ranges.next('b'), '10.244.0.0/24')
})
