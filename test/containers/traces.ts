/** What a node of real containers may leave on its machine, to be compared before and after. */
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readRecord } from '../../src/kubelet/machine/node-record.ts'
import type { ContainerMachine } from './stage.ts'

const LOOKS: Readonly<Record<string, string>> = {
  interfaces: 'ip -o link | cut -d: -f2; ip -brief -6 address',
  routes: 'ip route; ip -6 route',
  tables: 'nft list ruleset',
  mounts: 'grep skiff /proc/self/mounts | grep -v " /var/log "',
  forwarding:
    'cat /proc/sys/net/ipv4/ip_forward; cd /proc/sys/net/ipv6/conf; grep . all/* default/forwarding default/accept_* lo/forwarding',
  run: 'ls /run | grep -v -e netns -e mount',
  processes: 'ps -eo stat=,comm= | grep -v ^Z | grep -e node -e containerd -e unshare -e httpd | sort | cut -c 5-',
  namespaces: 'ls -l /proc/[0-9]*/ns/net 2> /dev/null | sed "s/.*-> //" | sort -u | wc -l',
  logs: 'ls /var/log/pods 2> /dev/null',
}

export const traces = (machine: ContainerMachine): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(LOOKS).map(([what, look]) => [what, withoutEmptyTables(machine.run('sh', '-c', look).stdout)]),
  )

/** Whoever lists the rules of iptables makes its table, without a rule. */
const withoutEmptyTables = (ruleset: string): string =>
  ruleset
    .replace(/\tchain [A-Z]+ \{\n\t\ttype nat hook \w+ priority [^\n]*; policy accept;\n\t\}\n\n?/g, '')
    .replace(/table ip6? nat \{\n\}\n/g, '')

/** Names of the control groups of the nodes that are there now: groups of other tests' machines are in the same tree. */
export const groupNames = ({ dataDir }: ContainerMachine): readonly string[] =>
  globSync(join(dataDir, 'kubelet/*')).flatMap((directory) => {
    const cluster = readRecord(directory)?.cluster
    return cluster === undefined ? [] : `skiff-${cluster}`
  })

/** Those of these names that there are. */
export const groupsLeft = (names: readonly string[]): readonly string[] => {
  const all = new Set(globSync(['/sys/fs/cgroup/skiff-*', '/sys/fs/cgroup/*/skiff-*']).map((path) => basename(path)))
  return names.filter((name) => all.has(name))
}
