/** The API server's filters, in the one order in which every request passes them. */

import type { Runtime } from '../../base/runtime.ts'
import type { FaultInjection } from '../faults/which-requests-are-struck.ts'
import { withRequestInfo } from '../request/info.ts'
import type { Filter } from '../request/server-request.ts'
import { cors } from './cors.ts'
import { errorResponses } from './errors.ts'
import { faultInjection } from './faults.ts'
import type { Leaving } from './leaving.ts'
import { requestMetrics } from './metrics.ts'
import { requestLog } from './request-log.ts'
import type { RequestSpans } from './request-spans.ts'
import { bodyLimit, MAX_BODY_BYTES, requestTimeout } from './request-timeout-and-body-size.ts'
import { withStrictTransportSecurity } from './strict-transport-security.ts'

/** Those that depend on how the server knows its users. What is left out is passed over. */
export interface IdentityFilters {
  readonly authentication?: Filter
  /** Knows the user, and sees what all filters behind it answer. */
  readonly audit?: Filter
  readonly impersonation?: Filter
  /** Priority and fairness: by the user that is acted as, before it is asked whether that user may. */
  readonly overload?: Filter
  readonly authorization?: Filter
}

/** Of the server as a whole. */
export interface ChainSettings {
  /** Default: a minute, as kube-apiserver's. */
  readonly requestTimeoutMs?: number
  /** Of the header of that name; without it none is sent. */
  readonly strictTransportSecurity?: string
  /** Whether scripts of an origin may read answers. Default: none of another site may. */
  readonly allowsOrigin?: (origin: string) => boolean
  /** How it leaves its clients when it is to stop. Default: at once. */
  readonly leaving?: Leaving
  /** Makes the spans of requests. Default: there are none. */
  readonly spans?: RequestSpans
  /** Lets the deletion of a definition wait for what has begun to be written of it. Default: none waits. */
  readonly settledDefinitions?: Filter
}

export const REQUEST_TIMEOUT_MS = 60_000

/** The first one is the outermost. */
export function filterChain(
  runtime: Runtime,
  identity: IdentityFilters = {},
  faults?: FaultInjection,
  settings: ChainSettings = {},
): readonly Filter[] {
  const { machineClock, metrics, log } = runtime
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, strictTransportSecurity, allowsOrigin, leaving, spans } = settings
  const named = (name: string, filter: Filter | undefined) =>
    spans === undefined ? filter : filter && spans.around(name, filter)
  const filters: readonly (Filter | undefined)[] = [
    strictTransportSecurity === undefined ? undefined : withStrictTransportSecurity(strictTransportSecurity),
    allowsOrigin && cors(allowsOrigin),
    errorResponses(log.named('apiserver')),
    withRequestInfo,
    leaving?.filter,
    requestLog(runtime),
    metrics && requestMetrics(machineClock, metrics),
    named('authentication', identity.authentication),
    spans?.request,
    named('audit', identity.audit),
    named('constrainedimpersonation', identity.impersonation),
    named('priorityandfairness', identity.overload),
    named('authorization', identity.authorization),
    spans?.work,
    faults && faultInjection(runtime, faults),
    requestTimeout(runtime, requestTimeoutMs),
    bodyLimit(MAX_BODY_BYTES),
    settings.settledDefinitions,
  ]
  return filters.filter((filter) => filter !== undefined)
}
