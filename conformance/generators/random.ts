/** Seeded chance for the generators: the same seed asks the same questions. */
export interface Chance {
  /** Uniform in [0, 1). */
  float(): number
  pick<T>(from: readonly T[]): T
  /** `value` with probability p, otherwise undefined. */
  maybe<T>(p: number, value: T): T | undefined
}

export function chance(seed: number): Chance {
  let state = seed >>> 0
  const float = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return {
    float,
    pick: (from) => from[Math.floor(float() * from.length)]!,
    maybe: (p, value) => (float() < p ? value : undefined),
  }
}
