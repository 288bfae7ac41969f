/** Does a deed in a twin and waits until nothing comes of it any more; what was written meanwhile is read from the twin's journal. */
import type { Journal, KeptRecord } from '../../api/journal.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import type { Delays } from '../../client/uneven-transport.ts'
import type { StartedFork } from '../../cluster/fork.ts'
import type { StoredEntry } from '../../cluster/twin.ts'
import { storedEntries } from '../../cluster/twin.ts'
import { createClusterReader } from '../cluster-reader.ts'
import { createCauses, withCause } from '../timeline/causes.ts'
import { stepsOf } from '../timeline/steps.ts'
import type { TimelineStep } from '../timeline/timeline-types.ts'
import type { TwinSource } from '../twin/read-cluster.ts'
import { ownersIn, type Programs, startTwinOf, type TwinModel } from '../twin/twin.ts'
import { knownFinalizer } from '../why/known-finalizers.ts'
import { type Explanation, explainObject, startLook } from '../why/why.ts'
import { createOwnersAbove, createRelations } from './comes-of-the-deed.ts'
import type { Deed, DeedStage } from './deed.ts'
import type { RefusedRequest } from './plan.ts'
import type { Asks } from './rights.ts'
import { createWithoutTheDeed, type WithoutTheDeed } from './without-the-deed.ts'

/** An object that was marked in the rehearsal and is left. */
export interface Held {
  readonly uid: string
  readonly record: KeptRecord
  readonly object: KubeObject
  readonly explanation: Explanation
  /** Finalizers of it that no controller of a twin takes off. */
  readonly foreign: readonly string[]
}

export interface StageOutcome {
  readonly what: string
  /** Milliseconds after the deed began; undefined: it does not end. */
  readonly endedMs: number | undefined
  readonly held: readonly Held[]
  readonly refused: readonly RefusedRequest[]
}

export interface Rehearsal {
  /** Milliseconds from the beginning of the deed to a step, without the pauses in which it was only seen that nothing comes any more. */
  msOf(step: TimelineStep): number
  readonly stages: readonly StageOutcome[]
  /** Not what Jobs and CronJobs would have done without the deed. */
  readonly steps: readonly TimelineStep[]
  /** An object that the deed deletes or writes, or that goes by it. */
  isTouched(uid: string): boolean
  /** The last revision before controllers outside were taken to act. */
  readonly restedAt: number
  readonly held: readonly Held[]
  readonly refused: readonly RefusedRequest[]
  /** What the deed asked for. */
  readonly asked: readonly Asks[]
  readonly before: readonly StoredEntry[]
  /** At rest, before others act. */
  readonly rest: readonly StoredEntry[]
  /** At rest, after others have acted. */
  readonly after: readonly StoredEntry[]
  /** Its journal did not hold all of it. */
  readonly isCut: boolean
  /** What had not come to rest when it was followed no further. */
  readonly goesOn: readonly GoingOn[]
}

/** In milliseconds after the deed began. */
export interface GoingOn {
  /** The owner, or what has none. */
  readonly what: string
  readonly sinceMs: number
  readonly untilMs: number
}

/** What a controller does again after a failure, or after some time, comes within this; in a twin it costs nothing to wait. */
const QUIET_MS = 100_000
const HELD_QUIET_MS = 400_000
const MOST_ROUNDS = 60
/** So long controllers have for what they do first, where each request takes its time. */
const UNEVEN_START_MS = 30_000
/** Longer than controllers, whose requests take no time then, need for what one request leads to. */
const APART_MS = 1000
/** So many held objects are explained. */
const MOST_EXPLAINED = 40
const MOST_ACTS = 30
const LOOKS = { budget: 2000, requestMs: 20_000, totalMs: 120_000 }

/** How a rehearsal differs from the one in which no request takes any time. */
export interface Variation {
  /** How much time requests of controllers take. */
  readonly uneven?: Delays
  /** Controllers have their time between two requests of the deed. */
  readonly isApart?: boolean
}

export async function rehearse(
  { runtime, userAgent }: TwinSource,
  model: TwinModel,
  deed: Deed,
  programs: Programs,
  { uneven, isApart = false }: Variation = {},
): Promise<Rehearsal> {
  const twin = await startTwinOf(model, { clock: 'manual', programs, ...(uneven === undefined ? {} : { uneven }) })
  const ownersOf = lazily(() => ownersIn(model.read))
  const without = createWithoutTheDeed(
    () => startTwinOf(model, { clock: 'manual', programs }),
    createOwnersAbove(ownersOf),
  )
  try {
    await twin.clock.advance(uneven === undefined ? 1000 : UNEVEN_START_MS)
    const before = storedEntries(twin)
    const course = follow(twin, model, ownersOf)
    await course.read()
    course.begin()
    const refused: RefusedRequest[] = []
    const asked: Asks[] = []
    const beganMs = twin.clock.now.getTime()
    const pauses: Pause[] = []
    /** Until when time has been counted as a pause already. */
    let countedMs = beganMs
    const pause = () => {
      const now = twin.clock.now.getTime()
      pauses.push({ after: course.revision, ms: now - Math.max(course.lastAt, countedMs) })
      countedMs = now
    }
    const elapsed = (time: number, revision: number) =>
      Math.max(
        0,
        Math.round(time - beganMs - pauses.reduce((sum, { after, ms }) => (after < revision ? sum + ms : sum), 0)),
      )
    const look = async () => {
      const options = { ...LOOKS, userAgent, user: { name: 'kubernetes-admin', groups: ['system:masters'] } }
      return startLook(
        createClusterReader(runtime.machineClock, twin.transport, options),
        twin.clock.now.getTime(),
        true,
      )
    }
    const held = async () => explainHeld(course.pending(), await look(), model)
    const doStage = async (stage: DeedStage, named: Set<string>) => {
      await stage.run({
        client: twin.client,
        clock: twin.clock,
        kinds: model.read.kinds,
        named(uid) {
          named.add(uid)
          course.waitsFor(uid)
        },
        changed: course.touches,
        refused: (one) => void refused.push(one),
        asks: (one) => void asked.push(one),
        inAnyOrder: (requests) => (uneven === undefined ? requests : requests.toReversed()),
        async between() {
          if (isApart) await twin.clock.advance(APART_MS)
        },
        progress: course.read,
      })
      await untilRest(twin, course, without)
    }
    const stages: StageOutcome[] = []
    for (const [at, stage] of deed.stages.entries()) {
      if (at > 0) pause()
      const named = new Set<string>()
      const before = refused.length
      await doStage(stage, named)
      const isLast = at === deed.stages.length - 1
      // Controllers that are there do their work before the next stage is begun.
      if (!isLast)
        await act(
          twin,
          course,
          { held, pause, without },
          (one) => one.foreign.length > 0 && one.explanation.verdict === 'slow',
        )
      const own = (course.pending().some(({ uid }) => named.has(uid)) ? await held() : []).filter(({ uid }) =>
        named.has(uid),
      )
      stages.push({
        what: stage.what,
        endedMs: own.length > 0 ? undefined : course.endMs(named, elapsed),
        held: own,
        refused: refused.slice(before),
      })
    }
    const restedAt = course.revision
    const rest = storedEntries(twin)
    const left = course.pending().length === 0 ? [] : await held()
    await act(twin, course, { held, pause, without }, (one) => one.foreign.length > 0)
    return {
      msOf: ({ time, revision }) => elapsed(Date.parse(time), revision),
      stages,
      steps: course.steps,
      isTouched: course.isTouched,
      restedAt,
      held: left,
      refused,
      asked,
      before,
      rest,
      after: left.length === 0 ? rest : storedEntries(twin),
      isCut: course.isCut,
      goesOn: course.goesOn.map(({ what, since, until }) => ({
        what,
        sinceMs: elapsed(since.time, since.revision),
        untilMs: elapsed(until.time, until.revision),
      })),
    }
  } finally {
    await Promise.all([without.stop(), twin.stop()])
  }
}

/** Time in which nothing happened, after a revision. */
interface Pause {
  readonly after: number
  readonly ms: number
}

interface Course {
  /** The deed begins: only what is written from now on are its steps. */
  begin(): void
  /** An object that the deed names: it is pending if it was marked before. */
  waitsFor(uid: string): void
  /** An object that the deed makes or changes. */
  touches(uid: string): void
  isTouched(uid: string): boolean
  /** Whether anything new was written that comes of the deed, or may. */
  read(): Promise<boolean>
  /** The owners elsewhere of what was written in this pause and is open (see Relations). */
  readonly open: readonly (readonly string[])[]
  /** A pause is over: what goes on elsewhere is open from now on. */
  endPause(): void
  readonly steps: readonly TimelineStep[]
  readonly revision: number
  /** The time of the last record that counts. */
  readonly lastAt: number
  readonly isCut: boolean
  /** It is followed no further, though it has not come to rest. */
  leave(): void
  readonly goesOn: readonly { readonly what: string; readonly since: KeptRecord; readonly until: KeptRecord }[]
  /** When the last of these was removed; 0 where none was. */
  endMs(uids: ReadonlySet<string>, elapsed: (time: number, revision: number) => number): number
  /** What is marked and not removed, of what was marked or changed since it is followed, and of what the deed names. Not what goes by its own time. */
  pending(): readonly KeptRecord[]
}

/** What was marked in the source, by uid, as if that had been seen. */
function markedBefore({ read: { resources } }: TwinModel): ReadonlyMap<string, KeptRecord> {
  const unknown = { verb: '', subresource: '', user: '', userAgent: '', before: {}, revision: 0 }
  return new Map(
    resources.flatMap(({ resource: { group, resource, kind }, items }) =>
      items.flatMap(({ metadata: { deletionTimestamp, finalizers, namespace = '', name = '', uid = '' } }) => {
        if (deletionTimestamp === undefined) return []
        const after = { deletionTimestamp, ...(finalizers === undefined ? {} : { finalizers }) }
        const time = Date.parse(deletionTimestamp)
        return [[uid, { ...unknown, group, resource, kind, namespace, name, uid, time, after }] as const]
      }),
    ),
  )
}

type OwnersOf = (uid: string) => readonly OwnerReference[] | undefined

function follow(twin: StartedFork, model: TwinModel, ownersOf: OwnersOf): Course {
  const before = markedBefore(model)
  const relations = createRelations(createOwnersAbove(ownersOf))
  let causeOf = createCauses()
  let steps: TimelineStep[] = []
  const removed = new Map<string, KeptRecord>()
  const marked = new Map<string, KeptRecord>()
  let revision = 0
  let lastAt = 0
  let isCut = false
  /** The first record about each owner, and the last that counts. */
  const firstOf = new Map<string, KeptRecord>()
  let last: KeptRecord | undefined
  const goesOn = new Map<string, { readonly what: string; readonly since: KeptRecord; readonly until: KeptRecord }>()

  function keep(record: KeptRecord): void {
    if (record.after?.deletionTimestamp !== undefined) marked.set(record.uid, record)
    else {
      marked.delete(record.uid)
      if (record.after === undefined) removed.set(record.uid, record)
    }
  }

  /** @returns whether it tells that more may come */
  function tell(record: KeptRecord): boolean {
    let isNews = false
    for (const step of stepsOf([record])) {
      const cause = causeOf(step)
      isNews = relations.add(step, cause) || isNews
      if (relations.relationOf(record.uid) !== 'by-time') steps.push(withCause(step, cause))
    }
    keep(record)
    if (relations.relationOf(record.uid) === 'by-time') marked.delete(record.uid)
    else {
      lastAt = record.time
      last = record
      const what = inChargeOf(record)
      if (!firstOf.has(what)) firstOf.set(what, record)
    }
    return isNews
  }

  return {
    get steps() {
      return steps
    },
    get revision() {
      return revision
    },
    get isCut() {
      return isCut
    },
    get lastAt() {
      return lastAt
    },
    get open() {
      return relations.open
    },
    get goesOn() {
      return [...goesOn.values()]
    },
    begin() {
      causeOf = createCauses()
      steps = []
      firstOf.clear()
    },
    leave() {
      if (last === undefined) return
      const what = inChargeOf(last)
      goesOn.set(what, { what, since: firstOf.get(what) ?? last, until: last })
    },
    endMs(uids, elapsed) {
      const all = [...uids].flatMap((uid) => removed.get(uid) ?? [])
      const last = all.reduce<KeptRecord | undefined>((a, b) => (a && a.revision > b.revision ? a : b), undefined)
      return last === undefined ? 0 : elapsed(last.time, last.revision)
    },
    waitsFor(uid) {
      relations.touch(uid)
      const one = before.get(uid)
      if (one !== undefined && !marked.has(uid) && !removed.has(uid)) marked.set(uid, one)
    },
    touches: relations.touch,
    isTouched: relations.isTouched,
    endPause: relations.endWhile,
    pending: () => [...marked.values()],
    async read() {
      const { body } = await twin.client.raw('GET', `/skiff.dev/journal?after=${revision}`)
      const journal = JSON.parse(body) as Journal
      revision = journal.revision
      isCut ||= journal.records.length >= MOST_RECORDS
      return journal.records.map(tell).some((isNews) => isNews)
    },
  }
}

function inChargeOf({ resource, namespace, name, before, after }: KeptRecord): string {
  const owners = after?.ownerReferences ?? before.ownerReferences ?? []
  const owner = owners.find(({ controller }) => controller === true) ?? owners[0]
  const own = owner === undefined ? `${resource}/${name}` : `${resource} of ${owner.kind}/${owner.name}`
  return namespace === '' ? own : `${own} in ${namespace}`
}

/** Owners of objects of the source: most rehearsals never ask. */
function lazily(ownersOf: () => ReadonlyMap<string, readonly OwnerReference[]>) {
  let owners: ReadonlyMap<string, readonly OwnerReference[]> | undefined
  return (uid: string) => {
    owners ??= ownersOf()
    return owners.get(uid)
  }
}

/** A journal holds some 50,000: with so many at once others may have been dropped. */
const MOST_RECORDS = 48_000

/** Whether what goes on elsewhere would not go on without the deed. */
async function isMovedByTheDeed({ open }: Course, without: WithoutTheDeed, from: number, to: number): Promise<boolean> {
  if (open.length === 0) return false
  // Without the deed it may come a pause earlier.
  const moved = await without.movedBetween(from - QUIET_MS, to)
  return open.some((owners) => !owners.some((uid) => moved.has(uid)))
}

async function untilRest(twin: StartedFork, course: Course, without: WithoutTheDeed): Promise<void> {
  await course.read()
  course.endPause()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const now = twin.clock.now.getTime()
    const pending = course.pending()
    const graceMs = pending.reduce(
      (most, { after }) => Math.max(most, Date.parse(after?.deletionTimestamp ?? '') - now),
      0,
    )
    await twin.clock.advance(graceMs + (pending.length > 0 && graceMs === 0 ? HELD_QUIET_MS : QUIET_MS))
    const isNews = (await course.read()) || (await isMovedByTheDeed(course, without, now, twin.clock.now.getTime()))
    course.endPause()
    if (!isNews && graceMs === 0) return
  }
  course.leave()
}

/** Finalizers that a twin's own controllers take off. */
function isForeign(finalizer: string, resource: string): boolean {
  const known = knownFinalizer(finalizer, resource)
  const own = known?.runsIn === 'kube-controller-manager' || known?.runsIn === 'kube-apiserver'
  return !own || finalizer === 'kubernetes.io/pv-controller'
}

async function explainHeld(
  pending: readonly KeptRecord[],
  look: Awaited<ReturnType<typeof startLook>>,
  { read: { kinds } }: TwinModel,
): Promise<readonly Held[]> {
  const held: Held[] = []
  const alike = new Map<string, Explanation>()
  for (const record of pending) {
    const { group, resource, namespace, name, uid } = record
    const row = kinds.ofResource(group, resource)
    if (row === undefined) continue
    const finalizers = record.after?.finalizers ?? []
    const kind = JSON.stringify([group, resource, finalizers])
    const found = await look.reader.get(row, namespace, name)
    if (found.state !== 'found' || found.value.metadata.uid !== uid) continue
    const same = held.length < MOST_EXPLAINED ? undefined : alike.get(kind)
    const explanation = same ?? (await explainObject(look, row, found.value))
    alike.set(kind, explanation)
    const foreign = (found.value.metadata.finalizers ?? []).filter((one) => isForeign(one, resource))
    held.push({ uid, record, object: found.value, explanation, foreign })
  }
  return held
}

/** Takes off the finalizers of controllers outside, as long as that leads to anything. */
async function act(
  twin: StartedFork,
  course: Course,
  {
    held,
    pause,
    without,
  }: { readonly held: () => Promise<readonly Held[]>; readonly pause: () => void; readonly without: WithoutTheDeed },
  acts: (one: Held) => boolean,
): Promise<void> {
  for (let round = 0; round < MOST_ACTS; round++) {
    const now = (course.pending().length === 0 ? [] : await held()).filter(acts)
    if (now.length === 0) return
    pause()
    for (const { record, object, foreign } of now) {
      const finalizers = (object.metadata.finalizers ?? []).filter((one) => !foreign.includes(one))
      const { group, resource, namespace, name } = record
      const version = object.apiVersion.slice(object.apiVersion.indexOf('/') + 1)
      await twin.client
        .resource({ group, version, resource })
        .namespace(namespace)
        .patch(name, 'merge', { metadata: { finalizers } })
        .catch(() => {})
    }
    await untilRest(twin, course, without)
  }
}
