/**
 * What makes a story worth telling, counted: over the seeds of CI each of these must come to pass, or the laws about it hold for
 * want of trying.
 */
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { add, type Happenings } from '../explore.ts'
import { isMarked, type Law, type LawParts } from './laws/laws.ts'
import { USER_FINALIZER } from './laws/objects.ts'

/** At least so often in each thousand stories: about a third of what CI's seeds give. */
export const happenings = {
  'a budget refuses an eviction': 6,
  'a budget is spent': 9,
  'a budget is exhausted': 30,
  'a fault: answer lost': 250,
  'a fault: late': 140,
  'a fault: request lost': 800,
  'a fault: 409': 90,
  'a fault: 410': 200,
  'a fault: 429': 800,
  'a fault: 500': 800,
  'a name exists already': 300,
  'a write conflicts': 800,
  'a precondition does not hold': 200,
  'a quota refuses': 140,
  'a watch is too old': 1500,
  'a new name is refused in a namespace that goes': 300,
  'a node becomes Unknown': 15,
  'a node comes back': 15,
  'owners form a cycle': 250,
  'an owner is orphaned': 170,
  'an owner waits for its dependents': 150,
  'a namespace waits for finalizers': 8,
  'a pod is preempted': 40,
  'a job completes': 60,
  'a job fails': 30,
  'a rollout is under way': 20,
  'a rollout surges': 16,
  'a claim is bound': 60,
  'a claim waits for a volume': 100,
  'a slice tells of a pod that goes': 30,
  'a container is killed by SIGKILL': 250,
  'time runs ahead of what waits': 140,
  'the API server is killed': 150,
  'a request is under way when the API server dies': 70,
  'the store is killed': 100,
  'the store dies writing, and it is written': 20,
  'the store dies writing, and it is lost': 30,
  'the store is compacted': 90,
  'all controllers are killed': 100,
  'one controller is killed': 50,
  'the scheduler is killed': 110,
  'a kubelet is killed': 100,
  'a machine reboots': 30,
  'watches are cut': 400,
} as const
export type Happening = keyof typeof happenings

export interface Counter extends Law {
  happened(what: Happening): void
  readonly counts: Happenings
}

export function countHappenings({ truth }: Pick<LawParts, 'truth'>): Counter {
  const counts = new Map<string, number>()
  const happened = (what: Happening) => add(counts, what)

  function refused({ code, reason, message }: StatusError, evicts: boolean): void {
    if (code === 429 && evicts && message.includes('disruption budget')) happened('a budget refuses an eviction')
    if (code === 403 && message.includes('exceeded quota')) happened('a quota refuses')
    if (code === 403 && message.includes('being terminated')) happened('a new name is refused in a namespace that goes')
    if (code === 409 && reason === 'AlreadyExists') happened('a name exists already')
    if (code === 409 && message.includes('object has been modified')) happened('a write conflicts')
    if (code === 409 && message.toLowerCase().includes('precondition')) happened('a precondition does not hold')
  }

  function changed(before: KubeObject | undefined, after: KubeObject): void {
    const { kind } = after
    if (kind === 'PodDisruptionBudget') {
      const [allowed, allows] = [before?.['status']?.disruptionsAllowed ?? 0, after['status']?.disruptionsAllowed]
      if (allowed > 0 && allows === 0) happened('a budget is exhausted')
      if (disruptedIn(after) > disruptedIn(before)) happened('a budget is spent')
    }
    if (kind === 'Node' && isUnknown(after) && !isUnknown(before)) happened('a node becomes Unknown')
    if (kind === 'Node' && isUnknown(before) && !isUnknown(after)) happened('a node comes back')
    if (kind === 'Namespace' && waitsForFinalizers(after) && !waitsForFinalizers(before))
      happened('a namespace waits for finalizers')
    const begins = (isSo: (object: KubeObject) => boolean) => isSo(after) && (before === undefined || !isSo(before))
    if (kind === 'Job' && begins(hasCondition('Complete'))) happened('a job completes')
    if (kind === 'Job' && begins(hasCondition('Failed'))) happened('a job fails')
    if (kind === 'Deployment' && begins(isRolling)) happened('a rollout is under way')
    if (kind === 'Deployment' && begins(surges)) happened('a rollout surges')
    if (kind === 'PersistentVolumeClaim' && begins(inPhase('Bound'))) happened('a claim is bound')
    if (kind === 'PersistentVolumeClaim' && begins(inPhase('Pending'))) happened('a claim waits for a volume')
    if (kind === 'EndpointSlice' && begins(tellsOfTheEnd)) happened('a slice tells of a pod that goes')
    if (kind === 'Pod' && isPreempted(after) && !isPreempted(before)) happened('a pod is preempted')
    if (after.metadata.ownerReferences !== before?.metadata.ownerReferences && ownsItself(after))
      happened('owners form a cycle')
    if (isMarked(after) && begins(has('orphan'))) happened('an owner is orphaned')
    if (begins(has('foregroundDeletion')) && truth.dependentsOf(after.metadata.uid ?? '').length > 0)
      happened('an owner waits for its dependents')
  }

  function ownsItself(object: KubeObject): boolean {
    const seen = new Set<string>()
    const above = (one: KubeObject): boolean =>
      (one.metadata.ownerReferences ?? []).some(({ uid }) => {
        if (uid === object.metadata.uid) return true
        const owner = truth.ofUid(uid)
        if (owner === undefined || seen.has(uid)) return false
        seen.add(uid)
        return above(owner)
      })
    return above(object)
  }

  return {
    happened,
    counts,
    done({ subresource }, response) {
      if (response instanceof StatusError) refused(response, subresource === 'eviction')
    },
    changed({ before, after }) {
      if (after !== undefined) changed(before?.metadata.uid === after.metadata.uid ? before : undefined, after)
    },
  }
}

const has = (finalizer: string) => (object: KubeObject) => object.metadata.finalizers?.includes(finalizer) ?? false

const hasCondition = (type: string) => (object: KubeObject) => condition(object, type)?.['status'] === 'True'

const inPhase = (phase: string) => (object: KubeObject) => object['status']?.phase === phase

/** Some of its pods are of an older template. */
const isRolling = ({ status }: KubeObject): boolean => (status?.updatedReplicas ?? 0) < (status?.replicas ?? 0)

const surges = (deployment: KubeObject): boolean =>
  isRolling(deployment) && deployment['status'].replicas > deployment['spec'].replicas

const tellsOfTheEnd = ({ endpoints }: Fields): boolean =>
  (endpoints ?? []).some(({ conditions }: Fields) => conditions?.terminating === true)

const condition = (object: KubeObject | undefined, type: string): Fields | undefined =>
  object?.['status']?.conditions?.find((one: Fields) => one['type'] === type)

const isUnknown = (node: KubeObject | undefined): boolean => condition(node, 'Ready')?.['status'] === 'Unknown'

const isPreempted = (pod: KubeObject | undefined): boolean =>
  condition(pod, 'DisruptionTarget')?.['reason'] === 'PreemptionByScheduler'

/** The user's: its own goes by itself. */
function waitsForFinalizers(namespace: KubeObject | undefined): boolean {
  const told = condition(namespace, 'NamespaceFinalizersRemaining')
  return told?.['status'] === 'True' && String(told['message']).includes(USER_FINALIZER)
}

const disruptedIn = (budget: KubeObject | undefined): number =>
  Object.keys(budget?.['status']?.disruptedPods ?? {}).length
