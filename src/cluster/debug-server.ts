/** The controller manager's own port: loopback HTTPS with the cluster's certificate, before the manager's debug handler. */
import type { ApiRequest, UserInfo } from '../api/request.ts'
import { unauthorized } from '../api/status.ts'
import { certificateIdentity } from '../apiserver/auth/x509.ts'
import { createHealth } from '../apiserver/handlers/health.ts'
import { createMetricsPages } from '../apiserver/handlers/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createDebugHandler } from '../controllers/debug-handler.ts'
import type { ControllerManager } from '../controllers/manager.ts'
import { startHttpServer } from '../http/server.ts'
import { DEFAULT_HOST } from './options.ts'
import type { Pki } from './pki.ts'

export interface DebugServer {
  /** `https://127.0.0.1:PORT` */
  readonly url: string
  stop(): Promise<void>
}

/** On a free port: several clusters may run on one machine, and `skiff status` tells which it is. */
export async function startDebugServer(
  runtime: Runtime,
  options: { readonly manager: ControllerManager; readonly client: Client; readonly pki: Pki },
): Promise<DebugServer> {
  const { manager, client, pki } = options
  // What runs is healthy: the process stops when a controller cannot go on.
  const health = createHealth(manager.names.map((name) => ({ name, check: () => {} })))
  const server = await startHttpServer(runtime, {
    handler: createDebugHandler({
      client,
      manager,
      certificateUser: (request) => certificateUser(runtime, request),
      health: health.answer,
      pages: createMetricsPages(runtime.clock, { '/metrics': runtime.metrics, '/metrics/slis': health.metrics }),
    }),
    host: DEFAULT_HOST,
    port: 0,
    tls: { cert: pki.serving.cert, key: pki.serving.key, clientCas: [pki.ca.cert] },
  })
  return { url: `https://${DEFAULT_HOST}:${server.port}`, stop: () => server.stop(0) }
}

/** @throws 401 for a certificate that does not verify or is not valid now: such a request is nobody's */
function certificateUser({ clock }: Runtime, { connection }: ApiRequest): UserInfo | undefined {
  if (connection?.certificateError !== undefined) throw unauthorized()
  if (connection?.peerCertificate === undefined) return undefined
  const identity = certificateIdentity(connection.peerCertificate)
  if (identity === undefined) return undefined
  const now = clock.now()
  if (now < identity.validFrom || now > identity.validTo) throw unauthorized()
  return { ...identity.user, groups: [...identity.user.groups, 'system:authenticated'] }
}
