/**
 * What is always in the table of Services: sets and maps that all share, and the chains that look into them.
 *
 * No packet mark is used, so that nothing of others is in the way: whether the source must be replaced follows from where a connection
 * was sent at first (`ct original`), which other tables do not change.
 */
import type { IPFamily } from '../api/values/ip.ts'
import { WORDS } from './families.ts'
import type { Protocol } from './service-port.ts'
import { createTable, elementsOf, type NftTable } from './table.ts'

export type SharedSet = 'cluster-ips' | 'hairpins' | 'services' | 'refused' | 'firewall' | `masquerade-${Protocol}`

/** Where Services may have their addresses. */
export const SERVICE_RANGES = 'service-ranges'

const shared = (type: string): Readonly<Record<SharedSet, string>> => ({
  'cluster-ips': `set cluster-ips { type ${type}; }`,
  hairpins: `set hairpins { type ${type} . ${type}; }`,
  services: `map services { type ${type} . inet_proto . inet_service : verdict; }`,
  refused: `map refused { type ${type} . inet_proto . inet_service : verdict; }`,
  firewall: `map firewall { type ${type} . inet_proto . inet_service : verdict; }`,
  'masquerade-tcp': `map masquerade-tcp { type ${type} . inet_service : verdict; }`,
  'masquerade-udp': `map masquerade-udp { type ${type} . inet_service : verdict; }`,
  'masquerade-sctp': `map masquerade-sctp { type ${type} . inet_service : verdict; }`,
})

/** `podRanges`: where packets of pods come from. */
export function createServiceTable(name: string, family: IPFamily, podRanges: readonly string[]): NftTable {
  const { ip, type } = WORDS[family]
  return createTable({
    name,
    family,
    body: (filled) => `  set pod-ranges { type ${type}; flags interval; auto-merge;${elementsOf(podRanges)} }
  set service-ranges { type ${type}; flags interval; auto-merge;${filled('service-ranges')} }
${Object.values(shared(type))
  .map((line) => `  ${line}`)
  .join('\n')}
  chain masquerade-all { masquerade; }
  chain masquerade-own { fib saddr type local masquerade; }
  chain reject-it { reject; }
  chain choose {
    ${ip} daddr . meta l4proto . th dport vmap @services
  }
  chain prerouting { type nat hook prerouting priority dstnat; jump choose; }
  chain output { type nat hook output priority -100; jump choose; }
  chain postrouting {
    type nat hook postrouting priority srcnat
    ct status & dnat == 0 return
    ${ip} saddr . ${ip} daddr @hairpins masquerade
    ct original ${ip} daddr @cluster-ips ${ip} saddr != @pod-ranges masquerade
    meta l4proto tcp ct protocol tcp ct original ${ip} daddr . ct original proto-dst vmap @masquerade-tcp
    meta l4proto udp ct protocol udp ct original ${ip} daddr . ct original proto-dst vmap @masquerade-udp
    meta l4proto sctp ct protocol sctp ct original ${ip} daddr . ct original proto-dst vmap @masquerade-sctp
  }
  chain refuse {
    ${ip} daddr . meta l4proto . th dport vmap @refused
    ${ip} daddr @cluster-ips reject
    ${ip} daddr @service-ranges drop
  }
  chain filter-prerouting {
    type filter hook prerouting priority dstnat - 10
    ct state new ${ip} daddr . meta l4proto . th dport vmap @firewall
  }
  chain filter-input { type filter hook input priority filter - 10; ct state new jump refuse; }
  chain filter-forward { type filter hook forward priority filter - 10; ct state new jump refuse; }
  chain filter-output { type filter hook output priority filter - 10; ct state new jump refuse; }
`,
  })
}
