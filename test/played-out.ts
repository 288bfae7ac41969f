import type { SimulatedRuntime } from '../src/base/simulated-runtime.ts'

/**
 * Moves the simulated clock on, `stepMs` at a time, until what is played has ended, and then stops what it was played to.
 * @throws what the play throws
 */
export async function playedOut(
  runtime: SimulatedRuntime,
  played: Promise<void>,
  stepMs: number,
  stop: () => Promise<void>,
): Promise<void> {
  let isOver = false
  const over = played.finally(() => {
    isOver = true
  })
  // Thrown below, once all is stopped.
  over.catch(() => {})
  while (!isOver) await runtime.advance(stepMs)
  await stop()
  await over
}
