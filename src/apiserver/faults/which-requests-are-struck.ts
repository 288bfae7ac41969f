/**
 * faults: what an API server does wrong on purpose, so that a client's answers to it can be tested (docs/faults.md). Which request or
 * event is struck is a pure function of the seed, the rule, and how many like it the client has had before: so the same sequence
 * of requests meets the same faults, whatever others ask in between. Called by the filter of the same name, which does what is
 * decided here; it knows nothing of answers and streams.
 */
import { createHash } from 'node:crypto'
import type { RequestInfo } from '../../api/request.ts'
import { formatMicroTime } from '../../base/clock.ts'
import { createLruMap } from '../../base/lru.ts'
import type { Runtime } from '../../base/runtime.ts'
import { clientName, FaultError, type FaultRule, isClient, LARGEST_SEED, parseFault } from './grammar.ts'

/** A request, and its client: all that rules look at. */
export interface AskedRequest {
  readonly info: RequestInfo
  readonly userAgent: string
  /** A component of the cluster: only rules that name it are for it. */
  readonly isOwn: boolean
}

/** One request or event that went wrong because of a fault. */
export interface Strike {
  /** Counted from one since the rules were set. */
  readonly number: number
  /** Of the cluster's clock, metav1.MicroTime. */
  readonly time: string
  readonly fault: string
  readonly client: string
  readonly verb: string
  /** `deployments.apps/status` */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  /** The how-manieth of its client, resource and verb it was. */
  readonly count: number
}

export interface FaultStatus {
  readonly fault: string
  /** How many requests or events it was for, and how many of them it struck. */
  readonly met: number
  readonly struck: number
}

export interface FaultsStatus {
  readonly seed: number
  readonly faults: readonly FaultStatus[]
  /** The oldest first, a few hundred at most. */
  readonly last: readonly Strike[]
}

/** How faults are written in a program: in words, or by what happens: `{ 'watch drop': '5% on pods' }`. */
export type FaultWords = readonly string[] | Readonly<Record<string, string | readonly string[]>>

/** Faults of a running cluster: read, set and cleared at any time. */
export interface Faults {
  /** Only these from now on; what was counted is forgotten. @throws FaultError, then nothing has changed */
  set(faults: FaultWords, seed?: number): void
  /** These too. @throws FaultError, then nothing has changed */
  add(faults: FaultWords): void
  /** Takes these away, or all of them. @throws FaultError for one that is not there */
  clear(faults?: FaultWords): void
  status(): FaultsStatus
}

/** What the API server asks. */
export interface FaultInjection extends Faults {
  /** There are no rules: nothing need be asked. */
  readonly isQuiet: boolean
  /** The first rule that strikes this request, or an event of this watch. All that are for it count it. */
  strike(what: FaultRule['strikes'], asked: AskedRequest): FaultRule | undefined
}

interface Active {
  readonly rule: FaultRule
  met: number
  struck: number
}

const MOST_RULES = 100
const KEPT_STRIKES = 300
/** Of clients, resources and verbs together; the longest unused begins anew. */
const MOST_COUNTERS = 20_000

/** `random` chooses the seed where none is given. @throws FaultError */
export function createFaults(
  { clock, log, random }: Pick<Runtime, 'clock' | 'log' | 'random'>,
  options: { readonly seed?: number; readonly faults?: FaultWords } = {},
): FaultInjection {
  const told = log.named('faults')
  let seed = seedOf(options.seed ?? Math.floor(random.float() * 2 ** 32))
  let active: readonly Active[] = rulesOf(options.faults ?? []).map(fresh)
  let counters = createLruMap<string, number>(MOST_COUNTERS)
  let strikes: Strike[] = []
  let total = 0

  const forget = () => {
    counters = createLruMap(MOST_COUNTERS)
    strikes = []
    total = 0
  }
  const counted = (rule: FaultRule, key: string): number => {
    const of = `${rule.text}\n${key}`
    const count = (counters.get(of) ?? 0) + 1
    counters.set(of, count)
    return count
  }
  const note = (rule: FaultRule, { info, userAgent }: AskedRequest, count: number) => {
    const { verb, namespace, name } = info
    const strike: Strike = {
      number: ++total,
      time: formatMicroTime(clock.now()),
      fault: rule.text,
      client: clientName(userAgent),
      verb,
      resource: resourceName(info),
      namespace,
      name,
      count,
    }
    strikes.push(strike)
    if (strikes.length > 2 * KEPT_STRIKES) strikes = strikes.slice(-KEPT_STRIKES)
    const { time: _, ...words } = strike
    told.info(0, 'fault', { seed, ...words })
  }

  return {
    get isQuiet() {
      return active.length === 0
    },
    strike(what, asked) {
      let first: { readonly rule: FaultRule; readonly count: number } | undefined
      let key: string | undefined
      for (const one of active) {
        const { rule } = one
        if (rule.strikes !== what || !isFor(rule, asked)) continue
        key ??= `${clientName(asked.userAgent)}\n${resourceName(asked.info)}\n${asked.info.verb}`
        const count = counted(rule, key)
        one.met++
        if (first !== undefined || !isStruck(seed, rule, key, count)) continue
        one.struck++
        first = { rule, count }
      }
      if (first === undefined) return undefined
      note(first.rule, asked, first.count)
      return first.rule
    },
    set(faults, newSeed) {
      const rules = rulesOf(faults)
      if (newSeed !== undefined) seed = seedOf(newSeed)
      active = rules.map(fresh)
      forget()
    },
    add(faults) {
      const known = active.map(({ rule }) => rule.text)
      active = [...active, ...rulesOf(faults, known).map(fresh)]
    },
    clear(faults) {
      if (faults === undefined) {
        active = []
        forget()
        return
      }
      const gone = new Set(rulesOf(faults).map(({ text }) => text))
      for (const text of gone)
        if (!active.some(({ rule }) => rule.text === text))
          throw new FaultError(`there is no fault ${JSON.stringify(text)}`)
      active = active.filter(({ rule }) => !gone.has(rule.text))
    },
    status: () => ({
      seed,
      faults: active.map(({ rule, met, struck }) => ({ fault: rule.text, met, struck })),
      last: strikes.slice(-KEPT_STRIKES),
    }),
  }
}

const fresh = (rule: FaultRule): Active => ({ rule, met: 0, struck: 0 })

function seedOf(seed: number): number {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new FaultError(`seed ${seed} is no whole number from 0 to ${LARGEST_SEED}`)
  return seed
}

/** @param known texts of those that are there already */
function rulesOf(faults: FaultWords, known: readonly string[] = []): readonly FaultRule[] {
  const rules = textsOf(faults).map(parseFault)
  const texts = new Set(known)
  for (const { text } of rules) {
    if (texts.has(text)) throw new FaultError(`fault ${JSON.stringify(text)} is there twice`)
    texts.add(text)
  }
  if (texts.size > MOST_RULES) throw new FaultError(`there are more than ${MOST_RULES} faults`)
  return rules
}

function textsOf(faults: FaultWords): readonly string[] {
  if (typeof faults !== 'object' || faults === null)
    throw new FaultError(`faults are a list such as ["watch drop 5%"], not ${JSON.stringify(faults) ?? String(faults)}`)
  if (isList(faults)) return faults
  return Object.entries(faults).flatMap(([what, rest]) => [rest].flat().map((words) => `${what} ${words}`))
}

const isList = (faults: FaultWords): faults is readonly string[] => Array.isArray(faults)

function resourceName({ resource, group, subresource }: RequestInfo): string {
  return `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
}

function isFor(rule: FaultRule, { info, userAgent, isOwn }: AskedRequest): boolean {
  if (!rule.verbs.has(info.verb)) return false
  if (rule.client === undefined ? isOwn : !isClient(rule.client, userAgent)) return false
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(info.namespace)) return false
  return (
    rule.resources.length === 0 ||
    rule.resources.some(
      ({ resource = info.resource, group = info.group, subresource = info.subresource }) =>
        resource === info.resource && group === info.group && subresource === info.subresource,
    )
  )
}

/** Nothing but what is given here decides. */
export function isStruck(seed: number, { text, share }: FaultRule, key: string, count: number): boolean {
  switch (share.type) {
    case 'first':
      return count <= share.count
    case 'every':
      return count % share.count === 0
    case 'share': {
      const hash = createHash('sha256').update(`${seed}\n${text}\n${key}\n${count}`).digest()
      return hash.readUIntBE(0, 6) / 2 ** 48 < share.share
    }
  }
}
