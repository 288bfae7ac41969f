/**
 * What makes a story worth telling, counted: over the seeds of CI each of these must come to pass, or the laws about it hold for
 * want of trying.
 */
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { add, type Happenings } from '../explore.ts'
import { isMarked, type Law, type LawParts } from './laws/laws.ts'
import { USER_FINALIZER } from './laws/objects.ts'

export const happenings = [
  'a budget refuses an eviction',
  'a budget is spent',
  'a budget is exhausted',
  'a fault: answer lost',
  'a fault: late',
  'a fault: request lost',
  'a fault: 409',
  'a fault: 410',
  'a fault: 429',
  'a fault: 500',
  'a name exists already',
  'a write conflicts',
  'a precondition does not hold',
  'a quota refuses',
  'a watch is too old',
  'a new name is refused in a namespace that goes',
  'a node becomes Unknown',
  'a node comes back',
  'owners form a cycle',
  'an owner is orphaned',
  'an owner waits for its dependents',
  'a namespace waits for finalizers',
  'a pod is preempted',
  'a container is killed by SIGKILL',
  'time runs ahead of what waits',
  'the API server is killed',
  'a request is under way when the API server dies',
  'the store is killed',
  'the store dies writing, and it is written',
  'the store dies writing, and it is lost',
  'the store is compacted',
  'all controllers are killed',
  'one controller is killed',
  'the scheduler is killed',
  'a kubelet is killed',
  'a machine reboots',
  'watches are cut',
] as const
export type Happening = (typeof happenings)[number]

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
    if (kind === 'Pod' && isPreempted(after) && !isPreempted(before)) happened('a pod is preempted')
    if (after.metadata.ownerReferences !== before?.metadata.ownerReferences && ownsItself(after))
      happened('owners form a cycle')
    const begins = (finalizer: string) => has(after, finalizer) && !has(before, finalizer)
    if (isMarked(after) && begins('orphan')) happened('an owner is orphaned')
    if (begins('foregroundDeletion') && truth.dependentsOf(after.metadata.uid ?? '').length > 0)
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

const has = (object: KubeObject | undefined, finalizer: string): boolean =>
  object?.metadata.finalizers?.includes(finalizer) ?? false

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
