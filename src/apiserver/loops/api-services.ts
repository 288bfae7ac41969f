/**
 * Looks after APIServices: the condition Available says whether the server behind each can be found and answers discovery.
 * Looked at when one of them, a Service or its endpoints change, and every half minute.
 */
import type { APIService } from '../../api/generated/types.ts'
import { isConflict, isNotFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import type { Aggregator } from '../aggregation/aggregator.ts'
import { ServiceUnresolved } from '../aggregation/service.ts'
import { loopbackOf } from '../loopback.ts'
import type { ServerReads } from '../reads.ts'
import { type LoopOptions, startLoop } from './settling.ts'

const FOLLOWED = ['apiregistration.k8s.io/apiservices', 'services/specs', 'endpointslices']
const PATH = '/apis/apiregistration.k8s.io/v1/apiservices'
const CHECK_MS = 30_000

export interface ApiServiceLoopOptions extends LoopOptions {
  readonly reads: ServerReads
  readonly aggregator: Aggregator
}

interface Availability {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export function startApiServiceLoop(options: ApiServiceLoopOptions): void {
  const { reads } = options
  const work = async () => {
    // Each for itself: one that does not answer keeps no other waiting.
    await Promise.all(
      reads.remoteServices().map(async (service) => write(options, service, await availabilityOf(options, service))),
    )
  }
  const timing = { settleMs: 50, retryMs: CHECK_MS, everyMs: CHECK_MS }
  startLoop(options, { name: 'api services', followed: FOLLOWED, work, ...timing })
}

async function availabilityOf({ aggregator }: ApiServiceLoopOptions, service: APIService): Promise<Availability> {
  try {
    const { url, status, why } = await aggregator.check(service)
    if (status !== undefined && status >= 200 && status < 300)
      return { status: 'True', reason: 'Passed', message: 'all checks passed' }
    const what = status === undefined ? why : `bad status from ${url}: ${status}`
    const message = `failing or missing response from ${url}: ${what}`
    return { status: 'False', reason: 'FailedDiscoveryCheck', message }
  } catch (error) {
    if (!(error instanceof ServiceUnresolved)) throw error
    return { status: 'False', reason: error.reason, message: error.message }
  }
}

async function write(
  { runtime, handler, signal }: ApiServiceLoopOptions,
  service: APIService,
  found: Availability,
): Promise<void> {
  const conditions = service.status?.conditions ?? []
  const present = conditions.find((condition) => condition.type === 'Available')
  if (present?.status === found.status && present.reason === found.reason && present.message === found.message) return
  const lastTransitionTime =
    present?.status === found.status ? present.lastTransitionTime : formatTime(runtime.clock.now())
  const condition = { type: 'Available', lastTransitionTime, ...found }
  const object = {
    ...service,
    status: {
      ...service.status,
      conditions: [...conditions.filter((other) => other.type !== 'Available'), condition],
    },
  }
  try {
    await loopbackOf(handler, signal)('PUT', `${PATH}/${service.metadata.name}/status`, object)
  } catch (error) {
    // Another client wrote it in between: the change that this was brings the next look.
    if (!isConflict(error) && !isNotFound(error)) throw error
  }
}
