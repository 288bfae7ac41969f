/** A question that is asked again on many occasions: not more often than is of use, and the answer to the last asking is the one that counts. */

interface Pace {
  readonly everyMs: number
  /** In milliseconds. */
  readonly now?: () => number
  readonly later?: (task: () => void, ms: number) => void
}

/** An occasion that comes too soon is asked for once it no longer does. A failed asking counts as one. An answer that comes after a later asking is dropped. */
export function createRefresh<T>(
  ask: () => Promise<T>,
  take: (answer: T) => void,
  { everyMs, now = Date.now, later = (task, ms) => void setTimeout(task, ms) }: Pace,
): () => void {
  let asked = 0
  let askedAt = Number.NEGATIVE_INFINITY
  let isWaiting = false

  function askNow(): void {
    askedAt = now()
    asked += 1
    const mine = asked
    ask().then(
      (answer) => {
        if (mine === asked) take(answer)
      },
      () => {},
    )
  }

  return () => {
    if (isWaiting) return
    const wait = askedAt + everyMs - now()
    if (wait <= 0) return askNow()
    isWaiting = true
    later(() => {
      isWaiting = false
      askNow()
    }, wait)
  }
}
