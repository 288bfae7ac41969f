/** How fast each controller may ask: --kube-api-qps and --kube-api-burst hold for each alone. */

export interface RateLimits {
  /** Requests in a second; below zero there is no limit. */
  readonly qps: number
  readonly burst: number
}

/**
 * Controllers whose work is many requests: by what kube-controller-manager multiplies their limits. The end of a namespace is a list and a
 * deletion of each resource, an object's collection a look at it and its deletion.
 */
const BUSIER: Readonly<Record<string, RateLimits>> = {
  'namespace-controller': { qps: 20, burst: 100 },
  'generic-garbage-collector': { qps: 2, burst: 2 },
}
const SERVICE_ACCOUNT = 'system:serviceaccount:kube-system:'

/** `user`: the name by which the controller asks. */
export function rateLimitsOf(user: string, { qps, burst }: RateLimits): RateLimits {
  const account = user.startsWith(SERVICE_ACCOUNT) ? user.slice(SERVICE_ACCOUNT.length) : ''
  const times = Object.hasOwn(BUSIER, account) ? BUSIER[account] : undefined
  return times === undefined ? { qps, burst } : { qps: qps * times.qps, burst: burst * times.burst }
}
