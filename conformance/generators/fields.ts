/**
 * One field at a time: every value of a valid object left out, emptied or replaced by something that is likely to be wrong.
 * A seed picks some of all there are; the answers of one object stand in one case.
 */
import type { Case, Step } from '../recording.ts'
import type { CorpusEntry } from './mutations.ts'
import type { Chance } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, broken on purpose
type Any = any

interface Break {
  /** Whether it makes a difference to such a value. */
  readonly fits: (value: Any) => boolean
  readonly apply: (parent: Any, key: string, value: Any) => void
}

const isText = (value: Any) => typeof value === 'string'
const isNumber = (value: Any) => typeof value === 'number'
const set =
  (to: (value: Any) => Any): Break['apply'] =>
  (parent, key, value) => {
    parent[key] = to(value)
  }

const breaks: Readonly<Record<string, Break>> = {
  drop: {
    fits: () => true,
    apply: (parent, key) => {
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete parent[key]
    },
  },
  empty: {
    fits: (value) => isText(value) || typeof value === 'object',
    apply: set((value) => (isText(value) ? '' : Array.isArray(value) ? [] : {})),
  },
  neg: { fits: isNumber, apply: set(() => -1) },
  zero: { fits: isNumber, apply: set(() => 0) },
  big: {
    fits: (value) => isText(value) || isNumber(value),
    apply: set((value) => (isText(value) ? 'x'.repeat(300) : 99999)),
  },
  str: { fits: isText, apply: set(() => 'Bogus Value!') },
  upper: {
    fits: (value) => isText(value) && value.toUpperCase() !== value,
    apply: set((value) => value.toUpperCase()),
  },
  dup: {
    fits: (value) => Array.isArray(value) && value.length > 0,
    apply: (_parent, _key, value) => value.push(structuredClone(value[0])),
  },
  alt: {
    fits: (value) => value !== null && typeof value !== 'object',
    apply: set((value) => (isNumber(value) ? value + 1 : isText(value) ? `${value}2` : !value)),
  },
  above: { fits: isText, apply: set(() => '/../x') },
  colon: { fits: isText, apply: set(() => 'a:b/c') },
}

interface Broken {
  readonly entry: CorpusEntry
  readonly what: string
  readonly object: Any
}

function pathsOf(value: Any, path: readonly string[] = []): readonly (readonly string[])[] {
  return Object.keys(value).flatMap((key) => {
    if (path.length === 0 && (key === 'apiVersion' || key === 'kind')) return []
    const here = [...path, key]
    const inner = value[key]
    return inner !== null && typeof inner === 'object' ? [here, ...pathsOf(inner, here)] : [here]
  })
}

function at(object: Any, path: readonly string[]): Any {
  return path.reduce((value, key) => value[key], object)
}

/** All there are. */
function* everyBreak(corpus: readonly CorpusEntry[]): Generator<Broken> {
  for (const entry of corpus)
    for (const path of pathsOf(entry.object)) {
      const value = at(entry.object, path)
      for (const [name, { fits, apply }] of Object.entries(breaks)) {
        if (!fits(value)) continue
        const object = structuredClone(entry.object)
        const key = path[path.length - 1]!
        const parent = at(object, path.slice(0, -1))
        apply(parent, key, parent[key])
        yield { entry, what: `${name}.${path.join('.')}`, object }
      }
    }
}

/** `count` of them, by object, at most `MOST` a case. */
function picked(corpus: readonly CorpusEntry[], rand: Chance, count: number): readonly (readonly Broken[])[] {
  const all = [...everyBreak(corpus)]
  const chosen = new Set<number>()
  while (chosen.size < Math.min(count, all.length)) chosen.add(Math.floor(rand.float() * all.length))
  const groups = Map.groupBy(
    [...chosen].sort((a, b) => a - b).map((index) => all[index]!),
    ({ entry }) => entry,
  )
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MOST) }, (_, i) => group.slice(i * MOST, (i + 1) * MOST)),
  )
}

const MOST = 25

const nameOf = (group: readonly Broken[]): string => {
  const { object } = group[0]!.entry
  return `${object.kind} ${object.metadata.name}: ${group[0]!.what} to ${group.at(-1)!.what}`
}

/** The query says which field it is: servers pass over it. */
const asked = ({ what }: Broken) => `dryRun=All&x=${encodeURIComponent(what)}`

export function fieldCreates(corpus: readonly CorpusEntry[], rand: Chance, count: number): readonly Case[] {
  return picked(corpus, rand, count).map((group) => ({
    name: nameOf(group),
    steps: group.map(
      (broken): Step => ({
        m: 'POST',
        p: `${broken.entry.path}?${asked(broken)}`,
        b: JSON.stringify(broken.object),
      }),
    ),
  }))
}

const notUpdated = /Binding$|APIService|Namespace|CustomResource|FlowSchema/

export function fieldUpdates(corpus: readonly CorpusEntry[], rand: Chance, count: number): readonly Case[] {
  const usable = corpus.filter(({ object }) => !notUpdated.test(object.kind))
  return picked(usable, rand, count).map((group) => {
    const { path, object } = group[0]!.entry
    const name = object.metadata.name
    return {
      name: nameOf(group),
      serial: !path.includes('$NS'),
      steps: [
        { m: 'POST', p: path, b: JSON.stringify(object) },
        ...group.map(
          (broken): Step => ({ m: 'PUT', p: `${path}/${name}?${asked(broken)}`, b: JSON.stringify(broken.object) }),
        ),
        { m: 'DELETE', p: `${path}/${name}?gracePeriodSeconds=0` },
      ],
    }
  })
}
