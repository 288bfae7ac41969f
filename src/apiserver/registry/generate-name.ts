/** Names made from metadata.generateName: its first 58 characters and a suffix of five, random or by a seed (API concept: generated names). */
import { createHash } from 'node:crypto'
import { createLruMap } from '../../base/lru.ts'
import { type Random, suffixOf } from '../../base/random.ts'

const SUFFIX_LENGTH = 5
const LONGEST_BASE = 63 - SUFFIX_LENGTH

/** A new name for every call; whether it is free is found when the object is stored. */
export type NameMaker = (generateName: string) => string

export const randomNames =
  (random: Random): NameMaker =>
  (generateName) =>
    generateName.slice(0, LONGEST_BASE) + random.suffix(SUFFIX_LENGTH)

/** Of generateNames; the longest unused begins anew. */
const MOST_COUNTED = 10_000

/** The how-manieth name of a generateName decides its suffix: names are the same from run to run, whatever else goes on. */
export function seededNames(seed: number): NameMaker {
  const counts = createLruMap<string, number>(MOST_COUNTED)
  return (generateName) => {
    const count = (counts.get(generateName) ?? 0) + 1
    counts.set(generateName, count)
    const hash = createHash('sha256').update(`${seed}\n${generateName}\n${count}`).digest()
    let at = 0
    const suffix = suffixOf(SUFFIX_LENGTH, () => hash.readUInt32BE(4 * at++) / 2 ** 32)
    return generateName.slice(0, LONGEST_BASE) + suffix
  }
}
