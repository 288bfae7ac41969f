/** What clients tell of their requests, under client-go's names; nothing where no metrics are kept. */
import type { Counted } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'

export interface ClientRequestMetrics {
  now(): number
  /** A request that began at `began` was answered; without a code none came. */
  ended(method: string, code: number | undefined, began: number): void
}

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]

/** `host`: the server that is asked. */
export function clientRequestMetrics({ machineClock: clock, metrics }: Runtime, host: string): ClientRequestMetrics {
  if (metrics === undefined) return { now: () => 0, ended: () => {} }
  const total = metrics.counter('rest_client_requests_total', 'Requests of clients by code, method and host.', [
    ...['code', 'host', 'method'],
  ])
  const durations = metrics.histogram(
    'rest_client_request_duration_seconds',
    'Seconds until clients were answered, by verb and host.',
    ['host', 'verb'],
    SECONDS,
  )
  /** By method, then by code. */
  const counters = new Map<string, Map<number | undefined, Counted>>()
  const counterOf = (method: string, code: number | undefined): Counted => {
    let byCode = counters.get(method)
    if (byCode === undefined) {
      byCode = new Map()
      counters.set(method, byCode)
    }
    let counter = byCode.get(code)
    if (counter === undefined) {
      counter = total.child(code === undefined ? '<error>' : String(code), host, method)
      byCode.set(code, counter)
    }
    return counter
  }
  return {
    now: () => clock.monotonic(),
    ended(method, code, began) {
      counterOf(method, code).add()
      durations.child(host, method).observe((clock.monotonic() - began) / 1000)
    },
  }
}

const BYTES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

/** Counts the bytes of bodies, by verb and host. */
export function clientSizeMetrics(
  { metrics }: Runtime,
  host: string,
): (method: string, sent: number, received: number) => void {
  if (metrics === undefined) return () => {}
  const labels = ['host', 'verb']
  const requests = metrics.histogram('rest_client_request_size_bytes', 'Bytes that clients sent.', labels, BYTES)
  const answers = metrics.histogram('rest_client_response_size_bytes', 'Bytes that clients got.', labels, BYTES)
  return (method, sent, received) => {
    requests.child(host, method).observe(sent)
    answers.child(host, method).observe(received)
  }
}

/** Counts how long requests wait for their turn under the client's own limits. */
export function clientLimitMetrics({ metrics }: Runtime, host: string): (method: string, waitedMs: number) => void {
  const name = 'rest_client_rate_limiter_duration_seconds'
  const help = 'Seconds that requests waited for the limits of their client, by verb and host.'
  const waited = metrics?.histogram(name, help, ['host', 'verb'], SECONDS)
  return (method, waitedMs) => waited?.child(host, method).observe(waitedMs / 1000)
}
