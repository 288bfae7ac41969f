import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advertisedAddress, listensAt } from './addresses.ts'

test('the address that others reach is of the family that Services have first', () => {
  assert.equal(advertisedAddress('127.0.0.1', '192.0.2.7'), '192.0.2.7')
  assert.equal(advertisedAddress('127.0.0.1', '2001:db8::7', 'IPv6'), '2001:db8::7')
  assert.equal(advertisedAddress('2001:db8::7', undefined, 'IPv6'), '2001:db8::7')
  assert.equal(advertisedAddress('192.0.2.7', undefined, 'IPv6'), undefined)
  assert.equal(advertisedAddress('::1', undefined, 'IPv6'), undefined)
  const refused = (asked: string, family: 'IPv4' | 'IPv6', why: RegExp) =>
    assert.throws(() => advertisedAddress('127.0.0.1', asked, family), why)
  refused('2001:db8::7', 'IPv4', /--advertise-address 2001:db8::7 is no IPv4 address/)
  refused('192.0.2.7', 'IPv6', /--advertise-address 192\.0\.2\.7 is no IPv6 address/)
  for (const [asked, family] of [
    ['::1', 'IPv6'],
    ['::', 'IPv6'],
    ['fe80::1', 'IPv6'],
    ['FEBF::1', 'IPv6'],
    ['169.254.1.1', 'IPv4'],
    ['127.0.0.9', 'IPv4'],
  ] as const)
    refused(asked, family, /is not to be reached from other machines/)
  refused('2001:db8::7/64', 'IPv6', /is no IPv6 address/)
})

test('a server on every address of IPv4 is at none of IPv6, the other way round it is', () => {
  const at = (host: string) => ['10.244.0.1', 'fd00:10:244::1'].map((address) => listensAt(host, address))
  assert.deepEqual(
    [at('0.0.0.0'), at('::'), at('127.0.0.1')],
    [
      [true, false],
      [true, true],
      [false, false],
    ],
  )
})
