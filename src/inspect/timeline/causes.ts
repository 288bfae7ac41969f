/**
 * What led to each step: the write before it without which its writer would not have written. Each component of the control plane has its
 * rules (docs/deletion.md), and a step is looked at by those of its writer. A cause is known where the records of both writes prove it: two
 * writes of one request, a kubelet's last delete of a marked pod, a collector's write about owners and dependents that are all in the
 * journal. All else is inferred: from what the writer is known to wait for, and what came last before it.
 */
import { afterDot, createHistory, type History, isForegroundMark } from './history.ts'
import type { Written } from './steps.ts'
import type { Certainty, StepCause, TimelineStep } from './timeline-types.ts'
import { writerWords } from './writers.ts'

/** `written` in the order of revisions. */
export function withCauses(written: readonly Written[]): TimelineStep[] {
  const find = createCauses()
  return written.map((step) => withCause(step, find(step)))
}

/** Finds the cause of one step after the other, in the order of revisions. */
export function createCauses(): (step: Written) => StepCause {
  const history = createHistory()
  return (step) => {
    const cause = causeOf(step, history)
    history.add(step)
    return cause
  }
}

export function withCause(step: Written, cause: StepCause): TimelineStep {
  const { before, after, at, follows, ...shown } = step
  return { ...shown, cause }
}

/** What a rule finds: the step that led to this one, or that there is none. */
interface Found {
  readonly step: Written | undefined
  readonly certainty: Certainty
  readonly why: string
}

type Rule = (step: Written, history: History) => Found | undefined

function causeOf(step: Written, history: History): StepCause {
  const rules = RULES.get(step.by.component) ?? OF_OTHERS
  for (const rule of [sameRequest, ...rules]) {
    const found = rule(step, history)
    if (found === undefined) continue
    const { step: led, certainty, why } = found
    return led === undefined
      ? { certainty, why }
      : { step: led.id, certainty, why, waitedMs: Math.max(0, Math.round((step.at - led.at) * 1000) / 1000) }
  }
  return { certainty: 'inferred', why: 'what led to it is not in the journal' }
}

const sameRequest: Rule = (step, history) =>
  step.follows
    ? { step: history.last(step.object.uid), certainty: sureOf(step), why: 'both are of one request' }
    : undefined

const takesOff = ({ changes }: Written, finalizer: string) =>
  changes.some((change) => change.type === 'finalizer-removed' && change.finalizer === finalizer)

const isDelete = ({ request: { verb } }: Written) => verb === 'delete' || verb === 'deletecollection'

const latest = (steps: readonly (Written | undefined)[]): Written | undefined =>
  steps.reduce(
    (newest, step) => (step !== undefined && (newest?.revision ?? 0) <= step.revision ? step : newest),
    undefined,
  )

/** A pod's end: the node has ended its containers. */
const endsMarkedPod: Rule = (step, history) => {
  const { resource, group, uid } = step.object
  const mark = history.mark(uid)
  if (group !== '' || resource !== 'pods' || !isDelete(step) || step.before.deletionTimestamp === undefined)
    return undefined
  if (mark === undefined)
    return { step: undefined, certainty: 'inferred', why: 'the mark of the pod is older than the journal' }
  const isKubelet = step.by.component === 'kubelet' && step.by.certainty === 'known'
  return {
    step: mark,
    certainty: isKubelet ? 'known' : 'inferred',
    why: 'the pod was marked, and its containers have ended',
  }
}

/** The last of what foregroundDeletion waits for. */
const endsForeground: Rule = (step, history) => {
  if (!takesOff(step, 'foregroundDeletion')) return undefined
  const mark = history.foregroundMark(step.object.uid)
  const release = history.release(step.object.uid)
  if (release !== undefined && (mark === undefined || release.revision > mark.revision))
    return { step: release, certainty: sureOf(step), why: 'the last dependent that held it back no longer does' }
  if (mark !== undefined) return { step: mark, certainty: sureOf(step), why: 'no dependent holds it back' }
  return { step: undefined, certainty: 'inferred', why: 'its mark is older than the journal' }
}

const endsOrphaning: Rule = (step, history) => {
  if (!takesOff(step, 'orphan')) return undefined
  const mark = history.mark(step.object.uid)
  const orphaned = history.lostReference(step.object.uid)
  if (orphaned !== undefined && (mark === undefined || orphaned.revision > mark.revision))
    return { step: orphaned, certainty: sureOf(step), why: 'the last dependent has lost its reference' }
  if (mark === undefined) return { step: undefined, certainty: 'inferred', why: 'its mark is older than the journal' }
  return { step: mark, certainty: sureOf(step), why: 'it has no dependents' }
}

/** The collector's own rules are certain where the journal names the writer. */
const sureOf = ({ by }: Written): Certainty => by.certainty

/** An owner that goes, or is gone, and what of the dependent's own references made it depend on that alone. */
const followsOwners: Rule = (step, history) => {
  if (!isDelete(step)) return undefined
  const owners = step.before.ownerReferences ?? []
  if (owners.length === 0) return undefined
  const ends = owners.map(({ uid }) => history.ownerEnd(uid))
  const led = latest([...ends, history.ownersChanged(step.object.uid)])
  if (led === undefined)
    return {
      step: undefined,
      certainty: 'inferred',
      why: 'its owners are not in the journal: they were gone before it, or never there',
    }
  const isWhole = ends.every((end) => end !== undefined)
  // It may have been looked at after the mark or only after the removal.
  const isClear = owners.every(({ uid }) => !history.wentAfterForegroundMark(uid))
  const certainty = isWhole && isClear ? sureOf(step) : 'inferred'
  return { step: led, certainty, why: ownerWords(step, led) }
}

function ownerWords(step: Written, led: Written): string {
  if (led.object.uid === step.object.uid) return 'its owner references were changed, and no owner is left'
  const which = (step.before.ownerReferences ?? []).length === 1 ? 'its owner' : 'the last of its owners'
  return isForegroundMark(led) ? `${which} is deleted in the foreground` : `${which} is gone`
}

/** References that are taken off, or let go of the owner. */
const losesReferences: Rule = (step, history) => {
  const removed = step.changes.flatMap((change) => (change.type === 'owner-removed' ? [change.owner] : []))
  if (removed.length > 0) {
    const ends = removed.map(({ uid }) => history.ownerEnd(uid))
    const led = latest(ends)
    if (led === undefined)
      return { step: undefined, certainty: 'inferred', why: 'the owner that it loses is not in the journal' }
    const why = led.after?.finalizers?.includes('orphan')
      ? 'its owner is deleted and leaves its dependents behind'
      : 'that owner goes, another stays'
    return { step: led, certainty: sureOf(step), why }
  }
  const unblocked = step.changes.flatMap((change) => (change.type === 'owner-changed' ? [change.owner] : []))
  if (unblocked.length === 0) return undefined
  const led = latest(unblocked.map(({ uid }) => history.ownerEnd(uid)))
  return { step: led, certainty: 'inferred', why: 'owner and dependent wait for each other: it no longer blocks' }
}

/** A namespace's content, pods first. */
const emptiesNamespace: Rule = (step, history) => {
  const { namespace, resource, group } = step.object
  if (!isDelete(step) || namespace === '') return undefined
  const mark = history.namespaceMark(namespace)
  if (mark === undefined)
    return { step: undefined, certainty: 'inferred', why: 'the mark of its namespace is older than the journal' }
  const pod = group === '' && resource === 'pods' ? undefined : history.lastRemoval(namespace, '/pods')
  if (pod !== undefined && pod.revision > mark.revision)
    return { step: pod, certainty: 'inferred', why: 'the namespace goes, and its last pod is gone' }
  return { step: mark, certainty: sureOf(step), why: 'its namespace is deleted' }
}

const endsNamespace: Rule = (step, history) => {
  const { group, resource, name } = step.object
  if (group !== '' || resource !== 'namespaces' || !takesOff(step, 'kubernetes')) return undefined
  const mark = history.namespaceMark(name)
  const content = history.lastRemoval(name)
  const unasked = history.lastAPIService()
  // As long as an aggregated API does not answer, what else there is in it is not known.
  if (unasked !== undefined && unasked.revision > Math.max(mark?.revision ?? 0, content?.revision ?? 0))
    return {
      step: unasked,
      certainty: 'inferred',
      why: 'nothing is left in the namespace, and an API that was to be asked is gone',
    }
  const isAfter = content !== undefined && (mark === undefined || content.revision > mark.revision)
  if (isAfter) return { step: content, certainty: 'inferred', why: 'nothing is left in the namespace' }
  return { step: mark, certainty: 'inferred', why: 'the namespace has no content that the journal tells of' }
}

/** A definition goes when its last instance has. */
const endsDefinition: Rule = (step, history) => {
  if (!takesOff(step, 'customresourcecleanup.apiextensions.k8s.io')) return undefined
  const dot = step.object.name.indexOf('.')
  const kind = `${step.object.name.slice(dot + 1)}/${step.object.name.slice(0, dot)}`
  const mark = history.mark(step.object.uid)
  const instance = history.lastOfKind(kind)
  if (instance !== undefined && (mark === undefined || instance.revision > mark.revision))
    return { step: instance, certainty: 'inferred', why: 'the last object of this kind is gone' }
  return { step: mark, certainty: 'inferred', why: 'there is no object of this kind' }
}

const deletesInstances: Rule = (step, history) => {
  if (!isDelete(step)) return undefined
  const { group, resource } = step.object
  const mark = history.definitionMark(`${resource}.${group}`)
  return mark && { step: mark, certainty: sureOf(step), why: 'the definition of its kind is deleted' }
}

/**
 * The pod that went since and that a claim is of: its owner, as of a claim of an ephemeral volume, or the pod of a StatefulSet, with whose
 * name and number the claim's ends. The start of a name tells nothing: `web-data` may be of any pod.
 */
function podOfClaim({ object: { namespace, name }, before }: Written, mark: Written, history: History) {
  const isSince = (step: Written | undefined) =>
    step !== undefined && step.after === undefined && step.revision > mark.revision
  const owners = (before.ownerReferences ?? []).filter(({ kind }) => kind === 'Pod').map(({ uid }) => history.last(uid))
  const parts = name.split('-')
  const ends = /-\d+$/.test(name) ? parts.slice(1, -1).map((_, at) => parts.slice(at + 1).join('-')) : []
  const ofSets = ends.map((pod) => history.removalOf(`/pods/${namespace}/${pod}`))
  return latest(owners.filter(isSince)) ?? ofSets.find(isSince)
}

/** What a protection controller waits for. */
const endsUse =
  (finalizer: string, user: string): Rule =>
  (step, history) => {
    if (!takesOff(step, finalizer)) return undefined
    const mark = history.mark(step.object.uid)
    if (mark === undefined) return undefined
    const used =
      user === '/pods'
        ? (podOfClaim(step, mark, history) ?? history.lastRemoval(step.object.namespace, user))
        : history.lastRemoval(undefined, user)
    const isAfter = used !== undefined && used.revision > mark.revision
    return {
      step: isAfter ? used : mark,
      certainty: 'inferred',
      why: isAfter ? `what used it is gone` : 'it was marked, and nothing uses it',
    }
  }

/** Of the same name and namespace: a Service and its Endpoints. */
const followsNamesake: Rule = (step, history) => {
  if (!isDelete(step)) return undefined
  const { namespace, name } = step.object
  const service = history.removalOf(`/services/${namespace}/${name}`)
  return service && { step: service, certainty: 'inferred', why: 'the Service of its name is gone' }
}

/** What the API server makes for others itself. */
const followsDefinition: Rule = (step, history) => {
  if (!isDelete(step) || step.object.resource !== 'apiservices') return undefined
  const definition = history.lastDefinitionOf(afterDot(step.object.name))
  return definition && { step: definition, certainty: 'inferred', why: 'a definition of its group is gone' }
}

const followsAnyService: Rule = (step, history) => {
  if (!isDelete(step) || step.object.resource !== 'ipaddresses') return undefined
  const service = history.lastOfKind('/services')
  return service && { step: service, certainty: 'inferred', why: 'the Service that had it is gone' }
}

/** A volume that was made for a claim has its uid in its name. */
const followsClaim: Rule = (step, history) => {
  const { group, resource, name } = step.object
  if (!isDelete(step) || group !== '' || resource !== 'persistentvolumes' || !name.startsWith('pvc-')) return undefined
  const claim = history.ownerEnd(name.slice('pvc-'.length))
  return claim && { step: claim, certainty: 'inferred', why: 'the claim that it was made for is gone' }
}

/** What a controller decides by, where no journal tells of that. */
const DECISIONS: ReadonlyMap<string, string> = new Map([
  ['ttl-after-finished-controller', 'its time to live after its end is over'],
  ['cronjob-controller', 'its CronJob keeps no more of those that have ended, or replaces it'],
  ['job-controller', 'its Job has no use for it: it has ended too often, or is suspended or out of time'],
  ['replicaset-controller', 'there are more pods than are wanted'],
  ['replication-controller', 'there are more pods than are wanted'],
  ['statefulset-controller', 'there are more pods than are wanted, or it is to be made anew'],
  ['daemon-set-controller', 'it has failed, is to be made anew, or is not wanted on its node'],
  ['deployment-controller', 'its Deployment keeps no more revisions'],
  ['node-controller', 'its node has a taint that it does not tolerate'],
  ['taint-eviction-controller', 'its node has a taint that it does not tolerate'],
  ['kube-scheduler', 'others of a higher priority need its place'],
  ['pod-garbage-collector', 'its node is gone or out of service, or too many pods have ended'],
])

const decides: Rule = (step) => {
  const why = isDelete(step) ? DECISIONS.get(step.by.component) : undefined
  if (why !== undefined) return { step: undefined, certainty: 'inferred', why }
  return step.by.component === 'job-controller' && takesOff(step, 'batch.kubernetes.io/job-tracking')
    ? { step: undefined, certainty: 'inferred', why: 'it has ended, and its Job has counted it' }
    : undefined
}

/** A write that takes a finalizer off a marked object, or a second delete, acts on the mark. */
const actsOnMark: Rule = (step, history) => {
  if (step.before.deletionTimestamp === undefined) return undefined
  const mark = history.mark(step.object.uid)
  return mark && { step: mark, certainty: 'inferred', why: 'the object was marked' }
}

const followsOwnersLoosely: Rule = (step, history) => {
  if (!step.before.ownerReferences?.some(({ uid }) => history.ownerEnd(uid) !== undefined)) return undefined
  const found = followsOwners(step, history)
  return found?.step === undefined ? undefined : { ...found, certainty: 'inferred' }
}

const asks: Rule = (step) => ({
  step: undefined,
  certainty: 'known',
  why: `${writerWords(step.by)} asked for ${step.request.subresource === 'eviction' ? 'its eviction' : 'it'}`,
})

/** People decide by themselves; an operator that takes its finalizer off does so because of the mark. */
const operatorActsOnMark: Rule = (step, history) => {
  const isFinalizer = step.changes.some(({ type }) => type === 'finalizer-removed') && !isDelete(step)
  const isByHand = /^kubectl/.test(step.by.userAgent) || /^kubectl/.test(step.by.fieldManager ?? '')
  return isFinalizer && !isByHand && !/system:masters|kubernetes-admin/.test(step.by.user)
    ? actsOnMark(step, history)
    : undefined
}

/** A provisioner is a program with an account; people delete what they like. */
const followsClaimAlone: Rule = (step, history) =>
  step.by.user.startsWith('system:serviceaccount:') && step.before.deletionTimestamp === undefined
    ? followsClaim(step, history)
    : undefined

/** An unknown writer that leaves a pod less time, though some: no node does that. */
const asksForLess: Rule = ({ by, changes }) =>
  by.component === '' && changes.some((one) => one.type === 'grace-shortened' && one.gracePeriodSeconds !== 0)
    ? { step: undefined, certainty: 'inferred', why: 'another delete asked for a shorter grace period' }
    : undefined

const RULES: ReadonlyMap<string, readonly Rule[]> = new Map([
  ['generic-garbage-collector', [endsForeground, endsOrphaning, losesReferences, followsOwners, actsOnMark]],
  ['kubelet', [endsMarkedPod, actsOnMark]],
  ['kwok', [endsMarkedPod, actsOnMark]],
  ['pod-garbage-collector', [endsMarkedPod, actsOnMark, decides]],
  ['namespace-controller', [endsNamespace, emptiesNamespace, actsOnMark]],
  ['kube-apiserver', [endsDefinition, deletesInstances, followsDefinition, followsAnyService, actsOnMark]],
  ['pvc-protection-controller', [endsUse('kubernetes.io/pvc-protection', '/pods'), actsOnMark]],
  ['pv-protection-controller', [endsUse('kubernetes.io/pv-protection', '/persistentvolumeclaims'), actsOnMark]],
  [
    'volumeattributesclass-protection-controller',
    [endsUse('kubernetes.io/vac-protection', '/persistentvolumeclaims'), actsOnMark],
  ],
  ['endpoint-controller', [followsNamesake, followsOwnersLoosely, actsOnMark]],
  ['endpointslice-controller', [followsOwnersLoosely, actsOnMark]],
  ['endpointslicemirroring-controller', [followsOwnersLoosely, actsOnMark]],
  ['user', [followsClaimAlone, operatorActsOnMark, asks]],
])

const OF_OTHERS: readonly Rule[] = [
  asksForLess,
  endsMarkedPod,
  endsForeground,
  endsOrphaning,
  actsOnMark,
  followsOwnersLoosely,
  followsClaim,
  decides,
]
