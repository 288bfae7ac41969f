import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceCIDR } from '../generated/types.ts'
import { validateServiceCIDR, validateServiceCIDRUpdate } from './ingress-and-network-policy.ts'

const range = (...cidrs: string[]): ServiceCIDR => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'a' },
  spec: { cidrs },
})
const said = (errors: ReturnType<typeof validateServiceCIDR>) =>
  errors.map(({ field, message }) => `${field}: ${message.slice(message.lastIndexOf(': ') + 2)}`)

const BITS = 'must not have bits set beyond the prefix length'
const FAMILIES = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'

test('each range of a ServiceCIDR is a network, and of its family the only one', () => {
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['10.0.0.0/24', '2001:db8::/64'], []],
    [
      ['10.0.0.1/24', '10.1.0.0/24'],
      [`spec.cidrs[0]: ${BITS}`, `spec.cidrs: ${FAMILIES}`],
    ],
    [
      ['10.0.0.1/24', '2001:db8::1/64'],
      [`spec.cidrs[0]: ${BITS}`, `spec.cidrs[1]: ${BITS}`],
    ],
    [
      ['010.0.0.1/24', '10.0.0.0/16'],
      ['spec.cidrs[0]: must not have leading 0s in IP or prefix length', `spec.cidrs: ${FAMILIES}`],
    ],
    [
      ['::ffff:10.0.0.0/120', '10.1.0.0/16'],
      ['spec.cidrs[0]: must not have an IPv4-mapped IPv6 address', `spec.cidrs: ${FAMILIES}`],
    ],
    [['10.0.0.0/24', '10.0.0.1/24', 'x'], ['spec.cidrs: may only hold up to 2 values']],
  ]
  for (const [cidrs, expected] of cases) assert.deepEqual(said(validateServiceCIDR(range(...cidrs))), expected)
})

test('a third range changes what may not change', () => {
  const third = range('10.0.0.0/24', '2001:db8::/64', 'x')
  assert.deepEqual(said(validateServiceCIDRUpdate(third, range('10.0.0.0/24'))), ['spec.cidrs: field is immutable'])
})
