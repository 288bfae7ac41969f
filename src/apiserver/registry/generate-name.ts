/** Names made from metadata.generateName: its first 58 characters and a random suffix of five (API concept: generated names). */
import type { Random } from '../../base/random.ts'

const SUFFIX_LENGTH = 5
const LONGEST_BASE = 63 - SUFFIX_LENGTH

/** A new name for every call; whether it is free is found when the object is stored. */
export const generatedName = (generateName: string, random: Random): string =>
  generateName.slice(0, LONGEST_BASE) + random.suffix(SUFFIX_LENGTH)
