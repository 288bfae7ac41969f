/**
 * The manual clock's runtime (base/manual-clock-runtime.ts) in the place of the simulated one: hand-overs come in the event loop's own
 * order, and time passes only by advances, whose lengths the seed chooses.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { manualRuntime } from '../../src/base/manual-clock-runtime.ts'
import { seededRandom } from '../../src/base/random.ts'
import { type SimulatedRuntime, SimulationStuckError } from '../../src/base/simulated-runtime.ts'

/** As long as anything is waited for, in the cluster's time. */
const LONGEST_MS = 7 * 86_400_000
/** Of the pieces in which a time passes; the longer they may be, the seldomer they are. */
const PIECES_MS = [3, 40, 700, 5000, 30_000, 90_000, 600_000]

export interface MovedRuntime extends SimulatedRuntime {
  /** How often time has passed. */
  readonly advances: number
  end(): void
}

export function movedRuntime(seed: number): MovedRuntime {
  const random = seededRandom(seed)
  const lengths = random.apart()
  const runtime = manualRuntime({ startMs: Date.UTC(2026, 0, 1), log: { write() {} } })
  const { manual } = runtime
  let advances = 0

  async function pass(ms: number): Promise<void> {
    advances++
    await manual.advance(ms)
  }

  async function until(condition: () => boolean): Promise<void> {
    if (!(await manual.runUntil(condition, LONGEST_MS)))
      throw new SimulationStuckError('it has not come to pass within a week')
  }

  return {
    ...runtime,
    random,
    seed,
    get advances() {
      return advances
    },
    get ready() {
      return 0
    },
    earlyMs: 0,
    async step() {
      await nextTurn()
      return true
    },
    settle: () => manual.settle(),
    async advance(ms) {
      for (let left = ms; left > 0; ) {
        const most = PIECES_MS[Math.floor(lengths.float() * PIECES_MS.length)] as number
        const piece = Math.min(left, Math.ceil(lengths.float() * most))
        await pass(piece)
        left -= piece
      }
      await manual.settle()
    },
    run: ({ until: condition }) => until(condition),
    async complete(promise) {
      let isOver = false
      const over = () => {
        isOver = true
      }
      promise.then(over, over)
      await until(() => isOver)
      return promise
    },
    // Here nothing is late: time stands still while anything is handed over.
    setEarlyTimers() {},
    trace: () => '',
    end: () => manual.stop(),
  }
}
