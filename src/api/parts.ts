/**
 * Parts of objects that recur. The pods of a workload differ in their names, not in their specs: a spec that is read again in the
 * same words becomes the very value that it was before, and what has been found out about it (its defaults, that it is valid, its
 * fields, its JSON) is remembered for it.
 *
 * Each resource's endpoint has a memory of its own (apiserver/endpoints) and gives it to the steps of a request. A step is a pure
 * function of a part and passes it through the memory; without one, or of a part that is not known, the function is called as
 * ever. Nothing here decides what a value is: `noParts`, which remembers nothing, leads to the same answers.
 */
import { createLruMap, type LruMap } from '../base/lru.ts'
import { deepFreeze } from './freeze.ts'
import type { Fields } from './object.ts'

/** A part that was read before, in canonical form. */
export interface ReadPart {
  readonly part: Fields
  /** Keys in it as it was written. */
  readonly keys: number
}

/** How a part that recurs stands in JSON. */
export interface WrittenPart {
  text(): string
  /** The part itself, or one that is equal to it. */
  part(): object
}

/** Gives a part that bears a stand-in for a name that name instead. */
export type Naming<P extends object> = (standIn: P, name: string) => P

export interface Parts {
  /** The part that was read in these words. */
  recall(text: string): ReadPart | undefined
  /** `part`, with which nothing is wrong, was read in these words. One of which something is remembered already stays as it is. */
  remember(text: string, part: Fields, keys: number): void
  /** What `find` says of the part, asked once. `find` is pure, always the same function, and does not look at the name. */
  once<P extends object, T>(part: P, find: (part: P) => T): T
  /** Whether the part is known to pass the test, which is as `find`, and is not asked about what does not recur: that passes none. */
  holds<P extends object>(part: unknown, test: (part: P) => boolean): boolean
  /** What `make` makes of the part: recurs as the part does. `make` is as `find`, and keeps the name. */
  from<P extends object>(part: P, make: (part: P) => P): P
  /** The same of a part that recurs; undefined, and nothing is made, of any other. */
  fromKnown(part: unknown, make: (part: object) => object): object | undefined
  /** What `make` makes of this very part, its name included, which recurs too. Remembered of no part that was named. */
  ofThisVery<P extends object, T extends object | undefined>(part: P, make: (part: P) => T): T
  /** `{ ...part, ...changes }`: recurs where the part does and the changes are plain values. */
  changed<P extends object>(part: P, changes: Partial<P>): P
  /** `give(standIn, name)`, of which all is known that is known of the stand-in. In JSON the name is written as it is. */
  named<P extends object>(standIn: P, name: string, give: Naming<P>): P
  /** undefined: the part does not recur. `write` gives its JSON. */
  written(part: unknown, write: (part: object) => string): WrittenPart | undefined
}

const forgets = <P extends object, T>(part: P, find: (part: P) => T): T => find(part)

/** Remembers nothing. */
export const noParts: Parts = {
  recall: () => undefined,
  remember: () => {},
  once: forgets,
  holds: () => false,
  from: forgets,
  fromKnown: () => undefined,
  ofThisVery: forgets,
  changed: (part, changes) => ({ ...part, ...changes }),
  named: (standIn, name, give) => give(standIn, name),
  written: () => undefined,
}

/** Texts remembered, the least recently read go; shorter ones are not worth it, longer ones rarely recur. */
const MOST_TEXTS = 512
const SHORTEST = 64
const LONGEST = 16_384
/** Different changes remembered of one part. */
const MOST_CHANGES = 8
/** Stands for a name in the JSON of a part. Where a part has this text of its own, its JSON is written anew for each name. */
const NAME = '%name%'

interface Text {
  /** The memory whose part it is: the same words may mean another thing in another kind. */
  readonly of: Parts
  /** Of what has been read once nothing is kept: most of it never comes again. */
  readonly read: ReadPart | undefined
}

/** The texts that a server has read: how many are kept is counted over all of its resources. */
export type PartTexts = LruMap<string, Text>

export const createPartTexts = (): PartTexts => createLruMap(MOST_TEXTS)

interface Known {
  readonly answers: Map<unknown, unknown>
  readonly changes: { readonly changes: object; readonly made: object }[]
}

interface Named {
  /** The memory that knows the stand-in. */
  readonly of: Parts
  readonly standIn: object
  readonly name: string
  give(standIn: object, name: string): object
}

/** Fields of a class go into what the constructor that it extends returns: here into an object that is there. */
const Itself: new (part: object) => object = function itself(part: object) {
  return part
} as never

/**
 * A part made of a stand-in bears what it was made of in a field that nothing else sees, copies or writes. There are several of them in
 * every write, and to enter one in a WeakMap takes twenty times as long (0.5 µs). The object is new and not frozen yet: what `give` makes is
 * its own, and of two memories that were given one object the last counts.
 */
class Made extends Itself {
  #named: Named
  private constructor(made: object, named: Named) {
    super(made)
    this.#named = named
  }
  static of(part: object): Named | undefined {
    return #named in part ? (part as Made).#named : undefined
  }
  static bears(part: object, named: Named): void {
    if (#named in part) (part as Made).#named = named
    else new Made(part, named)
  }
}

/** In tests a part that is written to throws at once. */
const freezes = process.env['NODE_TEST_CONTEXT'] !== undefined

export function createParts(texts: PartTexts): Parts {
  const known = new WeakMap<object, Known>()
  const namedOf = (part: object): Named | undefined => {
    const named = Made.of(part)
    return named?.of === parts ? named : undefined
  }

  /** Whether anything is remembered of this very part, or of one that differs by its name alone (`named`). */
  const recurs = (part: unknown): part is object =>
    typeof part === 'object' && part !== null && (known.has(part) || namedOf(part) !== undefined)

  function recurring<P extends object>(part: P): P {
    if (known.has(part)) return part
    known.set(part, { answers: new Map(), changes: [] })
    if (freezes) deepFreeze(part)
    return part
  }

  const ofThisVery: Parts['ofThisVery'] = (part, make) => {
    const about = known.get(part)
    if (about === undefined) return make(part)
    return answer(about, make, () => {
      const made = make(part)
      return made && recurring(made)
    })
  }

  const parts: Parts = {
    recall(text) {
      if (!isWorthIt(text)) return undefined
      const found = texts.get(text)
      return found?.of === parts ? found.read : undefined
    },
    remember(text, part, keys) {
      if (!isWorthIt(text) || recurs(part)) return
      const isSecond = texts.get(text)?.of === parts
      texts.set(ownCopy(text), { of: parts, read: isSecond ? { part: recurring(part), keys } : undefined })
    },
    once(part, find) {
      const about = known.get(part)
      if (about !== undefined) return answer(about, find, () => find(part))
      const named = namedOf(part)
      return named === undefined ? find(part) : parts.once(named.standIn as typeof part, find)
    },
    holds: <P extends object>(part: unknown, test: (part: P) => boolean) => recurs(part) && parts.once(part as P, test),
    fromKnown: (part, make) => (recurs(part) ? parts.from(part, make) : undefined),
    from(part, make) {
      const named = namedOf(part)
      if (named === undefined) return ofThisVery(part, make)
      const standIn: object = ofThisVery(named.standIn as typeof part, make)
      return standIn === named.standIn ? part : (parts.named(standIn, named.name, named.give) as typeof part)
    },
    ofThisVery,
    changed<P extends object>(part: P, changes: Partial<P>): P {
      const named = namedOf(part)
      const base = (named?.standIn ?? part) as P
      const about = known.get(base)
      if (about === undefined || !Object.values(changes).every(isPlain)) return { ...part, ...changes }
      const made = changedPart(about, base, changes)
      return named === undefined ? made : (parts.named<object>(made, named.name, named.give) as P)
    },
    named<P extends object>(standIn: P, name: string, give: Naming<P>): P {
      const made = give(standIn, name)
      if (known.has(standIn)) {
        Made.bears(made, { of: parts, standIn, name, give })
        if (freezes) deepFreeze(made)
      }
      return made
    },
    written(part, write) {
      if (typeof part !== 'object' || part === null) return undefined
      const about = known.get(part)
      if (about !== undefined) return answer(about, write, () => asWritten(part, write(part)))
      const named = namedOf(part)
      if (named === undefined) return undefined
      const { standIn, name, give } = named
      const pieces = answer(known.get(standIn) as Known, give, () =>
        write(standIn).includes(NAME) ? undefined : write(give(standIn, NAME)).split(NAME),
      )
      return pieces && { text: () => pieces.join(name), part: () => parts.named(standIn, name, give) }
    },
  }

  /** Equal changes of a part are one part. */
  function changedPart<P extends object>({ changes: all }: Known, part: P, changes: Partial<P>): P {
    for (const one of all) if (isSameChange(one.changes, changes)) return one.made as P
    const made = { ...part, ...changes }
    if (all.length < MOST_CHANGES) all.push({ changes, made: recurring(made) })
    return made
  }

  return parts
}

function answer<T>({ answers }: Known, key: unknown, find: () => T): T {
  const found = answers.get(key) as T | undefined
  if (found !== undefined || answers.has(key)) return found as T
  const made = find()
  answers.set(key, made)
  return made
}

const isWorthIt = (text: string): boolean => text.length >= SHORTEST && text.length <= LONGEST

/** A piece of a longer text holds all of it. */
const ownCopy = (text: string): string => Buffer.from(text).toString()

const asWritten = (part: object, text: string): WrittenPart => ({ text: () => text, part: () => part })

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null

function isSameChange(a: Fields, b: Fields): boolean {
  let left = 0
  for (const name in a) {
    if (a[name] !== b[name] || !(name in b)) return false
    left++
  }
  for (const _ in b) left--
  return left === 0
}
