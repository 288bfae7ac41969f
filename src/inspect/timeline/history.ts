/** Earlier steps, indexed by what the rules that find a step's cause look up. Each lookup is one read of a map. */
import type { Written } from './steps.ts'

export interface History {
  add(step: Written): void
  /** The last step of an object. */
  last(uid: string): Written | undefined
  /** The last that marked an object, or shortened its grace period. */
  mark(uid: string): Written | undefined
  foregroundMark(uid: string): Written | undefined
  /** The last after which an object does not count as a living owner: it is gone, waits for its dependents, or leaves them. */
  ownerEnd(uid: string): Written | undefined
  wentAfterForegroundMark(uid: string): boolean
  /** The last by which a dependent that blocked the owner ceased to. */
  release(owner: string): Written | undefined
  /** The last by which a dependent lost its reference to the owner. */
  lostReference(owner: string): Written | undefined
  /** The last that gave the object other owners. */
  ownersChanged(uid: string): Written | undefined
  namespaceMark(name: string): Written | undefined
  definitionMark(name: string): Written | undefined
  /** Of a `group/resource`, or of any; in a namespace, or anywhere. */
  lastRemoval(namespace: string | undefined, kind?: string): Written | undefined
  lastOfKind(kind: string): Written | undefined
  /** The last definition of a group that was removed. */
  lastDefinitionOf(group: string): Written | undefined
  /** The last APIService that another writer than the API server removed. */
  lastAPIService(): Written | undefined
  /** By `group/resource/namespace/name`. */
  removalOf(path: string): Written | undefined
}

const FOREGROUND = 'foregroundDeletion'

/** From here on the object waits for its dependents. */
export const isForegroundMark = ({ before, after }: Written): boolean =>
  after?.deletionTimestamp !== undefined &&
  after.finalizers?.includes(FOREGROUND) === true &&
  !(before.deletionTimestamp !== undefined && before.finalizers?.includes(FOREGROUND) === true)

const isOrphaningMark = ({ before, after }: Written): boolean =>
  after?.deletionTimestamp !== undefined &&
  after.finalizers?.includes('orphan') === true &&
  !(before.deletionTimestamp !== undefined && before.finalizers?.includes('orphan') === true)

const isMark = ({ changes }: Written) => changes.some(({ type }) => type === 'marked' || type === 'grace-shortened')

/** Whether a reference blocks its owner is no matter of whose dependent the object is. */
const hasOtherOwners = ({ changes, before }: Written) =>
  changes.some((change) => {
    if (change.type !== 'owner-changed') return change.type === 'owner-added' || change.type === 'owner-removed'
    const { uid, apiVersion, kind, name } = change.owner
    const had = before.ownerReferences?.find((owner) => owner.uid === uid)
    return had?.apiVersion !== apiVersion || had.kind !== kind || had.name !== name
  })

const isRemoval = ({ after }: Written) => after === undefined

/** The group in the name of a definition or an APIService. */
export const afterDot = (name: string): string => name.slice(name.indexOf('.') + 1)

export function createHistory(): History {
  const last = new Map<string, Written>()
  const marks = new Map<string, Written>()
  const foregroundMarks = new Map<string, Written>()
  const ownerEnds = new Map<string, Written>()
  const bothWays = new Set<string>()
  const releases = new Map<string, Written>()
  const lost = new Map<string, Written>()
  const ownersChanged = new Map<string, Written>()
  /** By `resource name`. */
  const namedMarks = new Map<string, Written>()
  const removals = new Map<string, Written>()

  function addMark(step: Written): void {
    const { uid, group, resource, name } = step.object
    marks.set(uid, step)
    if (group === '' && resource === 'namespaces') namedMarks.set(`namespace ${name}`, step)
    if (resource === 'customresourcedefinitions') namedMarks.set(`definition ${name}`, step)
  }

  function addRemoval(step: Written): void {
    const { group, resource, namespace, name } = step.object
    const kind = `${group}/${resource}`
    for (const key of [`any ${namespace}`, `${kind} in ${namespace}`, kind, `${kind}/${namespace}/${name}`])
      removals.set(key, step)
    if (resource === 'customresourcedefinitions') removals.set(`definition of ${afterDot(name)}`, step)
    if (resource === 'apiservices' && step.by.component !== 'kube-apiserver') removals.set('aggregated', step)
  }

  function addOwners(step: Written): void {
    const { before, after } = step
    for (const owner of before.ownerReferences ?? []) {
      const now = after?.ownerReferences?.find(({ uid }) => uid === owner.uid)
      if (now === undefined) lost.set(owner.uid, step)
      if (owner.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true) releases.set(owner.uid, step)
    }
    if (hasOtherOwners(step)) ownersChanged.set(step.object.uid, step)
  }

  return {
    add(step) {
      const { uid } = step.object
      last.set(uid, step)
      if (isMark(step)) addMark(step)
      if (isRemoval(step)) addRemoval(step)
      if (isForegroundMark(step)) foregroundMarks.set(uid, step)
      if (isRemoval(step) || isForegroundMark(step) || isOrphaningMark(step)) {
        if (isRemoval(step) && foregroundMarks.has(uid)) bothWays.add(uid)
        ownerEnds.set(uid, step)
      }
      addOwners(step)
    },
    last: (uid) => last.get(uid),
    mark: (uid) => marks.get(uid),
    foregroundMark: (uid) => foregroundMarks.get(uid),
    ownerEnd: (uid) => ownerEnds.get(uid),
    wentAfterForegroundMark: (uid) => bothWays.has(uid),
    release: (owner) => releases.get(owner),
    lostReference: (owner) => lost.get(owner),
    ownersChanged: (uid) => ownersChanged.get(uid),
    namespaceMark: (name) => namedMarks.get(`namespace ${name}`),
    definitionMark: (name) => namedMarks.get(`definition ${name}`),
    lastRemoval: (namespace, kind) =>
      removals.get(
        namespace === undefined ? (kind ?? '') : kind === undefined ? `any ${namespace}` : `${kind} in ${namespace}`,
      ),
    lastOfKind: (kind) => removals.get(kind),
    lastDefinitionOf: (group) => removals.get(`definition of ${group}`),
    lastAPIService: () => removals.get('aggregated'),
    removalOf: (path) => removals.get(path),
  }
}
