/**
 * Every hand-over between components (request, answer, commit, watch event, timer, queue item) passes a Scheduler.
 * Live, it runs in the order given; simulated, a seed picks which of the waiting ones comes next, one at a time, and
 * microtasks are drained between two of them.
 */
export interface Scheduler {
  /** Hands `task` over. Live: a microtask, first in, first out. */
  handOver(label: string, task: () => void): void
  /** Like handOver, but behind the I/O that is ready now. Live: setImmediate. For fan-out that must not delay a writer. */
  later(label: string, task: () => void): void
}

/** Resolves when the scheduler lets this hand-over happen: `await turn(scheduler, 'request')`. */
export function turn(scheduler: Scheduler, label: string): Promise<void> {
  return new Promise((resolve) => scheduler.handOver(label, resolve))
}
