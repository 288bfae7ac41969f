/**
 * Which entries keep the object that their bytes were parsed to: those used lately. All of a large cluster's objects would be
 * several times the memory of their bytes, and the collector would move each of them about.
 */

/** Something that can let go of what is costly to keep. */
export interface Holder {
  /** Lets go of what it keeps; false, and keeps it, when it was used since the last call. */
  release(): boolean
}

export interface Recent {
  /** `holder` holds something from now on, until release() answers true. */
  add(holder: Holder): void
}

/** At most `size` hold something at a time; one that was used since goes later (the clock algorithm). */
export function createRecent(size: number): Recent {
  const ring: (Holder | undefined)[] = new Array(size).fill(undefined)
  let hand = 0
  return {
    add(holder) {
      // After one round each entry has been asked once, and the next one asked goes.
      for (let asked = 0; asked <= size; asked++) {
        const candidate = ring[hand]
        if (candidate === undefined || candidate === holder || candidate.release()) break
        hand = (hand + 1) % size
      }
      ring[hand] = holder
      hand = (hand + 1) % size
    },
  }
}
