/** Valid objects with one or two fields broken at random: the corpus is what recordings/objects creates. */
import type { Case, RecordedCase } from '../recording.ts'
import type { Chance } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, broken on purpose
type Any = any

export interface CorpusEntry {
  readonly path: string
  readonly object: Any
}

/** The objects that the set `objects` creates (reviews, which are not stored, left out). */
export function corpusOf(objects: readonly RecordedCase[]): readonly CorpusEntry[] {
  return objects.flatMap((c) => {
    const first = c.steps[0]
    return first && c.steps.length > 1 ? [{ path: first.p, object: JSON.parse(first.b ?? '{}') }] : []
  })
}

interface Slot {
  readonly parent: Any
  readonly key: string
  readonly path: string
}

function slotsOf(value: Any, path: string, found: Slot[] = []): Slot[] {
  for (const key of Object.keys(value)) {
    found.push({ parent: value, key, path: `${path}.${key}` })
    if (value[key] && typeof value[key] === 'object') slotsOf(value[key], `${path}.${key}`, found)
  }
  return found
}

const operations: Readonly<Record<string, (parent: Any, key: string, value: Any) => void>> = {
  drop: (parent, key) => {
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  },
  null: (parent, key) => {
    parent[key] = null
  },
  empty: (parent, key, value) => {
    parent[key] = typeof value === 'string' ? '' : Array.isArray(value) ? [] : {}
  },
  neg: (parent, key) => {
    parent[key] = -1
  },
  zero: (parent, key) => {
    parent[key] = 0
  },
  big: (parent, key, value) => {
    parent[key] = typeof value === 'string' ? 'x'.repeat(300) : 99999999999
  },
  str: (parent, key) => {
    parent[key] = 'Bogus Value!'
  },
  upper: (parent, key, value) => {
    parent[key] = typeof value === 'string' ? value.toUpperCase() : 'X'
  },
  bool: (parent, key) => {
    parent[key] = true
  },
  unknown: (parent, _key, value) => {
    const target = value && typeof value === 'object' && !Array.isArray(value) ? value : parent
    target['bogusField'] = 1
  },
  dup: (parent, key, value) => {
    if (Array.isArray(value) && value.length > 0) value.push(structuredClone(value[0]))
    else parent[key] = [value]
  },
  obj: (parent, key) => {
    parent[key] = { a: 'b' }
  },
  frac: (parent, key) => {
    parent[key] = 1.5
  },
  alt: (parent, key, value) => {
    if (typeof value === 'number') parent[key] = value + 1
    else if (typeof value === 'string') parent[key] = `${value}2`
    else if (value === true) parent[key] = false
  },
}

/** A broken copy, and what was done to it. */
export function mutate(object: Any, rand: Chance, times: number): { object: Any; what: string } {
  const copy = structuredClone(object)
  const log: string[] = []
  for (let i = 0; i < times; i++) {
    const slots = slotsOf(copy, '').filter((slot) => !/^\.(apiVersion|kind)$/.test(slot.path) || rand.float() < 0.1)
    if (slots.length === 0) break
    const slot = rand.pick(slots)
    const name = rand.pick(Object.keys(operations))
    operations[name]?.(slot.parent, slot.key, slot.parent[slot.key])
    log.push(name + slot.path)
  }
  return { object: copy, what: log.join(' ') }
}

const howMany = (rand: Chance) => 1 + Math.floor(rand.float() * 2)

export function mutatedCreates(corpus: readonly CorpusEntry[], rand: Chance, count: number): readonly Case[] {
  return Array.from({ length: count }, () => {
    const entry = rand.pick(corpus)
    const broken = mutate(entry.object, rand, howMany(rand))
    const strict = rand.float() < 0.5 ? '&fieldValidation=Strict' : ''
    return {
      name: `${entry.object.kind} ${broken.what}`,
      steps: [{ m: 'POST', p: `${entry.path}?dryRun=All${strict}`, b: JSON.stringify(broken.object) }],
    }
  })
}

/** Every object as it is, created without being stored. */
export function plainCreates(corpus: readonly CorpusEntry[]): readonly Case[] {
  return corpus.map(({ path, object }) => ({
    name: `${object.kind} ${object.metadata.name}`,
    steps: [{ m: 'POST', p: `${path}?dryRun=All&fieldValidation=Strict`, b: JSON.stringify(object) }],
  }))
}

const notUpdated = /Binding$|APIService|Namespace|CustomResource/

export function mutatedUpdates(corpus: readonly CorpusEntry[], rand: Chance, count: number): readonly Case[] {
  const usable = corpus.filter((entry) => !notUpdated.test(entry.object.kind))
  return Array.from({ length: count }, () => {
    const entry = rand.pick(usable)
    const base = structuredClone(entry.object)
    const { object, what } = mutate(entry.object, rand, howMany(rand))
    const namespaced = entry.path.includes('$NS')
    const original = base.metadata.name
    const name = namespaced || /[.\d]$|\./.test(original) ? original : `${original}-u`
    base.metadata.name = name
    if (object.metadata?.name === original) object.metadata.name = name
    return {
      name: `${base.kind} ${what}`,
      serial: !namespaced,
      steps: [
        { m: 'POST', p: entry.path, b: JSON.stringify(base) },
        { m: 'PUT', p: `${entry.path}/${name}?dryRun=All`, b: JSON.stringify(object) },
        { m: 'DELETE', p: `${entry.path}/${name}?gracePeriodSeconds=0` },
      ],
    }
  })
}

/** The Gadget CustomResourceDefinition, broken. */
export function mutatedDefinitions(definition: Any, rand: Chance, count: number): readonly Case[] {
  return Array.from({ length: count }, () => {
    const { object, what } = mutate(definition, rand, howMany(rand))
    return {
      name: what,
      ns: false,
      steps: [
        {
          m: 'POST',
          p: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
          b: JSON.stringify(object),
        },
      ],
    }
  })
}
