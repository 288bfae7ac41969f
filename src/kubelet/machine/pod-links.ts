/**
 * The machine's ends of pods' links, which the plugin ptp makes. Each has the node's address of IPv6, by which the pod leaves; the kernel answers for
 * that only after duplicate address detection, a second or two later. On a link with two ends there is no duplicate: without the detection
 * what a pod sends first, and what first reaches it, need not wait.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseIPv6 } from '../../api/values/ip.ts'
import { command } from '../../base/command.ts'
import { messageOf } from '../../base/errors.ts'
import { oneByOne } from '../../base/one-by-one.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { PodNetwork } from './pod-network.ts'

/** IFA_F_TENTATIVE */
const LOOKED_FOR = 0x40
/** By which the two ends of a link ask for one another. */
const OF_THE_LINK = 'fe80::1/64'

/** Interfaces of pods' links that have the address and do not use it yet, by the text of /proc/net/if_inet6. */
export function waitingLinks(text: string, address: string): readonly string[] {
  const bits = parseIPv6(address)
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([hex = '', , , , flags = '']) =>
        hex.length === 32 && BigInt(`0x${hex}`) === bits && (Number.parseInt(flags, 16) & LOOKED_FOR) !== 0,
    )
    .map((fields) => fields[5] ?? '')
    .filter((name) => /^veth[0-9a-f]+$/.test(name))
}

export interface LinkTools {
  /** /proc/net/if_inet6. */
  readonly addresses: () => string
  readonly run: typeof command
}

const OF_THIS_MACHINE: LinkTools = { addresses: () => readFileSync('/proc/net/if_inet6', 'utf8'), run: command }

/**
 * Of the node with this address: what settles all links that wait, each once. Of several calls one goes on after the other: what is settled is in use,
 * and taken away by none of them. It rejects with what `ip` says.
 */
export function linkSettler(address: string, tools: LinkTools = OF_THIS_MACHINE): () => Promise<void> {
  const inOrder = oneByOne()
  return () => inOrder(() => settle(address, tools))
}

async function settle(address: string, { addresses, run }: LinkTools): Promise<void> {
  const links = waitingLinks(addresses(), address)
  if (links.length === 0) return
  const steps = links.flatMap((name) => {
    const setting = `/proc/sys/net/ipv6/conf/${name}/accept_dad`
    if (existsSync(setting)) writeFileSync(setting, '0')
    return [
      `address flush dev ${name}`,
      `address replace ${address}/128 dev ${name} nodad`,
      `address replace ${OF_THE_LINK} dev ${name} nodad`,
    ]
  })
  // A link may go meanwhile, and what is left of the others is done all the same. The family is an option of the command: in a line of a batch it is not known.
  await run('ip', ['-6', '-force', '-batch', '-'], `${steps.join('\n')}\n`)
}

/** A link that is not settled answers a second or two later, and what the pod sends before that is lost; one that is gone needs nothing. */
export function settlingLinks(runtime: Runtime, network: PodNetwork): () => Promise<void> {
  const own = network.find(({ family, podCIDR }) => family === 'IPv6' && podCIDR !== undefined)
  if (own === undefined) return async () => {}
  const settleAll = linkSettler(own.address)
  return () =>
    settleAll().catch((error: unknown) => {
      if (/Cannot find device/.test(messageOf(error))) return
      runtime.log.error('The link of a pod was not settled, its first packets of IPv6 may be lost', error)
    })
}
