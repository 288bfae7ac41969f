/**
 * KWOK ends pods without waiting for anything, but not all at once: it plays the stages of so many at a time (podPlayStageParallelism),
 * each by requests of its own. How fast those are is the machine's: the latest that a pod goes is when each takes its time.
 */
import type { Going } from './plan.ts'

const AT_ONCE = 4
/** What KWOK's requests for one pod were seen to take on a machine that was busy with much else. On one that is not it is milliseconds. */
const ONE_MS = 1000

/** The same, with later ends of pods that wait for their turn; those that the deed removes by itself (grace 0) have none. */
export function withKwokTurns(goes: readonly Going[], isKwokPod: (uid: string) => boolean): readonly Going[] {
  const turns = goes
    .flatMap(({ object, marked }) =>
      marked !== undefined && isKwokPod(object.uid) ? [{ uid: object.uid, marked }] : [],
    )
    .toSorted((a, b) => a.marked.most - b.marked.most)
  const free = Array.from({ length: AT_ONCE }, () => 0)
  const ends = new Map<string, number>()
  for (const { uid, marked } of turns) {
    const next = free.indexOf(Math.min(...free))
    const end = Math.max(marked.most, free[next] ?? 0) + ONE_MS
    free[next] = end
    ends.set(uid, end)
  }
  return goes.map((one) => {
    const { least, most } = one.removed
    return { ...one, removed: { least, most: Math.max(most, ends.get(one.object.uid) ?? 0) } }
  })
}
