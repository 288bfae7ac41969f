/** A question that is asked again on many occasions: not more often than is of use, and the answer to the last asking is the one that counts. */

/** `now` in milliseconds. A failed asking counts as one. An answer that comes after a later asking is dropped. */
export function createRefresh<T>(
  ask: () => Promise<T>,
  take: (answer: T) => void,
  { everyMs, now = Date.now }: { readonly everyMs: number; readonly now?: () => number },
): () => void {
  let asked = 0
  let askedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (now() - askedAt < everyMs) return
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
}
