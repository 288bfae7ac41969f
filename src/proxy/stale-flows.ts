/**
 * Flows of UDP that the kernel goes on sending where no endpoint is any more: it remembers where a flow went, and asks no rule again while
 * packets come. Which of them must be forgotten is a pure function of what it lists.
 */
import { canonicalIP, type IPFamily } from '../api/values/ip.ts'
import { withPort } from './families.ts'
import type { ServedPort } from './service-port.ts'

/** Where a client sent to, and what answers it. */
interface Flow {
  readonly source: string
  readonly sourcePort: number
  readonly address: string
  readonly port: number
  readonly answerer: string
  readonly answererPort: number
}

/** `conntrack -L -p udp`: a line for each flow, its two directions one after the other. */
export function parseFlows(text: string): readonly Flow[] {
  const flows: Flow[] = []
  for (const line of text.split('\n')) {
    const found =
      /\bsrc=(\S+) dst=(\S+) sport=(\d+) dport=(\d+) .*?\bsrc=(\S+) dst=\S+ sport=(\d+) dport=\d+/.exec(line) ?? []
    const [, from = '', to = '', sourcePort, port, by = '', answererPort] = found
    const [source, address, answerer] = [from, to, by].map(canonicalIP)
    if (source === undefined || address === undefined || answerer === undefined) continue
    flows.push({
      source,
      sourcePort: Number(sourcePort),
      address,
      port: Number(port),
      answerer,
      answererPort: Number(answererPort),
    })
  }
  return flows
}

/** Where a Service's port is asked for, and what may answer there. */
export type Asked = ReadonlyMap<string, ReadonlySet<string>>

export const askedAt = (address: string, port: number): string => withPort(address, port)

/** Of a port as it is now. `nodePortAddresses`: where NodePorts are open. */
export function askedOf(service: ServedPort, nodePortAddresses: readonly string[]): Asked {
  const { port, nodePort, clusterIP, externalIPs, loadBalancerIPs, endpoints } = service
  const serving = new Set(endpoints.filter((one) => one.serving).map((one) => askedAt(one.address, one.port)))
  const asked = new Map([clusterIP, ...externalIPs, ...loadBalancerIPs].map((ip) => [askedAt(ip, port), serving]))
  if (nodePort !== undefined) for (const ip of nodePortAddresses) asked.set(askedAt(ip, nodePort), serving)
  return asked
}

/** Those that an address answers which serves no more, or never was an endpoint: the packet came before the rule. */
export const staleFlows = (flows: readonly Flow[], asked: Asked): readonly Flow[] =>
  flows.filter(({ address, port, answerer, answererPort }) => {
    const serving = asked.get(askedAt(address, port))
    return serving !== undefined && !serving.has(askedAt(answerer, answererPort))
  })

export const listArguments = (family: IPFamily): readonly string[] => ['-L', '-f', family.toLowerCase(), '-p', 'udp']

export const forgetArguments = ({ source, sourcePort, address, port }: Flow, family: IPFamily): readonly string[] => [
  ...['-D', '-f', family.toLowerCase(), '-p', 'udp', '-s', source, '-d', address],
  ...['--sport', String(sourcePort), '--dport', String(port)],
]
