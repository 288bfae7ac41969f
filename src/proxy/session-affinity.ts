/** Session affinity (API concept: Services, sessionAffinity): how long a client's connections go to the endpoint of its first one. */
import type { ServiceSpec } from '../api/generated/types.ts'

const DEFAULT_SECONDS = 10_800
const MOST_SECONDS = 86_400

/** Seconds since the client's last connection; undefined: each connection may go to another endpoint. */
export function affinitySeconds({ sessionAffinity, sessionAffinityConfig }: Partial<ServiceSpec>): number | undefined {
  if (sessionAffinity !== 'ClientIP') return undefined
  const { timeoutSeconds = DEFAULT_SECONDS } = sessionAffinityConfig?.clientIP ?? {}
  return Math.min(Math.max(timeoutSeconds, 1), MOST_SECONDS)
}
