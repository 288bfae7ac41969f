/**
 * A table of nftables that is the cluster's own: it keeps what the kernel was told last, and says what must be told it now, the whole, or what
 * differs. What the table holds comes in parts, each of an owner (a Service's port, a policy, a pod).
 */

import type { IPFamily } from '../api/values/ip.ts'
import { WORDS } from './families.ts'

/** What one owner needs. */
export interface Rules {
  /** The rules of each chain, in order. */
  readonly chains: ReadonlyMap<string, readonly string[]>
  /** The declarations of sets of its own. */
  readonly sets: ReadonlyMap<string, string>
  readonly elements: readonly Element[]
}

export interface Element {
  readonly set: string
  readonly key: string
  /** A map's verdict; '' for a set. */
  readonly value: string
  /** Of several that claim one key the least has it. */
  readonly rank: number
}

export interface NftTableOptions {
  /** Its name: the cluster's own, hexadecimal digits. */
  readonly name: string
  /** Default: IPv4. */
  readonly family?: IPFamily
  /** What is always in it. `filled`: the elements of a set that `fill` sets, as its declaration takes them. */
  readonly body: (filled: (set: string) => string) => string
}

export interface NftTable {
  /** What an owner needs from now on; undefined: nothing any more. */
  set(owner: string, rules: Rules | undefined): void
  /** Everything that is in a set. */
  fill(set: string, values: readonly string[]): void
  /** A script that makes the table as it should be, whatever it was: in one step for the traffic. */
  whole(): string
  /** A script of what differs from the last script; '' where nothing does. */
  changes(): string
}

const NOTHING: Rules = { chains: new Map(), sets: new Map(), elements: [] }
/** How many elements one line adds. */
const PER_LINE = 500

interface Claim {
  readonly owner: string
  readonly element: Element
}

export function createTable({ name, family = 'IPv4', body }: NftTableOptions): NftTable {
  const called = `${WORDS[family].ip} ${name}`
  const wanted = new Map<string, Rules>()
  /** The claims on an element, in the order in which they came: the first of the least rank has it. */
  const claims = new Map<string, readonly Claim[]>()
  const filled = new Map<string, readonly string[]>()

  // What the kernel holds since the last script, of what has changed since then.
  const toldRules = new Map<string, Rules | undefined>()
  const toldElements = new Map<string, Element | undefined>()
  const toldFilled = new Map<string, readonly string[]>()

  const holder = (at: string): Element | undefined => {
    let best: Element | undefined
    for (const { element } of claims.get(at) ?? []) if (best === undefined || element.rank < best.rank) best = element
    return best
  }
  const placeOf = ({ set, key }: Element) => `${set} ${key}`
  const touch = (at: string) => {
    if (!toldElements.has(at)) toldElements.set(at, holder(at))
  }

  function claim(owner: string, before: readonly Element[], after: readonly Element[]): void {
    const kept = new Map(after.map((element) => [placeOf(element), element]))
    for (const element of before) {
      const at = placeOf(element)
      if (kept.has(at)) continue
      touch(at)
      const left = (claims.get(at) ?? []).filter((one) => one.owner !== owner)
      if (left.length === 0) claims.delete(at)
      else claims.set(at, left)
    }
    for (const [at, element] of kept) {
      const now = claims.get(at) ?? []
      const mine = now.findIndex((one) => one.owner === owner)
      if (mine >= 0 && now[mine]?.element.value === element.value && now[mine].element.rank === element.rank) continue
      touch(at)
      claims.set(at, mine >= 0 ? now.with(mine, { owner, element }) : [...now, { owner, element }])
    }
  }

  function told(): void {
    toldRules.clear()
    toldElements.clear()
    toldFilled.clear()
  }

  return {
    set(key, rules) {
      const before = wanted.get(key)
      if (!toldRules.has(key)) toldRules.set(key, before)
      claim(key, before?.elements ?? [], rules?.elements ?? [])
      if (rules === undefined) wanted.delete(key)
      else wanted.set(key, rules)
    },
    fill(set, values) {
      if (!toldFilled.has(set)) toldFilled.set(set, filled.get(set) ?? [])
      filled.set(set, values)
    },
    whole() {
      const script = new Script(called)
      for (const rules of wanted.values()) script.compare(NOTHING, rules)
      for (const at of claims.keys()) script.element(undefined, holder(at))
      told()
      const always = body((set) => elementsOf(filled.get(set) ?? []))
      return `add table ${called}\ndelete table ${called}\ntable ${called} {\n${always}}\n${script.text()}`
    },
    changes() {
      const script = new Script(called)
      for (const [key, before] of toldRules) script.compare(before ?? NOTHING, wanted.get(key) ?? NOTHING)
      for (const [at, before] of toldElements) script.element(before, holder(at))
      for (const [set, before] of toldFilled) {
        const now = filled.get(set) ?? []
        if (before.join() !== now.join()) script.fill(set, now)
      }
      told()
      return script.text()
    },
  }
}

export const elementsOf = (values: readonly string[]) =>
  values.length === 0 ? '' : ` elements = { ${values.join(', ')} };`

/** The parts of a transaction, in an order in which each finds what it names. */
class Script {
  readonly #table: string
  readonly #made: string[] = []
  readonly #emptied: string[] = []
  readonly #filled: string[] = []
  readonly #gone: string[] = []
  readonly #removed = new Map<string, string[]>()
  readonly #added = new Map<string, string[]>()

  /** `table`: by its family and its name. */
  constructor(table: string) {
    this.#table = table
  }

  compare(before: Rules, after: Rules): void {
    const table = this.#table
    for (const [name, declaration] of after.sets) {
      if (!before.sets.has(name)) this.#made.push(`add set ${table} ${name} { ${declaration} }`)
    }
    for (const [name, rules] of after.chains) {
      const old = before.chains.get(name)
      if (old !== undefined && old.length === rules.length && old.every((rule, i) => rule === rules[i])) continue
      if (old === undefined) this.#made.push(`add chain ${table} ${name}`)
      else this.#emptied.push(`flush chain ${table} ${name}`)
      for (const rule of rules) this.#filled.push(`add rule ${table} ${name} ${rule}`)
    }
    for (const name of before.chains.keys()) {
      if (after.chains.has(name)) continue
      this.#emptied.push(`flush chain ${table} ${name}`)
      this.#gone.push(`delete chain ${table} ${name}`)
    }
    for (const name of before.sets.keys()) if (!after.sets.has(name)) this.#gone.push(`delete set ${table} ${name}`)
  }

  element(before: Element | undefined, after: Element | undefined): void {
    if (before?.value === after?.value && (before === undefined) === (after === undefined)) return
    if (before !== undefined) listed(this.#removed, before.set).push(elementText(before))
    if (after !== undefined) listed(this.#added, after.set).push(elementText(after))
  }

  fill(set: string, values: readonly string[]): void {
    this.#made.push(`flush set ${this.#table} ${set}`)
    if (values.length > 0) this.#made.push(`add element ${this.#table} ${set} { ${values.join(', ')} }`)
  }

  text(): string {
    const lines = [
      ...this.#made,
      ...this.#elements('delete', this.#removed),
      ...this.#emptied,
      ...this.#filled,
      ...this.#elements('add', this.#added),
      ...this.#gone,
    ]
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`
  }

  *#elements(verb: string, sets: ReadonlyMap<string, readonly string[]>): Generator<string> {
    for (const [set, elements] of sets)
      for (let from = 0; from < elements.length; from += PER_LINE)
        yield `${verb} element ${this.#table} ${set} { ${elements.slice(from, from + PER_LINE).join(', ')} }`
  }
}

const elementText = ({ key, value }: Element) => (value === '' ? key : `${key} : ${value}`)

function listed(lists: Map<string, string[]>, name: string): string[] {
  const found = lists.get(name) ?? []
  lists.set(name, found)
  return found
}
