/**
 * What the proxy tells of itself: /healthz and /livez on the node's address (10256, as kube-proxy's --healthz-bind-address), metrics on loopback
 * (10249). A port that others have is left to them.
 */
import type { Node } from '../api/generated/types.ts'
import { formatTime } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { type SmallServer, smallServer } from '../http/small-server.ts'

const PORTS = { health: 10_256, metrics: 10_249 }
const LOOPBACK = '127.0.0.1'
/** Set by the cluster autoscaler on a node that it is about to take away: balancers send nothing new there. */
const GOES = 'ToBeDeletedByClusterAutoscaler'

export interface OwnHealthOptions {
  readonly runtime: Runtime
  readonly addresses: readonly string[]
  /** When the kernel was told last, in milliseconds since the epoch. */
  readonly lastToldMs: () => number
  readonly isHealthy: () => boolean
  /** Undefined while it is not known. */
  readonly node: () => Node | undefined
  readonly metrics: () => string
  /** Default: kube-proxy's. */
  readonly ports?: { readonly health: number; readonly metrics: number }
}

/** Whether balancers should send to this node. */
export const isEligible = (node: Node | undefined): boolean =>
  node?.metadata.deletionTimestamp === undefined && !(node?.spec?.taints ?? []).some(({ key }) => key === GOES)

/** Gives what ends it. */
export async function serveOwnHealth(options: OwnHealthOptions): Promise<() => Promise<void>> {
  const { runtime, addresses, lastToldMs, isHealthy, node, metrics, ports = PORTS } = options
  const servers: SmallServer[] = []

  async function serve(host: string, port: number, server: SmallServer): Promise<void> {
    servers.push(server)
    try {
      await server.listen(host, port)
    } catch (error) {
      runtime.log.info(0, 'A port of the proxy is another’s', { host, port, err: messageOf(error) })
    }
  }

  const health = () =>
    smallServer((response, path) => {
      const isLive = path === '/livez'
      if (!isLive && path !== '/healthz') return void response.writeHead(404).end()
      const nodeEligible = isEligible(node())
      const well = isHealthy() && (isLive || nodeEligible)
      const [lastUpdated, currentTime] = [lastToldMs(), runtime.clock.now()].map(formatTime)
      response.writeHead(well ? 200 : 503, {
        'content-type': 'application/json',
        'x-content-type-options': 'nosniff',
      })
      response.end(JSON.stringify({ lastUpdated, currentTime, ...(isLive ? {} : { nodeEligible }) }))
    })
  const told = smallServer((response, path) => {
    const page = { '/metrics': metrics, '/healthz': () => 'ok', '/proxyMode': () => 'nftables' }[path]
    if (page === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(page())
  })
  for (const address of addresses) await serve(address, ports.health, health())
  await serve(LOOPBACK, ports.metrics, told)
  return async () => {
    await Promise.all(servers.map((one) => one.close()))
  }
}
