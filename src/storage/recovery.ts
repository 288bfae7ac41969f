/**
 * What the engine does when its disk had no room for a group: it finds out what is on disk, and looks for room until there is some.
 * Writes are refused meanwhile; nothing is written but what makes room. The engine owns the queue, the revisions and the watches, and
 * lends this a compaction that waits.
 */
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { NoRoomError, StoreError } from './storage.ts'
import type { CompactionStep, KeyChange, Tables } from './tables.ts'

export interface PendingCompaction {
  readonly step: CompactionStep
  readonly done: { resolve(): void; reject(error: unknown): void }
}

/** What recovery needs of the engine. */
export interface Recovering {
  /** The revision up to which everything is told as written. */
  durable(): number
  /** Takes the disk for a write of its own, and gives it back. */
  setBusy(isBusy: boolean): void
  takeCompaction(): PendingCompaction | undefined
  /** One that found no room either. */
  giveBack(compaction: PendingCompaction): void
  /** There is room. `found`: changes that are on disk, though their writers were told that they failed. */
  goOn(found: readonly KeyChange[]): void
  /** For good. */
  stop(error: unknown): void
}

export interface Recovery {
  /** Why writes wait for room. */
  readonly hindrance: NoRoomError | undefined
  /** A flush of `changes` found no room, and `reload` tells what is on disk. */
  begin(error: NoRoomError, changes: readonly KeyChange[], reload: () => Promise<number>): void
  /** Looks for room no more. What is being looked for goes on to its end. */
  end(): void
}

/** How long after a failure room is looked for again, in milliseconds. */
const LOOK_FOR_ROOM_MS = 250
/** Beside what a failed group needs, as much again and this: a store that has just room for it is full with the next. */
const SPARE_BYTES = 256 << 10

export function createRecovery(runtime: Runtime, tables: Tables, engine: Recovering): Recovery {
  let hindrance: NoRoomError | undefined
  /** What the failed group may have written nevertheless. */
  let unsure: readonly KeyChange[] = []
  let wantedBytes = 0
  let retry: Timer | undefined
  let hasEnded = false

  function lookForRoom(): void {
    if (hasEnded) return
    retry = runtime.machineClock.setTimer(LOOK_FOR_ROOM_MS, 'storage room', () => {
      engine.setBusy(true)
      makeRoom().then(goOn, (error) => {
        if (!(error instanceof NoRoomError)) engine.stop(error)
        else {
          engine.setBusy(false)
          lookForRoom()
        }
      })
    })
  }

  /** Where the disk gives none, there may be room within the store once its history is compacted. */
  async function makeRoom(): Promise<void> {
    const waiting = unsure.length === 0 ? engine.takeCompaction() : undefined
    if (waiting !== undefined) {
      try {
        const nothing = { hasWaited: true, endedExpiries: [], changes: [], newExpiries: [] }
        await tables.flush({ ...nothing, compaction: waiting.step })
      } catch (error) {
        engine.giveBack(waiting)
        if (error instanceof NoRoomError) await tables.reload?.()
        throw error
      }
      waiting.done.resolve()
    }
    await tables.makeRoom?.(wantedBytes, waiting !== undefined)
  }

  function goOn(): void {
    const found = unsure
    unsure = []
    hindrance = undefined
    engine.goOn(found)
  }

  return {
    get hindrance() {
      return hindrance
    },
    begin(error, changes, reload) {
      hindrance = error
      unsure = changes
      wantedBytes = SPARE_BYTES + 2 * changes.reduce((bytes, { value }) => bytes + (value?.length ?? 0), 0)
      // The disk is not let go of before it is known what is on it.
      reload().then((revision) => {
        const durable = engine.durable()
        if (revision !== durable && revision !== unsure.at(-1)?.revision) {
          const what = `the store is at revision ${revision} after a failed write, not at ${durable}: start again`
          engine.stop(new StoreError(what))
          return
        }
        if (revision === durable) unsure = []
        engine.setBusy(false)
        lookForRoom()
      }, engine.stop)
    },
    end() {
      hasEnded = true
      retry?.cancel()
    },
  }
}
