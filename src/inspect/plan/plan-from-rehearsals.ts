/** A plan out of rehearsals: one with programs that end when they are asked to, and one with programs that do not. */
import type { Node, PersistentVolume, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
import type { StoredEntry } from '../../cluster/twin.ts'
import type { TimelineStep } from '../timeline/timeline-types.ts'
import { writerWords } from '../timeline/writers.ts'
import { isAskedOnDelete, outsideOf } from '../twin/outside.ts'
import { endingBeyond } from '../twin/partly-read.ts'
import type { ReadCluster, TwinSource } from '../twin/read-cluster.ts'
import { listedItems, type NodeNature, natureOf, ownersIn, type TwinModel } from '../twin/twin.ts'
import { objectWords } from '../why/words.ts'
import type { Deed } from './deed.ts'
import { turnsBetween, withDeedTurns } from './deed-turns.ts'
import { furtherOrders, openIn, ordersFor } from './further-orders.ts'
import { withKwokTurns } from './kwok-turns.ts'
import { keptPerhaps, openPolicies, type Rehearsed, sparedPerhaps, withOpenPolicies } from './open-policies.ts'
import type { Going, Orphaned, OutsideEffect, Plan, PlannedObject, PlanStage, Staying, TimeSpan } from './plan.ts'
import { racesIn } from './races.ts'
import { type GoingOn, type Held, type Rehearsal, rehearse } from './rehearse.ts'
import { rightsOf } from './rights.ts'

/** `orders`: how many further orders of controllers are rehearsed. */
export async function planOf(source: TwinSource, model: TwinModel, deed: Deed, orders?: number): Promise<Plan> {
  const { read } = model
  const quick = await rehearse(source, model, deed, 'obeys')
  const slow = dependsOnPrograms(read) ? await rehearse(source, model, deed, 'ignores') : quick
  const rights = await rightsOf(source, slow.asked)
  const names = namesOf(read)
  const known = new Set(read.resources.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid ?? '')))
  const rehearsed = { steps: quick.steps, owners: ownersIn(read) }
  const others = await furtherOrders(source, model, deed, 'obeys', orders ?? ordersFor(quick), racesIn(rehearsed))
  const otherwise = others.map((other) => removalsOf(other, known))
  const removals = goingOf(quick, slow, known, otherwise, rights.caller)
  const open = openPolicies(rehearsed)
  const goes = withKwokTurns(withOpenPolicies(openIn(removals, otherwise), open), kwokPods(read))
  const stays = stayingOf(slow, goes, sparedPerhaps(open, goes))
  return {
    apiVersion: 'plan.skiff.dev/v1',
    kind: 'Plan',
    deed: deed.what,
    at: formatTime(read.time),
    goes,
    stays,
    beyond: endingBeyond(
      read,
      [...goes, ...stays].map(({ object }) => object),
    ),
    orphaned: orphanedOf(quick, names, goes, keptPerhaps(rehearsed, goes)),
    appears: appearingOf(slow, names, rehearsed.owners),
    refused: slow.refused,
    forbidden: rights.forbidden,
    ...(await orderThatEnds(source, model, deed, quick)),
    stages: quick.stages.map((stage, at) => stageOf(stage, slow.stages[at] ?? stage)),
    outside: outsideEffects(read, goes, slow.held),
    unread: [...read.unread, ...rights.unread],
    assumed: assumptions(read, [quick, slow], others.length),
  }
}

/**
 * Of a deed whose stages wait for ever: the order of them in which each ends, if what is held comes first. Nothing where that does not end either.
 */
async function orderThatEnds(
  source: TwinSource,
  model: TwinModel,
  deed: Deed,
  { stages }: Rehearsal,
): Promise<Pick<Plan, 'endsInOrder'>> {
  const isHeld = (at: number) => (stages[at]?.held.length ?? 0) > 0
  const heldFirst = [...deed.stages.keys()].toSorted((a, b) => Number(isHeld(b)) - Number(isHeld(a)) || a - b)
  const [first, ...rest] = heldFirst.flatMap((at) => deed.stages[at] ?? [])
  if (first === undefined || heldFirst.every((at, place) => at === place)) return {}
  const other = await rehearse(source, model, { ...deed, stages: [first, ...rest] }, 'obeys')
  if (other.stages.some(({ endedMs }) => endedMs === undefined)) return {}
  return { endsInOrder: [first, ...rest].map(({ what }) => what) }
}

/** Whether a pod runs of which nothing tells how long it takes to end. */
const dependsOnPrograms = (read: ReadCluster): boolean => podsOn(read, 'real').length > 0

function kwokPods(read: ReadCluster): (uid: string) => boolean {
  const uids = new Set(podsOn(read, 'kwok').map(({ metadata }) => metadata.uid))
  return (uid) => uids.has(uid)
}

function podsOn(read: ReadCluster, nature: NodeNature): readonly Pod[] {
  const natures = new Map(listedItems<Node>(read, '', 'nodes').map((node) => [node.metadata.name, natureOf(node)]))
  // Pods are what there is most of: they are parsed only where there are such nodes.
  if (!natures.values().some((one) => one === nature)) return []
  return listedItems<Pod>(read, '', 'pods').filter(({ spec }) => natures.get(spec?.nodeName) === nature)
}

interface Removal {
  readonly object: PlannedObject
  readonly markedMs: number | undefined
  readonly removedMs: number
  readonly place: number
  readonly first: TimelineStep
  readonly isLate: boolean
}

/** Controllers that delete by their own time, whatever is done: not by the deed. */
const BY_THEMSELVES = new Set(['ttl-after-finished-controller', 'cronjob-controller'])

/** `known`: uids of the source's objects. */
function removalsOf({ steps, msOf, restedAt }: Rehearsal, known: ReadonlySet<string>): ReadonlyMap<string, Removal> {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const first = new Map<string, TimelineStep>()
  const removals = new Map<string, Removal>()
  for (const [place, step] of steps.entries()) {
    const { uid } = step.object
    const isMark = step.changes.some(({ type }) => type === 'marked')
    const isRemoval = step.changes.some(({ type }) => type === 'removed')
    if ((isMark || isRemoval) && !first.has(uid)) first.set(uid, step)
    if (!isRemoval || !known.has(uid)) continue
    const mark = first.get(uid) as TimelineStep
    if (BY_THEMSELVES.has(rootOf(mark, byId).by.component)) continue
    removals.set(uid, {
      object: objectOf(step),
      markedMs: mark === step ? undefined : msOf(mark),
      removedMs: msOf(step),
      place,
      first: mark,
      isLate: step.revision > restedAt,
    })
  }
  return removals
}

function rootOf(step: TimelineStep, byId: ReadonlyMap<string, TimelineStep>): TimelineStep {
  let at = step
  for (let deep = 0; deep < 1000; deep++) {
    const above = at.cause.step === undefined ? undefined : byId.get(at.cause.step)
    if (above === undefined) return at
    at = above
  }
  return at
}

const objectOf = ({ object }: TimelineStep): PlannedObject => plannedOf(object)

/** `others`: what goes in one of these alone goes perhaps. */
function goingOf(
  quick: Rehearsal,
  slow: Rehearsal,
  known: ReadonlySet<string>,
  others: readonly ReadonlyMap<string, Removal>[],
  caller: string,
): readonly Going[] {
  const [fast, late] = [removalsOf(quick, known), quick === slow ? undefined : removalsOf(slow, known)]
  const byId = new Map(quick.steps.map((step) => [step.id, step]))
  const slowById = new Map(slow.steps.map((step) => [step.id, step]))
  const extra = new Map(others.flatMap((other) => [...other]))
  const uids = new Set([...fast.keys(), ...(late?.keys() ?? []), ...extra.keys()])
  const all = [...uids].map((uid) => {
    const [one, other] = [fast.get(uid), late === undefined ? fast.get(uid) : late.get(uid)]
    const shown = (one ?? other ?? extra.get(uid)) as Removal
    const cause = (one === undefined ? slowById : byId).get(shown.first.cause.step ?? '')?.object.uid
    const isEither = one === undefined || other === undefined || one.isLate !== other.isLate
    return {
      place: shown.place,
      removedMs: shown.removedMs,
      turns: others.flatMap((order) => turnsBetween(shown, order.get(uid))),
      going: {
        object: shown.object,
        order: 0,
        marked: spanOf(one?.markedMs ?? other?.markedMs, other?.markedMs ?? one?.markedMs),
        removed: spanOf(one?.removedMs ?? shown.removedMs, other?.removedMs ?? shown.removedMs) as TimeSpan,
        ...askedBy(shown, caller),
        ...(cause === undefined || cause === uid ? {} : { cause }),
        certainty: isEither ? 'either' : one.isLate ? 'if others act' : 'goes',
      } satisfies Going,
    }
  })
  const goes = all
    .toSorted((a, b) => a.removedMs - b.removedMs || a.place - b.place)
    .map(({ going }, order) => ({ ...going, order }))
  return withDeedTurns(goes, new Map(all.map(({ going, turns }) => [going.object.uid, turns])))
}

/** In a twin the deed is done by its administrator, and so are finalizers taken off in place of other controllers. */
function askedBy({ first: { by, cause }, isLate }: Removal, caller: string): Pick<Going, 'by' | 'why'> {
  if (by.component !== 'user') return { by: by.component, why: `${writerWords(by)}: ${cause.why}` }
  return isLate
    ? { by: 'others', why: 'its controller takes its finalizer off' }
    : { by: 'user', why: `${caller === '' ? 'the caller' : caller} asks for it` }
}

function spanOf(a: number | undefined, b: number | undefined): TimeSpan | undefined {
  return a === undefined || b === undefined ? undefined : { least: Math.min(a, b), most: Math.max(a, b) }
}

function stayingOf({ held }: Rehearsal, goes: readonly Going[], spared: ReadonlySet<string>): readonly Staying[] {
  const late = new Set(goes.filter(({ certainty }) => certainty === 'if others act').map(({ object }) => object.uid))
  return held.map(({ uid, record, object, explanation }) => ({
    object: plannedOf(record),
    finalizers: [...specFinalizers(object), ...(object.metadata.finalizers ?? [])],
    verdict: explanation.verdict,
    why: explanation.sentence,
    responsible: explanation.responsible,
    goesIfOthersAct: late.has(uid),
    ...(spared.has(uid) ? { mayLiveOn: true } : {}),
  }))
}

const specFinalizers = (object: KubeObject): readonly string[] =>
  object.kind === 'Namespace' ? ((object as Namespaced).spec?.finalizers ?? []) : []
interface Namespaced extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
}

const plannedOf = ({ group, resource, kind, namespace, name, uid }: PlannedObject): PlannedObject => ({
  group,
  resource,
  kind,
  namespace,
  name,
  uid,
})

/** Names of resources by where they are stored. */
type Names = (key: string) => { readonly group: string; readonly resource: string; readonly kind: string } | undefined

function namesOf({ resources }: ReadCluster): Names {
  const byPrefix = new Map(
    resources.map(({ storagePrefix, resource }) => [
      storagePrefix,
      { group: resource.group, resource: resource.resource, kind: resource.kind },
    ]),
  )
  return (key) => {
    const parts = key.split('/').slice(2)
    return byPrefix.get(parts.slice(0, 2).join('/')) ?? byPrefix.get(parts[0] ?? '')
  }
}

/** Of what was written since: how it was, and how it is. */
function changedIn(before: readonly StoredEntry[], after: readonly StoredEntry[]) {
  const old = new Map(before.map((entry) => [entry.key, entry]))
  return after
    .filter(({ key, revision }) => old.get(key)?.revision !== revision)
    .map((now) => ({ was: old.get(now.key), now }))
}

function orphanedOf(
  { before, rest, held }: Rehearsal,
  names: Names,
  goes: readonly Going[],
  kept: ReadonlySet<string>,
): readonly Orphaned[] {
  const orphaned: Orphaned[] = []
  const marked = new Set(held.map(({ uid }) => uid))
  const certainties = new Map(goes.map(({ object, certainty }) => [object.uid, certainty]))
  const isEnding = (uid: string) => marked.has(uid) || ['goes', 'either'].includes(certainties.get(uid) ?? '')
  for (const { was, now } of changedIn(before, rest)) {
    const [old, object] = [was?.object(), now.object()]
    if (old === undefined || old.metadata.uid !== object.metadata.uid || marked.has(object.metadata.uid ?? '')) continue
    const left = new Set(object.metadata.ownerReferences?.map(({ uid }) => uid))
    const lost = (old.metadata.ownerReferences ?? []).filter(({ uid }) => !left.has(uid) && isEnding(uid))
    const made = plannedFrom(names, now.key, object)
    if (lost.length > 0 && made !== undefined)
      orphaned.push({
        object: made,
        owners: lost.map(({ kind, name }) => `${kind}/${name}`),
        goesIfOthersAct: certainties.get(made.uid) === 'if others act',
        ...(kept.has(made.uid) ? { mayKeepOwners: true } : {}),
      })
  }
  return orphaned
}

function plannedFrom(names: Names, key: string, { metadata }: KubeObject): PlannedObject | undefined {
  const named = names(key)
  if (named === undefined) return undefined
  return { ...named, namespace: metadata.namespace ?? '', name: metadata.name ?? '', uid: metadata.uid ?? '' }
}

/** They are made and go without anything being deleted. */
const PASSING = new Set(['leases', 'events', 'endpoints', 'endpointslices'])

/**
 * What is new by its uid: a pod of a StatefulSet comes back under the name of the one that went. Not what controllers make by their own time,
 * and what comes of that: of a Job that the deed does not touch only as many pods as it lost by the deed.
 */
function appearingOf(
  { before, rest, steps, isTouched }: Rehearsal,
  names: Names,
  owners: Rehearsed['owners'],
): readonly PlannedObject[] {
  const old = new Map(before.map((entry) => [entry.key, entry]))
  const made = rest
    .filter((entry) => {
      const was = old.get(entry.key)
      return (
        was === undefined ||
        (was.revision !== entry.revision && was.object().metadata.uid !== entry.object().metadata.uid)
      )
    })
    .flatMap((entry) => {
      const object = entry.object()
      const planned = plannedFrom(names, entry.key, object)
      return planned === undefined || PASSING.has(planned.resource) ? [] : [{ planned, metadata: object.metadata }]
    })
  const fresh = new Set(made.map(({ planned }) => planned.uid))
  const lost = new Map<string, number>()
  for (const { object, changes } of steps)
    if (changes.some(({ type }) => type === 'removed'))
      for (const { uid } of owners.get(object.uid) ?? []) lost.set(uid, (lost.get(uid) ?? 0) + 1)
  const byTime = new Set<string>()
  const isByTime = ({ metadata }: (typeof made)[number]) =>
    metadata.ownerReferences?.some(({ kind, uid }) => kind === 'CronJob' || byTime.has(uid)) === true
  // Jobs before their pods.
  for (let before = -1; before < byTime.size; ) {
    before = byTime.size
    for (const one of made) if (isByTime(one)) byTime.add(one.planned.uid)
  }
  return made.flatMap(({ planned, metadata }) => {
    if (byTime.has(planned.uid)) return []
    const job = metadata.ownerReferences?.find(({ kind }) => kind === 'Job')?.uid
    if (job === undefined || fresh.has(job) || isTouched(job)) return [planned]
    const left = lost.get(job) ?? 0
    lost.set(job, left - 1)
    return left > 0 ? [planned] : []
  })
}

function stageOf(quick: Rehearsal['stages'][number], slow: Rehearsal['stages'][number]): PlanStage {
  const open = slow.refused.filter(({ isMissing = false }) => !isMissing)
  return {
    what: quick.what,
    ended: open.length > 0 ? undefined : spanOf(quick.endedMs, slow.endedMs),
    refused: open.filter(({ isUnread = false }) => !isUnread),
    heldBy: slow.held.map(({ explanation }) => `${objectWords(explanation.object)}: ${explanation.sentence}`),
  }
}

function outsideEffects(read: ReadCluster, goes: readonly Going[], held: readonly Held[]): readonly OutsideEffect[] {
  return [...webhookEffects(read, goes), ...finalizerEffects(held), ...driverEffects(read, goes)]
}

function webhookEffects(read: ReadCluster, goes: readonly Going[]): readonly OutsideEffect[] {
  const kinds = new Map(goes.map(({ object }) => [`${object.group}/${object.resource}`, object]))
  const spaces = goes.some(({ object }) => object.group === '' && object.resource === 'namespaces')
  return outsideOf(read).flatMap((server): readonly OutsideEffect[] => {
    const effect = { kind: server.kind, name: server.name || server.object, controller: server.server }
    if (server.kind === 'aggregated API')
      return spaces
        ? [
            {
              ...effect,
              ifItActs: 'what it holds in the namespace is deleted too, in an order of its own',
              ifNot: 'no namespace ends before it answers',
            },
          ]
        : []
    if (server.kind === 'conversion webhook') {
      const [plural = ''] = server.object.split('.')
      const isAsked = goes.some(({ object }) => `${object.resource}.${object.group}` === server.object) || spaces
      return isAsked
        ? [
            {
              ...effect,
              ifItActs: 'as planned',
              ifNot: `${plural} cannot be read: none goes, and what waits for them stays`,
            },
          ]
        : []
    }
    const asked = [...kinds.values()].filter(({ group, resource }) => isAskedOnDelete(server, group, resource))
    return asked.length === 0
      ? []
      : [
          {
            ...effect,
            ifItActs: `as planned where it allows; what it refuses of ${asked.map(({ resource }) => resource).join(', ')} stays`,
            ifNot: server.mustAnswer
              ? `every delete of ${asked.map(({ resource }) => resource).join(', ')} is refused`
              : 'as planned: its failures are ignored',
          },
        ]
  })
}

function finalizerEffects(held: readonly Held[]): readonly OutsideEffect[] {
  const byName = Map.groupBy(
    held.flatMap((one) => one.foreign.map((finalizer) => ({ finalizer, one }))),
    ({ finalizer }) => finalizer,
  )
  return [...byName].map(([finalizer, all]) => {
    const objects = all.map(({ one }) => objectWords(one.explanation.object))
    const first = all[0]?.one.explanation
    const some =
      objects.length > 3 ? `${objects.slice(0, 3).join(', ')} and ${objects.length - 3} more` : objects.join(', ')
    return {
      kind: 'finalizer' as const,
      name: finalizer,
      controller: first?.responsible || first?.sentence || '',
      ifItActs: `${some} ${objects.length === 1 ? 'goes' : 'go'}, and what waits for ${objects.length === 1 ? 'it' : 'them'}`,
      ifNot: `${some} ${objects.length === 1 ? 'stays' : 'stay'}: ${first?.sentence ?? ''}`,
    }
  })
}

/** Volumes whose claims go, and whose disks are their drivers'. */
function driverEffects(read: ReadCluster, goes: readonly Going[]): readonly OutsideEffect[] {
  const claims = new Set(
    goes.filter(({ object }) => object.resource === 'persistentvolumeclaims').map(({ object }) => object.uid),
  )
  return listedItems<PersistentVolume>(read, '', 'persistentvolumes')
    .filter(({ spec }) => spec?.persistentVolumeReclaimPolicy === 'Delete' && claims.has(spec.claimRef?.uid ?? ''))
    .map(({ metadata, spec }) => ({
      kind: 'driver' as const,
      name: spec?.csi?.driver ?? metadata.annotations?.['pv.kubernetes.io/provisioned-by'] ?? 'the volume plugin',
      controller: 'its provisioner',
      ifItActs: `deletes persistentvolumes/${metadata.name}, and the disk with its data`,
      ifNot: `persistentvolumes/${metadata.name} stays Released, and so does the disk`,
    }))
}

const goingOnWords = ({ what, sinceMs, untilMs }: GoingOn): string =>
  `${what} did not come to rest from ${Math.round(sinceMs / 1000)} s to ${Math.round(untilMs / 1000)} s after the deed began, and were followed no further`

function assumptions(read: ReadCluster, rehearsals: readonly Rehearsal[], orders: number): readonly string[] {
  const natures = new Set(listedItems<Node>(read, '', 'nodes').map(natureOf))
  const goingOn = new Map(rehearsals.flatMap(({ goesOn }) => goesOn.map((one) => [one.what, one] as const)))
  return [
    'controllers ask the API server as often as the defaults of kube-controller-manager v1.37 let them',
    ...(orders === 0 && rehearsals.some((one) => ordersFor(one) === 0 && one.steps.length > 1)
      ? ['controllers come in one order: others were not tried']
      : []),
    ...(natures.has('kwok')
      ? ['nodes of KWOK end pods as its default stages do: at once, or within a second each, four at a time']
      : []),
    ...(natures.has('real')
      ? ['programs end between SIGTERM and the end of their grace periods; sleep hooks take what they say']
      : []),
    ...(rehearsals.some(({ isCut }) => isCut)
      ? ['so much goes that not every step of it was kept: the order is not whole']
      : []),
    ...[...goingOn.values()].map(goingOnWords),
  ]
}
