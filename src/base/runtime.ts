/**
 * base: what every room stands on — time, chance, the scheduler of hand-overs, streams, logging. Imports nothing of ours.
 *
 * `Runtime` is the one bundle of ambient things. Live it is made by `liveRuntime()`, under test by
 * `simulatedRuntime(seed)`; code that needs time or chance is handed one and uses nothing else.
 */
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

export interface Runtime {
  /** The cluster's time. */
  readonly clock: Clock
  /**
   * The machine's own, whatever the cluster's is: for sockets, disks and clients outside (how long an answer may
   * take), and to measure how long work takes. Live the same as `clock`.
   */
  readonly machineClock: Clock
  readonly random: Random
  readonly scheduler: Scheduler
  readonly log: Logger
  /** Where counts go, where they are read at all. */
  readonly metrics?: Metrics
}
