/**
 * Expectations: what a controller has done and not yet seen in its informer. Until it has, its view of the pods is behind
 * its own writes, and creating or deleting by it would do things twice.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'

/** A watch event that does not come in this time will not come; the view counts as up to date again. */
const timeoutMs = 300_000

interface Expectation {
  creations: number
  readonly deletions: Set<string>
  readonly at: number
}

/** Expectations are of one object (its uid), not of its name: another that is made under it begins with none. */
export interface Expectations {
  /** All that was expected has been seen, or there is nothing to expect. */
  satisfied(owner: KubeObject): boolean
  /** Instead of whatever was expected before. */
  expect(owner: KubeObject, creations: number, deletions: Iterable<string>): void
  expectCreations(owner: KubeObject, count: number): void
  expectDeletions(owner: KubeObject, pods: Iterable<string>): void
  creationObserved(owner: KubeObject): void
  deletionObserved(owner: KubeObject, pod: string): void
  /** To be called when it has gone, too. */
  forget(owner: KubeObject): void
}

export function createExpectations(clock: Clock): Expectations {
  const expected = new Map<string, Expectation>()
  const of = ({ metadata }: KubeObject) => expected.get(metadata.uid ?? '')
  const expect = ({ metadata }: KubeObject, creations: number, deletions: Iterable<string>) =>
    void expected.set(metadata.uid ?? '', { creations, deletions: new Set(deletions), at: clock.monotonic() })
  return {
    expect,
    satisfied(owner) {
      const own = of(owner)
      return (
        own === undefined || (own.creations <= 0 && own.deletions.size === 0) || clock.monotonic() - own.at > timeoutMs
      )
    },
    expectCreations: (owner, count) => expect(owner, count, []),
    expectDeletions: (owner, pods) => expect(owner, 0, pods),
    creationObserved(owner) {
      const own = of(owner)
      if (own !== undefined) own.creations--
    },
    deletionObserved(owner, pod) {
      of(owner)?.deletions.delete(pod)
    },
    forget({ metadata }) {
      expected.delete(metadata.uid ?? '')
    },
  }
}
