/** What a cluster runs in: its clock, its log, and where its unhandled failures go. */
import { formatTime } from '../base/clock.ts'
import { liveClock } from '../base/live-clock.ts'
import { type LiveRuntimeOptions, liveRuntime } from '../base/live-runtime.ts'
import type { ManualRuntime, ManualTime } from '../base/manual-clock-runtime.ts'
import type { Runtime } from '../base/runtime.ts'
import { buildMetrics } from './build-metrics.ts'
import { createOutside, forgetClock, type Outside, openClockFile, readClock } from './clock.ts'
import type { ClusterOptions } from './cluster-options.ts'
import type { ClusterDirectory } from './directory.ts'
import { StartError } from './errors.ts'
import type { ForkStart } from './fork.ts'
import type { Snapshot } from './snapshot.ts'
import { type UnhandledScope, unhandledScope } from './unhandled.ts'

/** Of a manual clock. */
const LONGEST_START_MS = 600_000

export interface Ambient {
  readonly forked?: ForkStart
  readonly from?: Snapshot
  readonly runtime: Runtime
  /** Where the clock is moved by hand. */
  readonly moved?: { readonly runtime: ManualRuntime; readonly outside: Outside }
  /** What the cluster does runs in it. */
  readonly scope: Pick<UnhandledScope, 'run'>
}

/** The runtime of a cluster, whose clock is the machine's or moved by hand. What ends it is added to `undo`. @throws StartError */
export async function ambientOf(
  options: ClusterOptions,
  from: Snapshot | undefined,
  directory: ClusterDirectory,
  undo: (() => void)[],
): Promise<Ambient> {
  const level = options.logLevel ?? 0
  const { onUnhandled } = options
  const report = (error: unknown) => {
    ambient.runtime.log.error('unhandled failure', error)
    if (onUnhandled !== 'process') onUnhandled?.(error)
  }
  const live = {
    level,
    log: directory.log,
    ...(onUnhandled === 'process' ? {} : { onUncaught: report }),
  }
  const startMs = manualStart(options, from, directory)
  const moved = startMs === undefined ? undefined : await movedRuntime(live, startMs, directory, undo)
  const scope =
    onUnhandled === 'process' ? { run: <T>(task: () => T) => task(), end: () => {} } : unhandledScope(report)
  undo.push(scope.end)
  const ambient: Ambient = {
    runtime: moved?.runtime ?? liveRuntime(live),
    scope,
    ...(from === undefined ? {} : { from }),
    ...(moved === undefined ? {} : { moved }),
  }
  buildMetrics(ambient.runtime.metrics)
  return ambient
}

/** Where a manual clock begins; undefined: the clock is the machine's. @throws StartError */
function manualStart(
  { clock, containerRuntime, etcd }: ClusterOptions,
  from: Snapshot | undefined,
  directory: ClusterDirectory,
): number | undefined {
  const left = readClock(directory.clock) ?? (from?.isManual === true ? from.time.getTime() : undefined)
  const now = liveClock().now()
  if (clock === 'real' || (clock === undefined && left === undefined)) {
    if (left !== undefined && left > now)
      throw new StartError(
        `the cluster in ${directory.path} has a clock of its own, which is at ${formatTime(left)}: start it with a manual clock`,
      )
    forgetClock(directory.clock)
    return undefined
  }
  if (containerRuntime === 'cri')
    throw new StartError('real containers live in real time: a manual clock is for simulated nodes')
  if (etcd !== undefined)
    throw new StartError(
      'an etcd may be shared with servers that live in real time: a manual clock needs a store of its own',
    )
  return left ?? now
}

async function movedRuntime(
  live: LiveRuntimeOptions,
  startMs: number,
  directory: ClusterDirectory,
  undo: (() => void)[],
): Promise<NonNullable<Ambient['moved']>> {
  const { manualRuntime } = await import('../base/manual-clock-runtime.ts')
  const file = openClockFile(directory.clock, startMs)
  const runtime = manualRuntime({ ...live, startMs, onMove: file.write, outside: (ms) => outside.rest(ms) })
  const outside = createOutside(runtime.machineClock, runtime.scheduler.during)
  undo.push(() => {
    runtime.manual.stop()
    file.close()
  })
  return { runtime, outside }
}

/** A start takes the time that it takes by Kubernetes' rules, where that is none the clock stands still. */
export async function whileTimePasses<T>(manual: ManualTime, starting: Promise<T>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  starting.then(over, over)
  await manual.runUntil(() => isOver, LONGEST_START_MS)
  return starting
}
