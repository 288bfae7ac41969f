/**
 * Health check node ports (Services of type LoadBalancer whose external policy is Local): balancers ask each node there whether it has an endpoint
 * of the Service. One plain HTTP server for each, which comes and goes with its Service.
 */
import type { ServerResponse } from 'node:http'
import type { Service } from '../api/generated/types.ts'
import type { Timer } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { smallServer } from '../http/small-server.ts'
import type { ServedPort } from './service-port.ts'

export interface HealthChecksOptions {
  readonly runtime: Runtime
  /** Where they listen. */
  readonly addresses: readonly string[]
  /** Whether the kernel has been told what there is. */
  readonly isHealthy: () => boolean
}

/** What is answered at one Service's port. */
interface HealthCheck {
  readonly namespace: string
  readonly name: string
  readonly port: number
  readonly localEndpoints: number
}

export interface HealthChecks {
  /** By a key of the Service; undefined: it has none any more. */
  set(key: string, check: HealthCheck | undefined): void
  stop(): Promise<void>
}

interface Listening {
  readonly port: number
  check: HealthCheck
  close(): Promise<void>
}

const RETRY_MS = 5000

/** Undefined where the Service has no such port. `ports`: what the proxy has read of it. */
export function healthCheckOf(
  { metadata, spec }: Service,
  ports: readonly ServedPort[],
  nodeName: string,
): HealthCheck | undefined {
  const { healthCheckNodePort: port = 0, type, externalTrafficPolicy } = spec ?? {}
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || port <= 0) return undefined
  const local = ports.flatMap(({ endpoints }) =>
    endpoints.filter((one) => one.ready && !one.terminating && one.nodeName === nodeName),
  )
  const localEndpoints = new Set(local.map(({ address }) => address)).size
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '', port, localEndpoints }
}

export function createHealthChecks({ runtime, addresses, isHealthy }: HealthChecksOptions): HealthChecks {
  const { machineClock: clock, log } = runtime
  const wanted = new Map<string, HealthCheck>()
  const listening = new Map<string, Listening>()
  let changing: Promise<void> = Promise.resolve()
  let timer: Timer | undefined
  let stopped = false

  function answer({ namespace, name, localEndpoints }: HealthCheck, response: ServerResponse): void {
    const serviceProxyHealthy = isHealthy()
    const body = JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy })
    response.writeHead(localEndpoints > 0 && serviceProxyHealthy ? 200 : 503, {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-load-balancing-endpoint-weight': String(localEndpoints),
    })
    response.end(body)
  }

  async function open(key: string, check: HealthCheck): Promise<void> {
    const servers = addresses.map(() => smallServer((response) => answer(listening.get(key)?.check ?? check, response)))
    const close = async () => {
      await Promise.all(servers.map((one) => one.close()))
    }
    try {
      await Promise.all(servers.map((one, i) => one.listen(addresses[i] ?? '', check.port)))
      listening.set(key, { port: check.port, check, close })
    } catch (error) {
      await close()
      log.error('A health check node port cannot be opened', error, { service: key, port: check.port })
      timer ??= clock.setTimer(RETRY_MS, 'health check node ports', () => {
        timer = undefined
        change()
      })
    }
  }

  /** Ports that go are closed before others are opened: one may have passed from a Service to another. */
  async function reconcile(): Promise<void> {
    for (const [key, there] of [...listening]) {
      if (!stopped && wanted.get(key)?.port === there.port) continue
      listening.delete(key)
      await there.close()
    }
    if (stopped) return
    for (const [key, check] of [...wanted]) {
      const there = listening.get(key)
      if (there === undefined) await open(key, check)
      else there.check = check
    }
  }

  function change(): void {
    changing = changing.then(reconcile).catch((error: unknown) => {
      log.info(0, 'Health check node ports were not changed', { err: messageOf(error) })
    })
  }

  return {
    set(key, check) {
      const before = wanted.get(key)
      if (before === undefined && check === undefined) return
      if (check === undefined) wanted.delete(key)
      else wanted.set(key, check)
      change()
    },
    async stop() {
      stopped = true
      timer?.cancel()
      change()
      await changing
    },
  }
}
