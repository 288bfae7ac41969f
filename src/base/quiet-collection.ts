/**
 * Collects the garbage of a process that has come to rest. V8 does so once its heap has grown far enough, which the heap of a process
 * that rests never does: what a burst of work left behind stays resident, a third of all memory after 5,000 pods were made. Where V8 did
 * collect in the midst of the work, it keeps the room that the work had: twice what is alive and more, after thousands of pods were deleted.
 */
import { constants, type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import type { Clock, Timer } from './clock.ts'

/** What of the process is looked at and done, for tests. */
export interface CollectedProcess {
  /** Of all its threads since its start. */
  processorSeconds(): number
  /** In which its main thread had something to do, since its start: also those in which other processes had the processor, or a disk was waited for. */
  activeSeconds(): number
  /** Bytes of objects, garbage included, and of what they hold outside of the heap. */
  used(): number
  /** Resolves when garbage has been collected, or when that could not be begun. */
  collect(): Promise<void>
}

const LOOK_MS = 1000
/** Less than this share of one processor is rest: a thousand simulated nodes that renew their Leases take a tenth of one. */
const REST = 0.35
/** On a machine whose processors others use a process at work may get less than that; but then it is hardly ever without work. */
const REST_OF_ACTIVITY = 0.7
/**
 * So many looks in a row: a pause between two pieces of work is none. The first requests after a collection pay for it, since what is
 * new is collected in small pieces until V8 has given it room again.
 */
const RESTING_LOOKS = 10
/** What is less is not worth a collection. */
const LEAST_GROWTH = 32 * 2 ** 20
/** Of what the last collection left. */
const GROWTH_SHARE = 0.25
/**
 * After so many seconds of the processor for other than rest, and so many times what the last collection took, what is in use tells little: objects
 * that were deleted may be garbage in a heap that has not grown, and a collection of V8's own leaves the room of what it freed resident.
 */
const LEAST_WORK_SECONDS = 2
const WORK_TO_COLLECTION = 4
/**
 * What a burst of work left for a while (the history of watch caches, 75 seconds) is garbage by then: once more after so many looks at rest, which are
 * as many seconds.
 */
const LATER_LOOKS = 100
/** A collection frees pages that the one before has emptied; it is repeated while it still frees this share. */
const WORTH_REPEATING = 0.04
const MOST_ROUNDS = 3
/** Between collections that no work has paid for. */
const LEAST_PAUSE_MS = 30_000

/** @returns what ends it; by itself it goes on for ever, and does not keep the process alive */
export function collectWhenQuiet(clock: Clock, process: CollectedProcess = thisProcess(clock)): () => void {
  let stopped = false
  let timer: Timer | undefined
  let processor = process.processorSeconds()
  let active = process.activeSeconds()
  let lookedAt = clock.monotonic()
  let restingLooks = 0
  let left = process.used()
  let collectedAt = Number.NEGATIVE_INFINITY
  /** Processor seconds of looks that were no rest, since the last collection, and those that it took. */
  let worked = 0
  let cost = 0
  /** Whether the last collection was one after work. */
  let onceMore = false

  const hasGrown = () => process.used() - left >= Math.max(LEAST_GROWTH, left * GROWTH_SHARE)
  const hasWorked = () => worked >= Math.max(LEAST_WORK_SECONDS, cost * WORK_TO_COLLECTION)
  const isLater = () => onceMore && restingLooks >= LATER_LOOKS
  const hasPaused = () => clock.monotonic() - collectedAt >= LEAST_PAUSE_MS
  const isDue = () => restingLooks >= RESTING_LOOKS && (hasWorked() || (hasPaused() && (hasGrown() || isLater())))

  async function look(): Promise<void> {
    const now = { processor: process.processorSeconds(), active: process.activeSeconds(), ms: clock.monotonic() }
    // A look may come late: by how much what was done meanwhile is divided.
    const seconds = Math.max(now.ms - lookedAt, LOOK_MS) / 1000
    const rests = now.processor - processor < REST * seconds && now.active - active < REST_OF_ACTIVITY * seconds
    restingLooks = rests ? restingLooks + 1 : 0
    if (!rests) worked += now.processor - processor
    processor = now.processor
    active = now.active
    lookedAt = now.ms
    if (isDue()) {
      onceMore = hasWorked()
      for (let round = 0, before = Number.POSITIVE_INFINITY; round < MOST_ROUNDS; round++) {
        await process.collect()
        left = process.used()
        if (left > before * (1 - WORTH_REPEATING)) break
        before = left
      }
      collectedAt = clock.monotonic()
      worked = 0
      processor = process.processorSeconds()
      cost = processor - now.processor
      active = process.activeSeconds()
      lookedAt = collectedAt
    }
    schedule()
  }

  function schedule(): void {
    if (!stopped)
      timer = clock.setTimer(LOOK_MS, 'quiet collection', () => void look(), { everyMs: LOOK_MS, isAlone: true })
  }

  schedule()
  return () => {
    stopped = true
    timer?.cancel()
  }
}

/** A heap in which nothing is allocated does not notice that it is to collect. V8 looks after such a one by itself. */
const GIVE_UP_MS = 10_000

/**
 * The collection is V8's usual one, most of which other threads do while this one works; a call of `gc` would hold it up five times as
 * long. It is begun by a limit set lower for the moment, and gives back as many pages as it can by a setting for small memory.
 */
export function thisProcess(clock: Pick<Clock, 'setTimer'>): CollectedProcess {
  return {
    processorSeconds() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    },
    activeSeconds: () => performance.eventLoopUtilization().active / 1000,
    used() {
      const { used_heap_size, external_memory } = getHeapStatistics()
      return used_heap_size + external_memory
    },
    collect: () =>
      new Promise((resolve) => {
        const end = () => {
          timer.cancel()
          observer.disconnect()
          setFlagsFromString('--incremental-marking-hard-trigger=0')
          setFlagsFromString('--no-optimize-for-size')
          resolve()
        }
        const timer = clock.setTimer(GIVE_UP_MS, 'quiet collection that did not begin', end)
        const observer = new PerformanceObserver((entries) => {
          if (entries.getEntries().some(isMajor)) end()
        })
        observer.observe({ entryTypes: ['gc'] })
        setFlagsFromString('--optimize-for-size')
        setFlagsFromString('--incremental-marking-hard-trigger=1')
      }),
  }
}

const isMajor = (entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): boolean =>
  entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR
