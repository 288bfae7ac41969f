import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitingLinks } from './pod-links.ts'

test('links whose address of IPv6 is still looked for are found by it, and no interface of others', () => {
  const text = [
    'fd000010024400000000000000000001 03 80 00 40 veth6c65d765',
    'fd000010024400000000000000000001 04 80 00 82 veth10f16702',
    'fd000010024400000000000000000001 02 40 00 40 skiff-a',
    'fd000010024400010000000000000001 05 80 00 40 veth20f16702',
    'fe80000000000000a44e36fffe7debc4 03 40 20 c0 veth6c65d765',
    '',
  ].join('\n')
  assert.deepEqual(waitingLinks(text, 'fd00:10:244::1'), ['veth6c65d765'])
})
