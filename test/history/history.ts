/**
 * A history of requests to API servers that share a store, and whether it could have come about: writes linearizable by the
 * revisions that they were given, consistent reads not older than anything that was answered before them, and watches complete.
 *
 * `truth` is what the store itself tells afterwards. A request whose answer was an error that says nothing (`unknown`) may have
 * been done or not; one that was refused must not have been.
 */
export interface Change {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly revision: number
  /** Of a put: no two requests write the same one. */
  readonly value?: string
}

export interface Item {
  readonly key: string
  readonly value: string
  readonly revision: number
}

export type Outcome =
  | { readonly type: 'written'; readonly revision: number }
  /** A delete, whose answer names no revision. */
  | { readonly type: 'deleted' }
  /** A read of one key: undefined where it was not there. */
  | { readonly type: 'read'; readonly item: Item | undefined }
  | { readonly type: 'listed'; readonly items: readonly Item[]; readonly revision: number }
  | { readonly type: 'refused' }
  | { readonly type: 'unknown' }

export interface Operation {
  readonly what: 'create' | 'update' | 'delete' | 'get' | 'list'
  /** '' for a list of all keys. */
  readonly key: string
  readonly value?: string
  /** The revision that the key must be at: of updates and deletes. */
  readonly expected?: number
  /** Places in the order of everything that was begun or answered. */
  readonly begun: number
  readonly answered: number
  readonly outcome: Outcome
}

/** What one watch told, over all the servers that it was continued at. */
export interface Watched {
  readonly from: number
  /** It told of everything up to this revision. */
  readonly until: number
  readonly changes: readonly Change[]
}

export interface History {
  readonly operations: readonly Operation[]
  readonly watches: readonly Watched[]
  readonly truth: readonly Change[]
}

/** What is wrong with it; nothing, where it could have come about. */
export function problemsOf(history: History): readonly string[] {
  const truth = createTruth(history.truth)
  return [
    ...truth.problems,
    ...writeProblems(history, truth),
    ...readProblems(history, truth),
    ...history.watches.flatMap((watch, i) => watchProblems(watch, history.truth, i)),
  ]
}

interface Truth {
  readonly problems: readonly string[]
  at(revision: number): Change | undefined
  ofValue(value: string): Change | undefined
  /** The change of the key before a revision. */
  before(key: string, revision: number): Change | undefined
  /** What the key was at a revision. */
  stateAt(key: string, revision: number): Change | undefined
  deleteOf(key: string, revision: number): Change | undefined
  keys(): Iterable<string>
}

function createTruth(changes: readonly Change[]): Truth {
  const byRevision = new Map<number, Change>()
  const byValue = new Map<string, Change>()
  const byKey = new Map<string, Change[]>()
  const problems: string[] = []
  let last = 0
  for (const change of changes) {
    if (change.revision <= last) problems.push(`revision ${change.revision} comes after ${last} in the store`)
    last = change.revision
    byRevision.set(change.revision, change)
    if (change.value !== undefined) {
      if (byValue.has(change.value)) problems.push(`${change.value} was written twice`)
      byValue.set(change.value, change)
    }
    const ofKey = byKey.get(change.key) ?? []
    ofKey.push(change)
    byKey.set(change.key, ofKey)
  }
  const lastWhere = (key: string, isWanted: (change: Change) => boolean) => byKey.get(key)?.findLast(isWanted)
  return {
    problems,
    at: (revision) => byRevision.get(revision),
    ofValue: (value) => byValue.get(value),
    before: (key, revision) => lastWhere(key, (change) => change.revision < revision),
    stateAt: (key, revision) => lastWhere(key, (change) => change.revision <= revision),
    deleteOf(key, revision) {
      const ofKey = byKey.get(key) ?? []
      const next = ofKey[ofKey.findIndex((change) => change.revision === revision) + 1]
      return next?.type === 'delete' ? next : undefined
    },
    keys: () => byKey.keys(),
  }
}

const nameOf = ({ what, key, value, begun }: Operation) =>
  `${what} ${key}${value === undefined ? '' : ` ${value}`} #${begun}`

function writeProblems({ operations }: History, truth: Truth): string[] {
  const problems: string[] = []
  const written: { readonly operation: Operation; readonly revision: number }[] = []
  for (const operation of operations) {
    const { what, key, value, expected, outcome } = operation
    if (what === 'get' || what === 'list') continue
    const change =
      what === 'delete' ? truth.deleteOf(key, expected ?? 0) : value === undefined ? undefined : truth.ofValue(value)
    if (outcome.type === 'written') {
      const there = truth.at(outcome.revision)
      if (there === undefined || there.key !== key || there.value !== value) {
        problems.push(`${nameOf(operation)} was answered with ${outcome.revision}, and is not in the store`)
        continue
      }
      written.push({ operation, revision: outcome.revision })
    } else if (outcome.type === 'deleted') {
      if (change === undefined) {
        problems.push(`${nameOf(operation)} was answered, and is not in the store`)
        continue
      }
      written.push({ operation, revision: change.revision })
    } else if (outcome.type === 'refused' && change !== undefined && !mayBeOfAnother(operation, operations))
      problems.push(`${nameOf(operation)} was refused, and is in the store`)
    if (change === undefined || what === 'delete') continue
    const before = truth.before(key, change.revision)
    if (what === 'create' && before?.type === 'put')
      problems.push(`${nameOf(operation)} was done although the key was there at ${before.revision}`)
    if (what === 'update' && (before?.type !== 'put' || before.revision !== expected))
      problems.push(`${nameOf(operation)} expected ${expected}, and was done over ${before?.revision}`)
  }
  for (const earlier of written)
    for (const later of written)
      if (earlier.operation.answered < later.operation.begun && earlier.revision >= later.revision)
        problems.push(`${nameOf(later.operation)} began after ${nameOf(earlier.operation)}, and has an older revision`)
  return problems
}

/** Two may delete a key at one revision: one of them has done it. Of other writes each has a value of its own. */
const mayBeOfAnother = (one: Operation, operations: readonly Operation[]): boolean =>
  one.what === 'delete' &&
  operations.some(
    ({ what, key, expected, outcome }) =>
      what === 'delete' && key === one.key && expected === one.expected && outcome.type !== 'refused',
  )

/** The newest revision that anybody had been answered before something began. */
function knownBefore({ operations }: History, truth: Truth, begun: number): number {
  let known = 0
  for (const { answered, outcome, key, expected } of operations) {
    if (answered >= begun) continue
    if (outcome.type === 'written' || outcome.type === 'listed') known = Math.max(known, outcome.revision)
    else if (outcome.type === 'read') known = Math.max(known, outcome.item?.revision ?? 0)
    else if (outcome.type === 'deleted') known = Math.max(known, truth.deleteOf(key, expected ?? 0)?.revision ?? 0)
  }
  return known
}

function readProblems(history: History, truth: Truth): string[] {
  const problems: string[] = []
  for (const operation of history.operations) {
    const { key, begun, answered, outcome } = operation
    if (outcome.type !== 'read' && outcome.type !== 'listed') continue
    const known = knownBefore(history, truth, begun)
    const items = outcome.type === 'listed' ? outcome.items : outcome.item === undefined ? [] : [outcome.item]
    for (const item of items) {
      const there = truth.at(item.revision)
      if (there?.key !== item.key || there.value !== item.value)
        problems.push(`${nameOf(operation)} read ${item.key} ${item.value} at ${item.revision}, which never was`)
      const writer = history.operations.find(({ value }) => value === item.value)
      if (writer !== undefined && writer.begun > answered)
        problems.push(`${nameOf(operation)} read ${item.value} before it was written`)
    }
    if (outcome.type === 'listed') {
      if (outcome.revision < known)
        problems.push(`${nameOf(operation)} was listed at ${outcome.revision}, and ${known} had been answered`)
      const listed = new Map(items.map((item) => [item.key, item.revision]))
      for (const each of truth.keys()) {
        const state = truth.stateAt(each, outcome.revision)
        const is = state?.type === 'put' ? state.revision : undefined
        if (listed.get(each) !== is)
          problems.push(
            `${nameOf(operation)} at ${outcome.revision} has ${each} at ${listed.get(each)}, which was at ${is}`,
          )
      }
      continue
    }
    // It must be what the key was at some moment from `known` on.
    const then = truth.stateAt(key, known)
    const isOld =
      outcome.item === undefined
        ? then?.type === 'put' && !mayBeAbsent(history, truth, operation, known)
        : then !== undefined && outcome.item.revision < then.revision
    if (isOld) problems.push(`${nameOf(operation)} is older than ${known}, which had been answered`)
  }
  return problems
}

/** Whether a delete of the key after a revision had begun when the read was answered. */
const mayBeAbsent = ({ operations }: History, truth: Truth, { key, answered }: Operation, revision: number): boolean =>
  operations.some(
    (other) =>
      other.what === 'delete' &&
      other.key === key &&
      other.outcome.type !== 'refused' &&
      other.begun < answered &&
      (truth.deleteOf(key, other.expected ?? 0)?.revision ?? 0) > revision,
  )

function watchProblems({ from, until, changes }: Watched, truth: readonly Change[], index: number): string[] {
  const textOf = ({ type, key, revision, value = '' }: Change) => `${type} ${key} ${value} at ${revision}`
  const wanted = truth.filter(({ revision }) => revision > from && revision <= until).map(textOf)
  const told = changes.map(textOf)
  const place = wanted.findIndex((text, i) => told[i] !== text)
  if (place >= 0) return [`watch ${index} told ${told[place] ?? 'nothing'} instead of ${wanted[place]}`]
  return told.length > wanted.length ? [`watch ${index} told ${told[wanted.length]}, which never was`] : []
}
