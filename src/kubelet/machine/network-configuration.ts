/**
 * The configuration of the pods' network, where the machine has none: each pod has a link of its own to the machine (the CNI plugin ptp), and
 * an address of each family.
 *
 * An address of IPv6 is usually of no use for a second or two, while the kernel looks for another machine that has it (duplicate address detection).
 * A pod's link has two ends, and no other machine: within the pod that is switched off before its interface is made, by the plugin tuning, which
 * wants a plugin before it.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type IPRange, rangeText } from '../../api/objects/ip-range.ts'

export interface ConfiguredNetwork {
  readonly name: string
  /** Of the node's pods, one of each family. */
  readonly ranges: readonly IPRange[]
  /** Where addresses that are given out are noted. */
  readonly dataDir: string
  readonly hasPortmap: boolean
  readonly hasTuning: boolean
}

/** Where it is there, the plugin tuning sets nothing else than what it lists. */
const ALLOWLIST = '/etc/cni/tuning/allowlist.conf'

/** Whether duplicate address detection can be switched off within pods. */
export const hasTuning = (pluginDirectory: string): boolean =>
  ['loopback', 'tuning'].every((plugin) => existsSync(join(pluginDirectory, plugin))) && !existsSync(ALLOWLIST)

export function networkConfiguration({ name, ranges, dataDir, ...has }: ConfiguredNetwork): string {
  const isAlone =
    has.hasTuning && ranges.some(({ family }) => family === 'IPv6')
      ? [{ type: 'loopback' }, { type: 'tuning', sysctl: { 'net.ipv6.conf.default.accept_dad': '0' } }]
      : []
  const link = {
    type: 'ptp',
    ipam: {
      type: 'host-local',
      dataDir,
      ranges: ranges.map((range) => [{ subnet: rangeText(range) }]),
      routes: ranges.map(({ family }) => ({ dst: family === 'IPv4' ? '0.0.0.0/0' : '::/0' })),
    },
  }
  const hostPorts = has.hasPortmap ? [{ type: 'portmap', capabilities: { portMappings: true } }] : []
  return `${JSON.stringify({ cniVersion: '1.0.0', name, plugins: [...isAlone, link, ...hostPorts] }, undefined, 2)}\n`
}
