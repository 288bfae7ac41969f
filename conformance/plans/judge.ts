/** Plans what was recorded from what was read then, and compares with what came. */
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { deleteStage } from '../../src/inspect/plan/delete-deed.ts'
import { type Going, type Plan, planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { withCauses } from '../../src/inspect/timeline/causes.ts'
import type { RecordedRecord } from '../../src/inspect/timeline/seen.ts'
import { stepsOf } from '../../src/inspect/timeline/steps.ts'
import type { TimelineStep } from '../../src/inspect/timeline/timeline-types.ts'
import { isOfGraph } from '../../test/twin/random-graphs.ts'
import { type RecordedBatch, replayingTransport } from './recording.ts'

export interface Judgement {
  readonly seed: number
  /** In words; none: the plan was right in each copy. */
  readonly differences: readonly string[]
  /** Objects of which the plan says `either`. */
  readonly either: number
  /** Pairs whose order was compared. */
  readonly pairs: number
  readonly pods: number
  /** Those that took longer or less than planned. */
  readonly podsOutOfTime: number
  /** Whether all that was compared was the same in all copies of the recording. */
  readonly isSteady: boolean
}

/** How much longer or shorter than planned a pod's end may be seen to take: the machine is not the plan's. */
const LOOSE_MS = 3000
/** Objects that went so far apart in every copy did so for a reason, however busy the machine was. */
const APART_MS = 30_000
const FOREGROUND = 'foregroundDeletion'

export async function planOfBatch(batch: RecordedBatch): Promise<Plan> {
  const source = { runtime: liveRuntime(), transport: replayingTransport(batch), userAgent: 'skiff plan' }
  const model = await readModel(source)
  const stages = batch.graphs.map(({ namespace, request }) => deleteStage(model.read, namespace, request))
  return planIn(source, model, {
    what: 'all',
    stages: [
      {
        what: 'all',
        async run(doing) {
          for (const one of stages) await one.run(doing)
        },
      },
    ],
  })
}

export async function judgeBatch(batch: RecordedBatch): Promise<readonly Judgement[]> {
  const plan = await planOfBatch(batch)
  const known = new Set(
    Object.values(batch.answers).flatMap(({ text }) =>
      [...text.matchAll(/"uid":"([0-9a-f-]{36})"/g)].map(([, uid]) => uid),
    ),
  )
  const records = batch.records.filter(({ uid }) => known.has(uid))
  const steps = withCauses(stepsOf(records))
  return [...Map.groupBy(batch.graphs, ({ seed }) => seed)].map(([seed, copies]) => {
    const judged = copies.map(({ namespace }) => {
      const isOwn: IsOwn = (object) => isOfGraph(object, namespace)
      return judgeOne({ name: namespace, isOwn, plan, records, steps })
    })
    return {
      seed,
      differences: [...judged.flatMap(({ differences }) => differences), ...compareApart(judged)],
      either: judged.reduce((sum, { either }) => sum + either, 0),
      pairs: judged.reduce((sum, { pairs }) => sum + pairs, 0),
      pods: judged.reduce((sum, { pods }) => sum + pods, 0),
      podsOutOfTime: judged.reduce((sum, { podsOutOfTime }) => sum + podsOutOfTime, 0),
      isSteady: new Set(judged.map(({ outcome }) => outcome)).size === 1,
    }
  })
}

export interface JudgedOne {
  readonly differences: readonly string[]
  readonly either: number
  readonly pairs: number
  readonly pods: number
  readonly podsOutOfTime: number
  /** What went and what stayed, without names that are made by chance. */
  readonly outcome: string
  /** When an object that has a name of its own went, and its place in the plan. */
  readonly ends: ReadonlyMap<string, End>
}

interface End {
  readonly uid: string
  readonly time: number
  readonly order: number
  readonly isSure: boolean
  /** The uid of what it may go before or after. */
  readonly openTo?: string
}

const nameOf = ({ resource, name }: { readonly resource: string; readonly name: string }) => `${resource}/${name}`

/** Whether an object is of what is judged. */
type IsOwn = (object: Parameters<typeof isOfGraph>[0]) => boolean

export interface ToJudge {
  /** Differences begin with it. */
  readonly name: string
  readonly isOwn: IsOwn
  readonly plan: Plan
  /** Of objects that were there when the plan was made. */
  readonly records: readonly RecordedRecord[]
  /** Of these records. */
  readonly steps: readonly TimelineStep[]
}

/** A plan, or its part that is about some objects, and what came once. */
export function judgeOne({ name, isOwn, plan, records, steps }: ToJudge): JudgedOne {
  const differences: string[] = []
  const differ = (text: string) => void differences.push(`${name}: ${text}`)
  const last = new Map(records.filter(isOwn).map((record) => [record.uid, record]))
  const gone = new Map([...last].filter(([, { after }]) => after === undefined))
  const held = new Map([...last].filter(([, { after }]) => after?.deletionTimestamp !== undefined))
  const goes = plan.goes.filter(({ object }) => isOwn(object))
  const planned = new Map(goes.map((going) => [going.object.uid, going]))
  for (const { object, certainty } of goes)
    if (certainty === 'goes' && !gone.has(object.uid)) differ(`${nameOf(object)} was to go, and did not`)
  for (const [uid, record] of gone) {
    const certainty = planned.get(uid)?.certainty
    if (certainty === undefined || certainty === 'if others act') differ(`${nameOf(record)} went, and was not to`)
  }
  const staying = plan.stays.filter(({ object }) => isOwn(object))
  const stays = new Map(staying.map(({ object }) => [object.uid, object]))
  const mayLiveOn = new Set(staying.filter((one) => one.mayLiveOn === true).map(({ object }) => object.uid))
  const isEither = (uid: string) => planned.get(uid)?.certainty === 'either'
  for (const [uid, object] of stays)
    if (!held.has(uid) && !isEither(uid) && !mayLiveOn.has(uid))
      differ(`${nameOf(object)} was to stay marked, and did not`)
  for (const [uid, record] of held)
    if (!stays.has(uid) && !isEither(uid)) differ(`${nameOf(record)} stays marked, and was not to`)
  const own = steps.filter(({ object }) => isOwn(object))
  compareOrphans(
    plan.orphaned.filter(({ object }) => isOwn(object)),
    own,
    last,
    isEither,
    differ,
  )
  const timed = timedPods(goes, own, gone)
  const pairs = compareOrder(goes, gone, own, differ)
  const outcome = [...last.values()]
    .map(
      (record) => `${record.resource} ${record.after === undefined} ${record.after?.deletionTimestamp !== undefined}`,
    )
    .sort()
  return {
    differences,
    either: goes.filter(({ certainty }) => certainty === 'either').length,
    pairs,
    pods: timed.pods,
    podsOutOfTime: timed.outOfTime,
    outcome: outcome.join('\n'),
    ends: new Map(
      goes.flatMap(({ object: { uid, ...object }, order, certainty, isOrderOpen, cause }) => {
        const record = gone.get(uid)
        const short = nameOf(object).replace(name, '*')
        const openTo = isOrderOpen === true && cause !== undefined ? { openTo: cause } : {}
        const isSure = certainty === 'goes'
        return record === undefined ? [] : [[short, { uid, time: record.time, order, isSure, ...openTo }] as const]
      }),
    ),
  }
}

/** Objects that lost an owner that went, and live on. */
function compareOrphans(
  planned: Plan['orphaned'],
  steps: readonly TimelineStep[],
  last: ReadonlyMap<string, RecordedRecord>,
  isEither: (uid: string) => boolean,
  differ: (text: string) => void,
) {
  const ends = (uid: string) => {
    const record = last.get(uid)
    return record !== undefined && (record.after === undefined || record.after.deletionTimestamp !== undefined)
  }
  const gone = { has: ends }
  const real = new Map(
    steps.flatMap(({ object, changes }) => {
      const isOrphan = changes.some((change) => change.type === 'owner-removed' && ends(change.owner.uid))
      return isOrphan && !ends(object.uid) ? [[object.uid, object] as const] : []
    }),
  )
  const wanted = new Map(planned.map(({ object }) => [object.uid, object]))
  const mayKeep = new Set(planned.filter((one) => one.mayKeepOwners === true).map(({ object }) => object.uid))
  for (const [uid, object] of real)
    if (!wanted.has(uid) && !isEither(uid)) differ(`${nameOf(object)} is orphaned, and was not to be`)
  for (const [uid, object] of wanted)
    if (!real.has(uid) && !gone.has(uid) && !isEither(uid) && !mayKeep.has(uid))
      differ(`${nameOf(object)} was to be orphaned, and was not`)
}

/** How long each pod took from its mark to its end. */
function timedPods(goes: readonly Going[], steps: readonly TimelineStep[], gone: ReadonlyMap<string, RecordedRecord>) {
  const pods = goes.filter(
    ({ object, certainty }) => object.kind === 'Pod' && certainty === 'goes' && gone.has(object.uid),
  )
  const late = pods.filter(({ object, marked, removed }) => {
    const own = steps.filter(({ object: { uid } }) => uid === object.uid)
    const began = own.find(({ changes }) => changes.some(({ type }) => type === 'marked' || type === 'removed'))
    const took = Date.parse(own.at(-1)?.time ?? '') - Date.parse(began?.time ?? '')
    const least = removed.least - (marked?.least ?? removed.least)
    const most = removed.most - (marked?.most ?? removed.most)
    return took < Math.min(least, most) - LOOSE_MS || took > Math.max(least, most) + LOOSE_MS
  })
  return { pods: pods.length, outOfTime: late.length }
}

/**
 * Whether Kubernetes orders the two ends: what goes because an owner is gone goes after it, what a foreground owner waits for goes before
 * it, and what is in a namespace that goes waits for its last pod. The order in which such a namespace is emptied else is chance. So is
 * that of a foreground owner and a dependent that it does not wait for: the garbage collector takes both up when the owner is marked.
 */
function isOrdered(record: RecordedRecord, end: TimelineStep, led: TimelineStep, isEmptied: boolean): boolean {
  if (isEmptied) return end.by.component === 'namespace-controller' && led.object.kind === 'Pod'
  if (led.changes.some(({ type }) => type === 'removed'))
    return !led.changes.some((change) => change.type === 'finalizer-removed' && change.finalizer === FOREGROUND)
  return (
    record.before.ownerReferences?.some(
      ({ uid, blockOwnerDeletion }) => uid === led.object.uid && blockOwnerDeletion === true,
    ) === true
  )
}

/** Every object and that whose step led to the first step of its end, where the two are ordered. */
function compareOrder(
  goes: readonly Going[],
  gone: ReadonlyMap<string, RecordedRecord>,
  steps: readonly TimelineStep[],
  differ: (text: string) => void,
): number {
  const order = new Map(
    goes.filter(({ certainty }) => certainty === 'goes').map(({ object, order }) => [object.uid, order]),
  )
  const open = new Map(goes.filter(({ isOrderOpen }) => isOrderOpen).map(({ object, cause }) => [object.uid, cause]))
  const byId = new Map(steps.map((step) => [step.id, step]))
  const first = new Map<string, TimelineStep>()
  for (const step of steps) {
    const isEnd = step.changes.some(({ type }) => type === 'marked' || type === 'removed')
    if (isEnd && !first.has(step.object.uid)) first.set(step.object.uid, step)
  }
  const isEmptied = steps.some(
    ({ object, changes }) => object.kind === 'Namespace' && changes.some(({ type }) => type === 'marked'),
  )
  let pairs = 0
  for (const [uid, record] of gone) {
    const end = first.get(uid)
    const led = byId.get(end?.cause.step ?? '')
    if (end === undefined || led === undefined || !isOrdered(record, end, led, isEmptied)) continue
    const above = led.object.uid
    const [mine, theirs, there] = [order.get(uid), order.get(above), gone.get(above)]
    if (mine === undefined || theirs === undefined || there === undefined || above === uid) continue
    if (open.get(uid) === above) continue
    pairs++
    if (mine < theirs !== record.revision < there.revision)
      differ(`${nameOf(record)} went ${record.revision < there.revision ? 'before' : 'after'} ${nameOf(there)}`)
  }
  return pairs
}

/** What went far apart in the same order in every copy goes in that order in the plan. One copy alone shows no order. */
function compareApart(copies: readonly JudgedOne[]): readonly string[] {
  const [first, ...others] = copies
  if (first === undefined || others.length === 0) return []
  const differences: string[] = []
  const names = [...first.ends.keys()]
  for (const name of names)
    for (const other of names) {
      const isBefore = copies.every(({ ends }) => {
        const [one, two] = [ends.get(name), ends.get(other)]
        return one !== undefined && two !== undefined && two.time - one.time >= APART_MS
      })
      if (!isBefore) continue
      const isPlanned = [first, ...others].every(({ ends }) => {
        const [one, two] = [ends.get(name), ends.get(other)]
        if (one?.isSure !== true || two?.isSure !== true) return true
        return one.order < two.order || one.openTo === two.uid || two.openTo === one.uid
      })
      if (!isPlanned) differences.push(`${name} went long before ${other}`)
    }
  return differences
}
