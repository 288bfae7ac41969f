/** What the DNS tells of itself: /health, /ready and /metrics on one port beside its own, under CoreDNS' names. */

import { messageOf } from '../base/errors.ts'
import { createMetrics } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import { smallServer } from '../http/small-server.ts'

export const METRICS_PORT = 9153

export interface DnsMetrics {
  /** A question that is answered with these bytes. */
  answered(protocol: 'udp' | 'tcp', bytes: Uint8Array, seconds: number): void
  text(): string
}

const NAMES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']
const BUCKETS = [
  0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192,
]

export function dnsMetrics(): DnsMetrics {
  const metrics = createMetrics()
  const requests = metrics.counter('coredns_dns_requests_total', 'Counter of DNS requests made per protocol.', [
    'proto',
  ])
  const responses = metrics.counter('coredns_dns_responses_total', 'Counter of response status codes.', ['rcode'])
  const seconds = metrics.histogram(
    'coredns_dns_request_duration_seconds',
    'Histogram of the time (in seconds) each request took.',
    [],
    BUCKETS,
  )
  return {
    answered(protocol, bytes, took) {
      const code = (bytes[3] ?? 0) & 0xf
      requests.child(protocol).add()
      responses.child(NAMES[code] ?? String(code)).add()
      seconds.child().observe(took)
    },
    text: () => metrics.text(),
  }
}

/** Gives what ends it. A port that others have is left to them. */
export async function serveDnsHealth(
  { log }: Pick<Runtime, 'log'>,
  hosts: readonly string[],
  metrics: DnsMetrics,
  port = METRICS_PORT,
): Promise<() => Promise<void>> {
  const servers = hosts.map(() =>
    smallServer((response, path) => {
      const page = { '/health': () => 'OK', '/ready': () => 'OK', '/metrics': metrics.text }[path]
      if (page === undefined) return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(page())
    }),
  )
  for (const [i, server] of servers.entries()) {
    const host = hosts[i] ?? ''
    try {
      await server.listen(host, port)
    } catch (error) {
      log.info(0, 'The port for the metrics of the DNS is another’s', { host, port, err: messageOf(error) })
    }
  }
  return async () => {
    await Promise.all(servers.map((server) => server.close()))
  }
}
