/**
 * The words by which faults are asked for (docs/faults.md), read into rules: `watch drop 5% on pods by my-operator`. The same
 * words whether they come from a command line, a program or a control of a running cluster.
 */
import { GoDurationError, parseGoDurationMs } from '../../base/go-duration.ts'

/** What is done to a request, or to an event of a watch. */
export type FaultAction =
  | { readonly type: 'refuse'; readonly code: RefusalCode }
  /** The connection is cut: the request was not done, or it was done and its answer is lost. */
  | { readonly type: 'cut'; readonly when: 'before' | 'after' }
  /** A read that may show any version shows how things were so many writes of its resource ago. */
  | { readonly type: 'stale'; readonly writes: number }
  /** The watch is cut behind the event. */
  | { readonly type: 'drop' }
  /** Instead of the event the watch ends with 410 Expired. */
  | { readonly type: 'expire' }
  /** The event, and what follows it in its watch, comes so much later. */
  | { readonly type: 'delay'; readonly ms: number }
  /** The event comes behind one of another resource that its client watches. */
  | { readonly type: 'reorder' }

const REFUSALS = ['409', '429', '500'] as const
export type RefusalCode = (typeof REFUSALS)[number]

/** Which of those that the rule is about are struck; counted from one, for each client, resource and verb. */
export type FaultShare =
  | { readonly type: 'share'; readonly share: number }
  | { readonly type: 'first'; readonly count: number }
  | { readonly type: 'every'; readonly count: number }

export interface FaultRule {
  /** In its one spelling: two rules that say the same are the same. */
  readonly text: string
  readonly action: FaultAction
  readonly share: FaultShare
  /** What is struck, and counted: requests, or events that watches tell (bookmarks are none: they come by the clock). */
  readonly strikes: 'requests' | 'events'
  readonly verbs: ReadonlySet<string>
  /** Empty: all. */
  readonly resources: readonly ResourcePattern[]
  /** Empty: all, and what is in none. */
  readonly namespaces: readonly string[]
  /** Of a client's name or its whole user agent, `*` for any characters. Undefined: all clients but components of the cluster. */
  readonly client: string | undefined
}

export interface ResourcePattern {
  /** Undefined: all. */
  readonly resource: string | undefined
  /** Undefined: any that has the resource. */
  readonly group: string | undefined
  /** Undefined: the resource with all its subresources. */
  readonly subresource: string | undefined
}

/** What was asked for cannot be read: says where it is wrong, and what would be right. */
export class FaultError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'FaultError'
  }
}

const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection']
const READS = ['get', 'list']
const ALL = [...READS, 'watch', ...WRITES]
const GROUPS_OF_VERBS: Readonly<Record<string, readonly string[]>> = { write: WRITES, read: READS }

/** What each action may be done to, and what it is done to when nothing is said. */
interface VerbsOf {
  readonly allowed: readonly string[]
  readonly usual: readonly string[]
}
const OF_REQUESTS: VerbsOf = { allowed: ALL, usual: ALL }
/** Only these verbs can be answered with a conflict. */
const OF_CONFLICTS: VerbsOf = { allowed: ['update', 'patch'], usual: ['update', 'patch'] }
/** A watch that is cut is `watch drop`. */
const OF_CUTS: VerbsOf = { allowed: [...READS, ...WRITES], usual: WRITES }
const OF_READS: VerbsOf = { allowed: READS, usual: READS }
const OF_WATCHES: VerbsOf = { allowed: ['watch'], usual: ['watch'] }

export const FAULT_FORMS = [
  'refuse 409|429|500',
  'cut before|after',
  'stale WRITES',
  'watch drop|expire|reorder',
  'watch delay DURATION',
] as const
const FORMS = `a fault is one of ${FAULT_FORMS.join(', ')}, then 5%, first 3 or every 10, then any of on, in and by`

export const LARGEST_SEED = Number.MAX_SAFE_INTEGER
const MOST_WRITES = 10_000
const LONGEST_DELAY_MS = 3_600_000
const LONGEST_TEXT = 1000

/** @throws FaultError in one line */
export function parseFault(text: string): FaultRule {
  if (typeof text !== 'string') throw new FaultError(`a fault is a text, not ${String(text)}: ${FORMS}`)
  const words = text.trim().split(/\s+/)
  const said = quoted(text)
  if (text.trim() === '') throw new FaultError(`a fault is missing: ${FORMS}`)
  if (text.length > LONGEST_TEXT) throw new FaultError(`fault ${said} is longer than ${LONGEST_TEXT} characters`)
  let at = 0
  const next = (what: string): string => {
    const word = words[at++]
    if (word === undefined) throw new FaultError(`fault ${said} ends too early: ${what} is missing`)
    return word
  }
  const wrong = (word: string, allowed: string): FaultError =>
    new FaultError(`fault ${said}: ${quoted(word)} is none of ${allowed}`)
  const { action, verbs: verbsOf, words: spelled } = actionOf(next, wrong, said)
  const { share, word: how } = shareOf(next, said)

  let verbs: readonly string[] = verbsOf.usual
  let namedVerbs: readonly string[] = []
  let resources: readonly string[] = []
  let namespaces: readonly string[] = []
  let client: string | undefined
  const seen = new Set<string>()
  while (at < words.length) {
    const clause = next('on, in or by')
    if (!['on', 'in', 'by'].includes(clause)) throw wrong(clause, 'on, in, by')
    if (seen.has(clause)) throw new FaultError(`fault ${said} says ${clause} twice`)
    seen.add(clause)
    if (clause === 'on') {
      const first = listed(next('what follows on'))
      if (first.every((word) => ALL.includes(word) || Object.hasOwn(GROUPS_OF_VERBS, word))) {
        namedVerbs = first.flatMap((word) => GROUPS_OF_VERBS[word] ?? [word])
        const after = words[at]
        if (after !== undefined && after !== 'in' && after !== 'by') resources = listed(next('resources'))
      } else resources = first
    } else if (clause === 'in') namespaces = listed(next('a namespace'))
    else client = next('a client')
  }
  if (namedVerbs.length > 0) {
    const unfit = namedVerbs.find((verb) => !verbsOf.allowed.includes(verb))
    if (unfit !== undefined)
      throw new FaultError(`fault ${said}: ${spelled} is not for ${unfit}, but for ${verbsOf.allowed.join(', ')}`)
    verbs = namedVerbs
  }
  if (client !== undefined && /^\*+$/.test(client))
    throw new FaultError(`fault ${said}: all clients are meant without by; components of the cluster must be named`)
  const patterns = resources.map((word) => patternOf(word, said))
  for (const name of namespaces) if (!NAMESPACE.test(name)) throw wrong(name, 'the names a namespace may have')
  const on = [namedVerbs, resources].map((list) => list.join(',')).filter((list) => list !== '')
  return {
    text: [
      spelled,
      how,
      ...(on.length === 0 ? [] : ['on', ...on]),
      ...(namespaces.length === 0 ? [] : ['in', namespaces.join(',')]),
      ...(client === undefined ? [] : ['by', client]),
    ].join(' '),
    action,
    share,
    strikes: verbsOf === OF_WATCHES ? 'events' : 'requests',
    verbs: new Set(verbs),
    resources: patterns,
    namespaces,
    client,
  }
}

/** Of words that were there in error, so many characters. */
const SHOWN = 100
const quoted = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

type Next = (what: string) => string

function actionOf(
  next: Next,
  wrong: (word: string, allowed: string) => FaultError,
  said: string,
): { readonly action: FaultAction; readonly verbs: VerbsOf; readonly words: string } {
  const kind = next('what is to happen')
  switch (kind) {
    case 'refuse': {
      const word = next(REFUSALS.join(', '))
      const code = REFUSALS.find((known) => known === word)
      if (code === undefined) throw wrong(word, REFUSALS.join(', '))
      return {
        action: { type: 'refuse', code },
        verbs: code === '409' ? OF_CONFLICTS : OF_REQUESTS,
        words: `refuse ${code}`,
      }
    }
    case 'cut': {
      const when = next('before or after')
      if (when !== 'before' && when !== 'after') throw wrong(when, 'before, after')
      return { action: { type: 'cut', when }, verbs: OF_CUTS, words: `cut ${when}` }
    }
    case 'stale': {
      const writes = countOf(next('by how many writes'), MOST_WRITES, 'stale', said)
      return { action: { type: 'stale', writes }, verbs: OF_READS, words: `stale ${writes}` }
    }
    case 'watch': {
      const what = next('drop, expire, reorder or delay')
      if (what === 'drop' || what === 'expire' || what === 'reorder')
        return { action: { type: what }, verbs: OF_WATCHES, words: `watch ${what}` }
      if (what !== 'delay') throw wrong(what, 'drop, expire, reorder, delay')
      const word = next('by how much')
      return { action: { type: 'delay', ms: delayOf(word, said) }, verbs: OF_WATCHES, words: `watch delay ${word}` }
    }
    default:
      throw new FaultError(`fault ${said}: ${FORMS}`)
  }
}

function delayOf(word: string, said: string): number {
  let ms = Number.NaN
  try {
    ms = parseGoDurationMs(word)
  } catch (cause) {
    if (!(cause instanceof GoDurationError)) throw cause
  }
  if (!(ms > 0 && ms <= LONGEST_DELAY_MS))
    throw new FaultError(`fault ${said}: ${quoted(word)} is no time to wait: write 500ms or 2s, at most 1h`)
  return ms
}

function shareOf(next: Next, said: string): { readonly share: FaultShare; readonly word: string } {
  const word = next('how often (5%, first 3 or every 10)')
  if (word === 'first' || word === 'every') {
    const count = countOf(next(`a number after ${word}`), Number.MAX_SAFE_INTEGER, word, said)
    return { share: { type: word, count }, word: `${word} ${count}` }
  }
  const percent = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(word)
  const share = percent === null ? Number.NaN : Number(percent[1]) / 100
  if (!(share > 0 && share <= 1))
    throw new FaultError(
      `fault ${said}: ${quoted(word)} does not say how often: write 5% (at most 100%), first 3 or every 10`,
    )
  return { share: { type: 'share', share }, word: `${Number(percent?.[1])}%` }
}

function countOf(word: string, most: number, what: string, said: string): number {
  const count = /^\d{1,16}$/.test(word) ? Number(word) : 0
  if (count < 1 || count > most)
    throw new FaultError(`fault ${said}: ${quoted(word)} after ${what} must be a number from 1 to ${most}`)
  return count
}

const listed = (word: string): readonly string[] => word.split(',').filter((part) => part !== '')

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const RESOURCE = /^(?:(\*)|([a-z0-9-]+)(?:\.([a-z0-9.-]+))?)(?:\/([a-z0-9]+))?$/

function patternOf(word: string, said: string): ResourcePattern {
  const found = RESOURCE.exec(word)
  if (found === null)
    throw new FaultError(`fault ${said}: ${quoted(word)} is no resource: write pods, deployments.apps or */status`)
  const [, , resource, group, subresource] = found
  return { resource, group, subresource }
}

/** The name by which a client is counted, and may be told apart: the first word of its user agent. */
export function clientName(userAgent: string): string {
  return (/^[^\s/]*/.exec(userAgent)?.[0] ?? '').slice(0, SHOWN)
}

/** Whether a glob fits the client's name or all of its user agent. */
export function isClient(glob: string, userAgent: string): boolean {
  return fits(glob, clientName(userAgent)) || fits(glob, userAgent)
}

/** `*` stands for any characters. In time that grows with the product of both lengths, whatever they are. */
function fits(glob: string, text: string): boolean {
  let star = -1
  let mark = 0
  let at = 0
  for (let i = 0; i < text.length; ) {
    if (glob[at] === '*') {
      star = at++
      mark = i
    } else if (glob[at] === text[i]) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++mark
    } else return false
  }
  while (glob[at] === '*') at++
  return at === glob.length
}
