/** Timers of a clock that is moved: by due time, then by age. */
import type { Timer } from './clock.ts'

export interface DueTimer extends Timer {
  readonly due: number
  readonly label: string
  /** Does nothing once it is cancelled. */
  run(): void
}

export interface Timers {
  add(due: number, label: string, task: () => void): DueTimer
  /** Due time of the earliest timer that was not cancelled. */
  next(): number | undefined
  /** Takes out the earliest one. */
  take(): DueTimer | undefined
  /** Those that were not cancelled, in no order. */
  list(): readonly DueTimer[]
}

interface Entry extends DueTimer {
  readonly sequence: number
  cancelled: boolean
  taken: boolean
}

const before = (a: Entry, b: Entry) => a.due < b.due || (a.due === b.due && a.sequence < b.sequence)

/** So many cancelled ones are kept before it is looked whether they are most of all. */
const MANY = 1024

/** A binary heap. */
export function createTimers(): Timers {
  let heap: Entry[] = []
  let sequence = 0
  let cancelled = 0

  function insert(timer: Entry): void {
    let index = heap.push(timer) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(timer, heap[parent]!)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = timer
  }

  function removeFirst(): Entry {
    const top = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return top
    let index = 0
    for (;;) {
      let child = index * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
    return top
  }

  function next(): number | undefined {
    while (heap.length > 0 && heap[0]!.cancelled) {
      removeFirst()
      cancelled--
    }
    return heap[0]?.due
  }

  /** Most waits end early: what they leave behind does not pile up until its time. */
  function forgetCancelled(): void {
    if (++cancelled < MANY || cancelled * 2 < heap.length) return
    const kept = heap.filter((timer) => !timer.cancelled)
    heap = []
    cancelled = 0
    for (const timer of kept) insert(timer)
  }

  return {
    add(due, label, task) {
      const timer: Entry = {
        due,
        label,
        sequence: sequence++,
        cancelled: false,
        taken: false,
        run() {
          if (!timer.cancelled) task()
        },
        cancel() {
          if (timer.cancelled) return
          timer.cancelled = true
          if (!timer.taken) forgetCancelled()
        },
      }
      insert(timer)
      return timer
    },
    next,
    take() {
      if (next() === undefined) return undefined
      const timer = removeFirst()
      timer.taken = true
      return timer
    },
    list: () => heap.filter((timer) => !timer.cancelled),
  }
}
