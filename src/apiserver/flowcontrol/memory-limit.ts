/**
 * A limit of the process's memory (`--memory-limit`), which it is not to reach: it gives up what it can do without before, then takes no
 * more work, least of all what makes it grow.
 *
 * From 70% of the limit the histories of watch caches are kept short, so that watches which are far behind end, and encoded copies of
 * objects go. From 80% requests of ordinary priority are refused with 429, all but deletes; from 90% only administrators create
 * anything, not even controllers. Health, Leases that are held, nodes' own requests, system components and
 * exempt requests are answered all the time.
 */
import type { RequestInfo, UserInfo } from '../../api/request.ts'
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { PriorityLevel } from './priority-levels.ts'

type Pressure = 'none' | 'shrinking' | 'refusing' | 'not growing'

export interface MemoryLimitOptions {
  /** Bytes. */
  readonly limit: number
  /** Bytes in use now. */
  readonly used: () => number
  /** Collects garbage: V8 does so by its own limits, which are others. */
  readonly collect: () => void
}

export interface MemoryLimit {
  readonly pressure: Pressure
  /** Whether a request that comes now is refused. In this process's own requests no level is found. */
  refuses(info: RequestInfo, user: UserInfo, level: PriorityLevel | undefined): boolean
  /** What is done about it: called at each look while there is any pressure. */
  onPressure(shrink: () => void): void
  stop(): void
}

const LOOK_MS = 500
/** Shares of the limit. */
const SHRINKS_FROM = 0.7
const REFUSES_FROM = 0.8
const GROWS_UNTIL = 0.9
/** A collection that changed nothing is not tried again sooner. */
const COLLECT_EVERY_MS = 10_000

/** Levels of Kubernetes' own components. */
const SYSTEM_LEVELS: ReadonlySet<string> = new Set(['system', 'node-high', 'leader-election', 'workload-high'])
const ADMINISTRATORS = 'system:masters'
/** The verbs that keep a Lease and cannot create one. Patch is not among them: an applied patch creates. */
const HOLDING: ReadonlySet<string> = new Set(['get', 'update'])

/** A Lease of Kubernetes' own group. A CustomResourceDefinition may be named `leases` too, and its objects be of any size. */
const isLease = ({ group, resource }: RequestInfo): boolean => group === 'coordination.k8s.io' && resource === 'leases'

/** Components' Leases are also made; another user that may make one may make any number of them, which is not to outgrow the limit. */
const mayKeepLease = ({ verb }: RequestInfo, level: PriorityLevel | undefined): boolean =>
  level === undefined || SYSTEM_LEVELS.has(level.name) || HOLDING.has(verb)

export function createMemoryLimit(
  { machineClock: clock, log, metrics }: Pick<Runtime, 'machineClock' | 'log' | 'metrics'>,
  { limit, used, collect }: MemoryLimitOptions,
): MemoryLimit {
  const shrinkers: (() => void)[] = []
  let pressure: Pressure = 'none'
  let collectedAt = Number.NEGATIVE_INFINITY
  let timer: Timer | undefined

  metrics?.sampled('skiff_memory_limit_bytes', 'What --memory-limit allows.', [], () => [[limit]])
  const refusals = metrics?.counter('skiff_memory_refusals_total', 'Requests refused for want of memory.', [])

  const pressureNow = (): Pressure => {
    const share = used() / limit
    if (share >= GROWS_UNTIL) return 'not growing'
    if (share >= REFUSES_FROM) return 'refusing'
    return share >= SHRINKS_FROM ? 'shrinking' : 'none'
  }

  function look(): void {
    const before = pressure
    pressure = pressureNow()
    if (pressure !== 'none') for (const shrink of shrinkers) shrink()
    // What was given up is garbage, and so may be much of what counts as used.
    const now = clock.monotonic()
    if ((pressure === 'refusing' || pressure === 'not growing') && now - collectedAt > COLLECT_EVERY_MS) {
      collect()
      collectedAt = clock.monotonic()
      pressure = pressureNow()
    }
    if (pressure !== before) log.info(0, 'Memory pressure', { pressure, limit, used: used() })
    schedule()
  }

  function schedule(): void {
    timer = clock.setTimer(LOOK_MS, 'memory limit', look, { everyMs: LOOK_MS, isAlone: true })
  }

  const isRefused = (info: RequestInfo, user: UserInfo, level: PriorityLevel | undefined): boolean => {
    if (pressure === 'none' || pressure === 'shrinking') return false
    if (level?.exempt === true || user.groups.includes(ADMINISTRATORS) === true) return false
    if (!info.isResource || (isLease(info) && mayKeepLease(info, level))) return false
    if (pressure === 'not growing' && info.verb === 'create' && info.subresource === '') return true
    if (info.verb === 'delete' || info.verb === 'deletecollection') return false
    return level !== undefined && !SYSTEM_LEVELS.has(level.name)
  }

  schedule()
  return {
    get pressure() {
      return pressure
    },
    refuses(info, user, level) {
      const refused = isRefused(info, user, level)
      if (refused) refusals?.child().add()
      return refused
    },
    onPressure: (shrink) => void shrinkers.push(shrink),
    stop: () => timer?.cancel(),
  }
}
