/** Many at once, but not before one has succeeded: when the first is refused, the others would be too. */

/**
 * Runs the tasks in batches of 1, 2, 4, …; after a batch in which one failed, no more are begun.
 * @throws the first failure, with `unbegun` told before
 */
export async function slowStart<T>(
  items: readonly T[],
  run: (item: T) => Promise<unknown>,
  unbegun: (items: readonly T[]) => void = () => {},
): Promise<void> {
  for (let first = 0, batch = 1; first < items.length; first += batch, batch *= 2) {
    const outcomes = await Promise.allSettled(items.slice(first, first + batch).map(run))
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed === undefined) continue
    unbegun(items.slice(first + batch))
    throw (failed as PromiseRejectedResult).reason
  }
}
