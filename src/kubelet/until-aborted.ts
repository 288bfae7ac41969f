/** Waits that do not go on for ever. */
import type { Clock } from '../base/clock.ts'

/** The answer, or the signal's reason if that comes first. @throws both's */
export async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([answer, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** What is known already and looked at again usually comes sooner: a container that is restarted then sees what is new. */
const PATIENCE_MS = 1000

/**
 * Resolves when all that was begun for a sync is over, and after a moment at the latest; undefined is what is not waited for. @throws the
 * signal's reason, and the first failure
 */
export async function untilLate(
  clock: Pick<Clock, 'setTimer'>,
  begun: readonly (Promise<void> | undefined)[],
  signal: AbortSignal,
): Promise<void> {
  const waitedFor = begun.filter((one) => one !== undefined)
  if (waitedFor.length === 0) return
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = clock.setTimer(PATIENCE_MS, 'what a sync looks at again', resolve)
  try {
    await untilAborted(Promise.race([Promise.all(waitedFor), late]), signal)
  } finally {
    timer.cancel()
  }
}
