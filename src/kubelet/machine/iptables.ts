/** What is done among rules that others keep by iptables and ip6tables: a way through for the cluster's range, and host ports' chains that are left. */
import type { IPFamily } from '../../api/values/ip.ts'
import { isCommand } from './machine-requirements.ts'
import { system } from './system.ts'

export const IPTABLES: Readonly<Record<IPFamily, string>> = { IPv4: 'iptables', IPv6: 'ip6tables' }

/** None where there is no such command. */
function rulesOf(family: IPFamily, args: readonly string[]): readonly string[] {
  const command = IPTABLES[family]
  if (!isCommand(command)) return []
  try {
    return system(command, ['-w', ...args]).split('\n')
  } catch {
    // A kernel without it has no rules of it.
    return []
  }
}

const forwardRules = (family: IPFamily) => rulesOf(family, ['-S', 'FORWARD'])

/**
 * Docker has the kernel drop whatever it forwards but its own, and no rule of another table can undo that: then the cluster's range is let through
 * in the same place, by two rules that name this cluster.
 */
export function letForwarded(family: IPFamily, name: string, range: string): void {
  const rules = forwardRules(family)
  if (!rules.includes('-P FORWARD DROP')) return
  for (const side of ['-s', '-d']) {
    const rule = [side, range, '-m', 'comment', '--comment', name, '-j', 'ACCEPT']
    if (!rules.includes(['-A FORWARD', ...rule].join(' '))) system(IPTABLES[family], ['-w', '-I', 'FORWARD', ...rule])
  }
}

export function removeForwardRules(family: IPFamily, name: string): void {
  for (const rule of forwardRules(family).filter((line) => line.includes(` --comment ${name} `)))
    system(IPTABLES[family], ['-w', ...rule.replace(/^-A/, '-D').split(' ')])
}

const HOST_PORTS = 'CNI-HOSTPORT-'
const hostPortRules = (family: IPFamily) =>
  rulesOf(family, ['-t', 'nat', '-S']).filter((rule) => rule.includes(HOST_PORTS))
export const hasHostPortChains = (family: IPFamily): boolean => hostPortRules(family).length > 0

/** The plugin portmap makes them for the first pod with a host port, and takes none but the pod's own away. Those of a pod of others stay. */
export function removeHostPortChains(family: IPFamily): void {
  const rules = hostPortRules(family)
  if (rules.some((rule) => rule.startsWith(`-A ${HOST_PORTS}DNAT`))) return
  const undo = (made: string, gone: string) => {
    for (const rule of rules.filter((one) => one.startsWith(made))) {
      const words = rule.match(/"[^"]*"|\S+/g) ?? []
      system(IPTABLES[family], ['-w', '-t', 'nat', gone, ...words.slice(1).map((word) => word.replaceAll('"', ''))])
    }
  }
  undo('-A', '-D')
  undo('-N', '-X')
}
