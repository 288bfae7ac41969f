import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseIPRange } from '../../api/objects/ip-range.ts'
import { networkConfiguration } from './network-configuration.ts'

const configured = (cidrs: readonly string[], has: { hasPortmap: boolean; hasTuning: boolean }) => {
  const ranges = cidrs.flatMap((cidr) => parseIPRange(cidr) ?? [])
  return JSON.parse(networkConfiguration({ name: 'skiff-a', ranges, dataDir: '/d', ...has }))
}
const ipam = (subnets: readonly string[], routes: readonly string[]) => ({
  ...{ type: 'host-local', dataDir: '/d', ranges: subnets.map((subnet) => [{ subnet }]) },
  routes: routes.map((dst) => ({ dst })),
})

test('a network of IPv4 is a link and host ports', () => {
  assert.deepEqual(configured(['10.244.0.0/24'], { hasPortmap: true, hasTuning: true }), {
    cniVersion: '1.0.0',
    name: 'skiff-a',
    plugins: [
      { type: 'ptp', ipam: ipam(['10.244.0.0/24'], ['0.0.0.0/0']) },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })
})

test('of IPv6 too, each pod has an address and a way out of each family, and does not look for others who have it', () => {
  const both = ['10.244.0.0/24', 'fd00:10:244::/64']
  const link = { type: 'ptp', ipam: ipam(both, ['0.0.0.0/0', '::/0']) }
  const { plugins } = configured(both, { hasPortmap: false, hasTuning: true })
  assert.deepEqual(plugins, [
    { type: 'loopback' },
    { type: 'tuning', sysctl: { 'net.ipv6.conf.default.accept_dad': '0' } },
    link,
  ])
  assert.deepEqual(configured(both, { hasPortmap: false, hasTuning: false }).plugins, [link])
})
