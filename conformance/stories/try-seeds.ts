/**
 * Which of equal pods is chosen, what comes first, and whether a write is seen before it is answered, is decided by uids and small delays:
 * several are tried before a story is held to differ.
 */
import { type Difference, judge, type KnownDifference } from './compare.ts'
import { factsOf } from './facts.ts'
import type { Recorded } from './recordings.ts'
import { playSimulated } from './simulated.ts'
import type { Story } from './story.ts'

export const SEEDS = 12

export interface Judgement {
  /** Of the seed that differs least. */
  readonly told: readonly Difference[]
  /** Those of differing.json that it shows. */
  readonly known: readonly KnownDifference[]
}

export async function judgeStory(name: string, story: Story, recorded: Recorded, seeds = SEEDS): Promise<Judgement> {
  let least: Judgement | undefined
  for (let seed = 1; seed <= seeds; seed++) {
    const judged = judge(name, recorded, factsOf(await playSimulated(name, story, seed)))
    if (judged.told.length === 0 && judged.known.length === 0) return judged
    if (least === undefined || isLess(judged, least)) least = judged
  }
  return least as Judgement
}

const isLess = (a: Judgement, b: Judgement): boolean =>
  a.told.length < b.told.length || (a.told.length === b.told.length && a.known.length < b.known.length)
