/** Which component made a change, where no audit log names it: by what it did, by the objects around, by Events. Always inferred. */
import type { Holds } from '../../api/journal.ts'
import type { RecordedRecord, SeenState, TellingEvent } from './seen.ts'
import type { ChangeWriter, TimelineChange } from './timeline-types.ts'

export interface Guesses {
  add(record: RecordedRecord): void
  /** Whether the object with this uid is gone, or waits for its dependents, or leaves them behind. */
  ownerEnds(uid: string): boolean
  namespaceGoes(name: string): boolean
  /** The component that told of deleting the pod. */
  deleterOf(namespace: string, name: string): string | undefined
}

export function noGuesses(events: readonly TellingEvent[]): Guesses {
  const ends = new Set<string>()
  const spaces = new Set<string>()
  const deleters = new Map<string, string>()
  for (const { reason, message, component, namespace, name, kind } of events) {
    const deleted = /^(?:Deleted pod|delete Pod):? (\S+)/i.exec(message)?.[1]
    if (reason === 'SuccessfulDelete' && deleted !== undefined) deleters.set(`${namespace}/${deleted}`, component)
    if (kind === 'Pod' && reason === 'TaintManagerEviction')
      deleters.set(`${namespace}/${name}`, 'taint-eviction-controller')
    if (kind === 'Pod' && reason === 'Preempted') deleters.set(`${namespace}/${name}`, 'kube-scheduler')
  }
  return {
    add({ uid, after, group, resource, name }) {
      const isHeld = after?.finalizers?.some((finalizer) => GC_FINALIZERS.includes(finalizer)) === true
      if (after === undefined || (after.deletionTimestamp !== undefined && isHeld)) ends.add(uid)
      if (group === '' && resource === 'namespaces' && after?.deletionTimestamp !== undefined) spaces.add(name)
    },
    ownerEnds: (uid) => ends.has(uid),
    namespaceGoes: (name) => spaces.has(name),
    deleterOf: (namespace, name) => deleters.get(`${namespace}/${name}`),
  }
}

const GC_FINALIZERS = ['foregroundDeletion', 'orphan']
const GC = 'generic-garbage-collector'

/** Those of Kubernetes, by their finalizers. */
const BY_FINALIZER: ReadonlyMap<string, string> = new Map([
  ['foregroundDeletion', GC],
  ['orphan', GC],
  ['kubernetes', 'namespace-controller'],
  ['kubernetes.io/pvc-protection', 'pvc-protection-controller'],
  ['kubernetes.io/pv-protection', 'pv-protection-controller'],
  ['kubernetes.io/vac-protection', 'volumeattributesclass-protection-controller'],
  ['resource.kubernetes.io/delete-protection', 'resource-claim-controller'],
  ['batch.kubernetes.io/job-tracking', 'job-controller'],
  ['customresourcecleanup.apiextensions.k8s.io', 'kube-apiserver'],
])

export function guessWriter(
  guesses: Guesses,
  state: SeenState,
  changes: readonly TimelineChange[],
  before: Holds,
): ChangeWriter {
  const component = guess(guesses, state, changes, before)
  const { lastManager } = state
  const isUpdate =
    component === '' &&
    lastManager !== undefined &&
    !changes.some(({ type }) => type === 'removed' || type === 'marked' || type === 'grace-shortened')
  return {
    component: isUpdate ? 'user' : component,
    user: isUpdate ? lastManager : '',
    userAgent: '',
    ...(isUpdate ? { fieldManager: lastManager } : {}),
    certainty: 'inferred',
  }
}

function guess(guesses: Guesses, { object }: SeenState, changes: readonly TimelineChange[], before: Holds): string {
  for (const change of changes) {
    const owner = change.type === 'finalizer-removed' ? BY_FINALIZER.get(change.finalizer) : undefined
    if (owner !== undefined) return owner
    if (change.type === 'owner-removed' && guesses.ownerEnds(change.owner.uid)) return GC
  }
  const has = (wanted: TimelineChange['type']) => changes.some(({ type }) => type === wanted)
  const { group, resource, namespace, name } = object
  const isPod = group === '' && resource === 'pods'
  const isMarked = before.deletionTimestamp !== undefined
  // Those that delete, or end a pod, leave the finalizers of others alone.
  if (has('finalizer-removed') || (has('finalizer-added') && !has('marked'))) return ''
  // A node, and pod garbage collection, leave it no time at all: another delete has shortened it.
  if (changes.some((change) => change.type === 'grace-shortened' && change.gracePeriodSeconds !== 0)) return ''
  // A marked pod is taken away by its node, or pod garbage collection in the node's place.
  if (isPod && isMarked) return 'kubelet'
  if (isMarked) return ''
  const told = isPod ? guesses.deleterOf(namespace, name) : undefined
  if (told !== undefined) return told
  const owners = before.ownerReferences ?? []
  if (owners.length > 0 && owners.some(({ uid }) => guesses.ownerEnds(uid))) return GC
  return guesses.namespaceGoes(namespace) ? 'namespace-controller' : ''
}
