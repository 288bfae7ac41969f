/**
 * Session affinity (API concept: Services, sessionAffinity): a client's connections go to the endpoint of its first one for as long as
 * the Service says. Each endpoint has a chain of its own then, and a set of the clients that it keeps.
 */
import type { ServiceSpec } from '../api/generated/types.ts'
import type { IPFamily } from '../api/values/ip.ts'
import { hash } from './chain-names.ts'
import { WORDS, withPort } from './families.ts'
import type { ServedEndpoint } from './service-port.ts'

const DEFAULT_SECONDS = 10_800
const MOST_SECONDS = 86_400

/** Seconds since the client's last connection; undefined: each connection may go to another endpoint. */
export function affinitySeconds({ sessionAffinity, sessionAffinityConfig }: Partial<ServiceSpec>): number | undefined {
  if (sessionAffinity !== 'ClientIP') return undefined
  const { timeoutSeconds = DEFAULT_SECONDS } = sessionAffinityConfig?.clientIP ?? {}
  return Math.min(Math.max(timeoutSeconds, 1), MOST_SECONDS)
}

/** The chain of an endpoint whose clients stay with it; id is the Service port's. */
export const endpointChain = (id: string, { address, port }: ServedEndpoint): string =>
  `ep-${hash(`${id}/${withPort(address, port)}`)}`

/** The set of the clients that an endpoint keeps, by its chain, and the rules that fill and ask it. */
export function clientsOf(chain: string, seconds: number, family: IPFamily) {
  const { ip, type } = WORDS[family]
  // The timeout of a set cannot be changed: another timeout is another set.
  const set = `clients-${chain.slice('ep-'.length)}-${seconds}`
  return {
    set,
    definition: `type ${type}; flags dynamic,timeout; timeout ${seconds}s;`,
    remember: `update @${set} { ${ip} saddr }`,
    leadBack: `${ip} saddr @${set} goto ${chain}`,
  }
}
