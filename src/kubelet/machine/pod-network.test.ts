import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unroutedRange } from './pod-network.ts'

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

test('pods get a range that nothing else has, whatever the size of what routes cover', () => {
  const free = (...all: readonly Route[]) => unroutedRange(routes(...all), [], 'skiff-a')
  assert.equal(free(['eth0', '0.0.0.0', '0.0.0.0']), '10.244.0')
  assert.equal(free(['cni0', '10.244.0.0', '255.255.255.0']), '10.244.1')
  assert.equal(free(['cni0', '10.244.0.0', '255.255.0.0']), '172.29.0')
  assert.equal(free(['tun0', '10.0.0.0', '255.0.0.0'], ['docker0', '172.16.0.0', '255.240.0.0']), '192.168.0')
  assert.equal(free(['skiff-a', '10.244.0.0', '255.255.255.0']), '10.244.0', 'its own bridge is no obstacle')
  assert.equal(unroutedRange(routes(), ['10.244.0.9'], 'skiff-a'), '10.244.1')
  assert.equal(
    free(['a', '10.0.0.0', '255.0.0.0'], ['b', '172.16.0.0', '255.240.0.0'], ['c', '192.168.0.0', '255.255.0.0']),
    undefined,
  )
})
