/**
 * A component's own HTTPS port (controller manager, scheduler): health, metrics, and what pages it has besides, for users
 * that delegated authentication and authorization let in.
 */
import type { ApiRequest, ApiResponse, Handler, UserInfo } from '../api/request.ts'
import { StatusError, unauthorized } from '../api/status.ts'
import { type FrontProxies, namedBy } from '../apiserver/auth/front-proxies.ts'
import { certificateIdentity, certifiedBy } from '../apiserver/auth/x509.ts'
import { createMetricsPages } from '../apiserver/handlers/metrics.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Admit } from '../client/delegated-auth.ts'
import { createHealth, type HealthCheck } from '../http/health-pages.ts'
import { startHttpServer } from '../http/server.ts'
import type { KeyAndCertificate } from './certificate.ts'
import type { ServingLimits } from './tls-flags.ts'

export interface ComponentServerOptions {
  readonly admit: Admit
  /** May grow. */
  readonly checks: readonly HealthCheck[]
  /** Each answers its own path alone. */
  readonly pages?: readonly ((request: ApiRequest) => ApiResponse | undefined)[]
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly serving: KeyAndCertificate
  readonly limits?: ServingLimits
  /** PEM of the authorities whose certificates are looked at. */
  readonly clientCas: readonly string[]
}

export interface ComponentServer {
  /** `https://127.0.0.1:PORT` */
  readonly url: string
  readonly port: number
  /** From now on certificates of these authorities are looked at: of new connections. */
  setClientCas(clientCas: readonly string[]): void
  stop(): Promise<void>
}

/** @throws the listen error as Node gives it */
export async function startComponentServer(
  runtime: Runtime,
  options: ComponentServerOptions,
): Promise<ComponentServer> {
  const { host, serving, limits } = options
  const named = limits?.named ?? []
  const server = await startHttpServer(
    { ...runtime, clock: runtime.machineClock },
    {
      handler: componentHandler(runtime, options),
      host,
      port: options.port,
      hasAuditIds: false,
      tls: { ...serving, named, clientCas: options.clientCas },
      ...(limits === undefined ? {} : { limits }),
    },
  )
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port,
    setClientCas: (clientCas) => server.setCertificate({ ...serving, named, clientCas }),
    stop: () => server.stop(0),
  }
}

export function componentHandler(
  { clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>,
  { admit, checks, pages = [] }: Pick<ComponentServerOptions, 'admit' | 'checks' | 'pages'>,
): Handler {
  const health = createHealth(checks)
  const metricsPages = createMetricsPages(clock, { '/metrics': metrics, '/metrics/slis': health.metrics })
  return async (request) => {
    await admit(request)
    const answer = await health.answer(request)
    if (answer !== undefined) return answer
    for (const page of [metricsPages, ...pages]) {
      const found = page(request)
      if (found !== undefined) return found
    }
    return noSuchPage
  }
}

const noSuchPage: ApiResponse = {
  kind: 'bytes',
  status: 404,
  headers: { 'x-content-type-options': 'nosniff' },
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from('404 page not found\n')],
}

export interface Peers {
  /** PEM of the authorities whose certificates name users. */
  readonly clientCa: string
  /** The front proxies that may name the user of a request. */
  readonly frontProxies?: FrontProxies
}

/**
 * The user that a connection's certificate names, or its front proxy does; undefined without a certificate.
 *
 * @throws 401 for a certificate that does not verify or is not valid now: such a request is refused
 */
export function certificateUsers(clock: Clock, { clientCa, frontProxies }: Peers) {
  const isUser = certifiedBy(clientCa)
  const isProxy = frontProxies === undefined ? () => false : certifiedBy(frontProxies.ca)
  return (request: ApiRequest): UserInfo | undefined => {
    const { connection } = request
    if (connection?.certificateError !== undefined) throw unauthorized()
    if (connection?.peerCertificate === undefined) return undefined
    const { peerCertificate, peerIssuers } = connection
    const identity = certificateIdentity(peerCertificate)
    if (identity === undefined) return undefined
    const now = clock.now()
    if (now < identity.validFrom || now > identity.validTo) throw unauthorized()
    const authenticated = (user: UserInfo) => ({ ...user, groups: [...user.groups, 'system:authenticated'] })
    if (frontProxies !== undefined && isProxy(peerCertificate, peerIssuers)) {
      try {
        return authenticated(namedBy(frontProxies, identity.user, request))
      } catch (cause) {
        // An authority may be both: then the certificate still names a user.
        if (!isUser(peerCertificate, peerIssuers))
          throw new StatusError(401, 'Unauthorized', 'Unauthorized', undefined, { cause: messageOf(cause) })
      }
    }
    if (!isUser(peerCertificate, peerIssuers)) throw unauthorized()
    return authenticated(identity.user)
  }
}
