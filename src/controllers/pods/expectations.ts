/**
 * Expectations: what a controller has done and not yet seen in its informer. Until it has, its view of the pods is behind
 * its own writes, and creating or deleting by it would do things twice.
 */
import type { Clock } from '../../base/clock.ts'

/** A watch event that does not come in this time will not come; the view counts as up to date again. */
const timeoutMs = 300_000

interface Expectation {
  creations: number
  readonly deletions: Set<string>
  readonly at: number
}

export interface Expectations {
  /** All that was expected has been seen, or there is nothing to expect. */
  satisfied(key: string): boolean
  /** Instead of whatever was expected before. */
  expect(key: string, creations: number, deletions: Iterable<string>): void
  expectCreations(key: string, count: number): void
  expectDeletions(key: string, pods: Iterable<string>): void
  creationObserved(key: string): void
  deletionObserved(key: string, pod: string): void
  forget(key: string): void
}

export function createExpectations(clock: Clock): Expectations {
  const expected = new Map<string, Expectation>()
  const expect = (key: string, creations: number, deletions: Iterable<string>) =>
    void expected.set(key, { creations, deletions: new Set(deletions), at: clock.monotonic() })
  return {
    expect,
    satisfied(key) {
      const own = expected.get(key)
      return (
        own === undefined || (own.creations <= 0 && own.deletions.size === 0) || clock.monotonic() - own.at > timeoutMs
      )
    },
    expectCreations: (key, count) => expect(key, count, []),
    expectDeletions: (key, pods) => expect(key, 0, pods),
    creationObserved(key) {
      const own = expected.get(key)
      if (own !== undefined) own.creations--
    },
    deletionObserved(key, pod) {
      expected.get(key)?.deletions.delete(pod)
    },
    forget(key) {
      expected.delete(key)
    },
  }
}
