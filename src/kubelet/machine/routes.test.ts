import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IPRange, parseIPRange, rangeText } from '../../api/objects/ip-range.ts'
import { isDefault, isUnrouted, type MachineRoutes, routesOf, routesOfIPv6, unroutedRange } from './routes.ts'

/** Numbers as the kernel writes them: the last byte first. */
const hex = (address: string) =>
  address
    .split('.')
    .reverse()
    .map((part) => Number(part).toString(16).padStart(2, '0').toUpperCase())
    .join('')
type Route = readonly [name: string, to: string, mask: string]
const routes = (...all: readonly Route[]) =>
  [
    'Iface',
    ...all.map(([name, to, mask]) => [name, hex(to), hex('0.0.0.0'), 1, 0, 0, 0, hex(mask), 0, 0, 0].join('\t')),
    '',
  ].join('\n')

const machine = (all: readonly Route[], addresses: readonly string[] = []): MachineRoutes => ({
  routes: routesOf(routes(...all)),
  addresses,
  isOwn: (name) => name === 'skiff-a',
})

const firstFree = (bits: number, all: readonly Route[], addresses: readonly string[] = []) => {
  const found = unroutedRange(machine(all, addresses), 'IPv4', bits)
  return found === undefined ? undefined : rangeText(found)
}

test('pods get a range that nothing else has, whatever the size of what routes cover', () => {
  const free = (...all: readonly Route[]) => firstFree(24, all)
  assert.equal(free(['eth0', '0.0.0.0', '0.0.0.0']), '10.244.0.0/24')
  assert.equal(free(['cni0', '10.244.0.0', '255.255.255.0']), '10.244.1.0/24')
  assert.equal(free(['cni0', '10.244.0.0', '255.255.0.0']), '172.29.0.0/24')
  assert.equal(free(['tun0', '10.0.0.0', '255.0.0.0'], ['docker0', '172.16.0.0', '255.240.0.0']), '192.168.0.0/24')
  assert.equal(free(['skiff-a', '10.244.0.0', '255.255.255.0']), '10.244.0.0/24', 'its own bridge is no obstacle')
  assert.equal(firstFree(24, [], ['10.244.0.9']), '10.244.1.0/24')
  assert.equal(
    free(['a', '10.0.0.0', '255.0.0.0'], ['b', '172.16.0.0', '255.240.0.0'], ['c', '192.168.0.0', '255.255.0.0']),
    undefined,
  )
})

test('a range of several nodes is whole, and what its own first node has in it already is no obstacle', () => {
  assert.equal(firstFree(20, [['cni0', '10.244.3.0', '255.255.255.0']]), '10.244.16.0/20')
  const pod: Route = ['veth0', '10.244.16.5', '255.255.255.255']
  const isFree = (addresses: readonly string[], besides?: string) => {
    const whole = parseIPRange('10.244.16.0/20') as IPRange
    return isUnrouted(whole, machine([pod], addresses), besides === undefined ? undefined : parseIPRange(besides))
  }
  assert.equal(isFree([]), false)
  assert.equal(isFree([], '10.244.16.0/24'), true)
  assert.equal(isFree(['10.244.17.1'], '10.244.16.0/24'), false)
})

test('of IPv6 too what the kernel’s own list leads elsewhere is left alone', () => {
  const line = (to: string, length: string, name: string) =>
    `${to} ${length} ${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00000400 00000001 00000000 00000001 ${name.padStart(8)}`
  const text = [
    line('fd000010024400000000000000000000', '3c', 'tun0'),
    line('fd000010024400100000000000000000', '40', 'skiff-a'),
    line('0'.repeat(32), '00', 'eth0'),
    '',
  ].join('\n')
  const found = routesOfIPv6(text)
  assert.deepEqual(
    found.map((route) => [route.name, rangeText(route), isDefault(route)]),
    [
      ['tun0', 'fd00:10:244::/60', false],
      ['skiff-a', 'fd00:10:244:10::/64', false],
      ['eth0', '::/0', true],
    ],
  )
  const free = (addresses: readonly string[]) =>
    unroutedRange({ routes: found, addresses, isOwn: (name) => name === 'skiff-a' }, 'IPv6', 60)
  const first = free([])
  assert.equal(first && rangeText(first), 'fd00:10:244:10::/60')
  const next = free(['fd00:10:244:1f::1'])
  assert.equal(next && rangeText(next), 'fd00:10:244:20::/60')
})
