/** Owners that wait for what they own (foregroundDeletion, orphan): which dependents there are, and which of them block. */
import type { Event, Pod } from '../../api/generated/types.ts'
import { type KubeObject, parseApiVersion } from '../../api/object.ts'
import { mountsClaim } from '../../api/objects/pod-claims.ts'
import { formatTime } from '../../base/clock.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { refusalLinks, silentRefusals } from './admission.ts'
import { componentLink } from './components.ts'
import { type Link, lastLink, type ObjectRef, verdictOf, waitingLink } from './finding.ts'
import {
  CLAIMS,
  deletedAt,
  EVENTS,
  INVALID_NAMESPACE,
  isOf,
  itemsOf,
  KEPT,
  kubectlName,
  type Look,
  MOST_ALIKE,
  PODS,
  refOf,
} from './look.ts'
import { controllerUsers, deletionOf, updateOf } from './rules.ts'
import { unavailableApis } from './unavailable.ts'
import type { Examine } from './what-holds-an-object.ts'

export interface Dependent {
  readonly resource: NamedResource
  readonly object: KubeObject
  readonly blocks: boolean
}

/** Kinds that are mostly owned, asked first in case that not all can be. */
const FIRST = ['pods', 'replicasets', 'jobs', 'controllerrevisions', 'persistentvolumeclaims', 'configmaps', 'secrets']

/**
 * Everything of the kinds wanted that names this owner, and what could not be looked at. Where a namespaced owner may have any is its own
 * namespace: what is elsewhere is found with `isEverywhere`.
 */
export async function dependentsOf(
  look: Look,
  owner: ObjectRef,
  wanted: (resource: NamedResource) => boolean = () => true,
  isEverywhere = owner.namespace === '',
) {
  const place = ({ resource, group }: NamedResource) => {
    const first = group === owner.group && group !== '' ? 0 : FIRST.indexOf(resource)
    return first < 0 ? FIRST.length : first
  }
  const resources = look.kinds.resources
    .filter((one) => one.verbs.includes('list') && one.verbs.includes('delete') && wanted(one))
    .filter(({ namespaced }) => isEverywhere || namespaced)
    .toSorted((a, b) => place(a) - place(b))
  const failed: string[] = []
  const namespace = isEverywhere ? '' : owner.namespace
  const lists = await Promise.all(
    resources.map(async (resource): Promise<readonly Dependent[]> => {
      const read = await look.reader.list(resource, { namespace, metadataOnly: true })
      if (read.state !== 'found') {
        if (read.state !== 'missing') failed.push(kubectlName({ ...resource, name: '' }).slice(0, -1))
        return []
      }
      return read.value.flatMap((object) => dependentIn(owner, resource, object))
    }),
  )
  return { dependents: lists.flat(), failed }
}

function dependentIn(owner: ObjectRef, resource: NamedResource, object: KubeObject): readonly Dependent[] {
  const reference = object.metadata.ownerReferences?.find(({ uid }) => uid === owner.uid)
  return reference === undefined ? [] : [{ resource, object, blocks: reference.blockOwnerDeletion === true }]
}

const hasBlocking = (dependents: readonly Dependent[]) => dependents.some(({ blocks }) => blocks)

export async function foregroundLinks(
  look: Look,
  owner: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  const [near, collector] = await Promise.all([
    dependentsOf(look, owner),
    componentLink(look, 'kube-controller-manager', 'garbage collector', kubectlName(owner)),
  ])
  const since = deletedAt(object.metadata)
  const isLate = look.now - since > LATE_MS
  const isElsewhere = isLate && owner.namespace !== '' && !hasBlocking(near.dependents)
  const far = isElsewhere ? await dependentsElsewhere(look, owner) : { dependents: [], failed: [] }
  const blocking = [...near.dependents, ...far.dependents].filter(({ blocks }) => blocks)
  if (blocking.length === 0)
    return [
      collector,
      ...(near.failed.length === 0 ? [] : [unseen('dependents', near.failed)]),
      ...(far.failed.length === 0 ? [] : [unseen('dependents outside of its namespace', far.failed)]),
    ]
  const inPath = blocking.find(({ object }) => look.path.some(({ uid }) => uid === object.metadata.uid))
  if (inPath !== undefined) {
    // A claim that was made for this pod goes when the pod is shut down: that is no cycle.
    const isPodAndClaim = isOf(owner, PODS) && isOf(inPath.resource, CLAIMS)
    if (isPodAndClaim && mountsClaim(object as Pod, inPath.object) === 'as its own')
      return [lastLink('will-end', { kind: 'in-use', by: owner, how: 'it mounts the claim', isDeleted: true })]
    const from = look.path.findIndex(({ uid }) => uid === inPath.object.metadata.uid)
    const cycle = lastLink('cannot-end', { kind: 'owner-cycle', objects: look.path.slice(from) })
    const dependent = refOf(inPath.resource, inPath.object)
    return [waitingLink({ kind: 'blocking-dependent', dependent, count: blocking.length }, [cycle], () => cycle)]
  }
  const links: Link[] = []
  // Those that are not even marked yet are the collector's next work; those that are wait for something of their own.
  const marked = blocking.filter(({ object }) => object.metadata.deletionTimestamp !== undefined)
  const groups = Map.groupBy(marked, ({ resource, object }) =>
    [resource.resource, resource.group, ...(object.metadata.finalizers ?? [])].join(' '),
  )
  for (const alike of groups.values()) {
    for (const { resource, object } of alike.slice(0, MOST_ALIKE)) {
      const dependent = refOf(resource, object)
      const cause = { kind: 'blocking-dependent', dependent, count: blocking.length } as const
      links.push(waitingLink(cause, [await examine(look, resource, object)], () => collector))
    }
  }
  const unmarked = blocking.filter(({ object }) => object.metadata.deletionTimestamp === undefined)
  for (const one of alikeInFault(look, unmarked)) {
    const dependent = refOf(one.resource, one.object)
    const write = deletionOf(dependent, one.object, COLLECTOR)
    const known = [
      ...misplaced(owner, dependent),
      ...(await unresolvedOwners(look, dependent, one.object)),
      ...(await refusalLinks(look, write)),
    ]
    const isOverdue = isLate && verdictOf(collector) === 'slow' && unmarked.length <= MOST_LATE
    const refused = known.length > 0 || !isOverdue ? known : await silentRefusals(look, write, formatTime(since))
    const next = refused.length > 0 ? refused : [collector]
    links.push(waitingLink({ kind: 'blocking-dependent', dependent, count: blocking.length }, next, () => collector))
  }
  return links
}

/**
 * The collector counts what names an owner by its uid, wherever it is: an owner waits for a dependent in another namespace, which the
 * collector deletes, and for one in no namespace, which it leaves alone. Of either it tells in an Event, which lasts an hour: what that
 * does not tell is listed, what is in no namespace first, since that alone never ends by itself.
 */
async function dependentsElsewhere(look: Look, owner: ObjectRef) {
  const told = await dependentsTold(look, owner)
  if (hasBlocking(told)) return { dependents: told, failed: [] }
  const failed: string[] = []
  for (const isNamespaced of [false, true]) {
    const wanted = ({ namespaced }: NamedResource) => namespaced === isNamespaced
    if (look.kinds.resources.filter(wanted).length + KEPT > look.reader.left) {
      failed.push(isNamespaced ? 'kinds of other namespaces' : 'kinds that are in no namespace')
      continue
    }
    const found = await dependentsOf(look, owner, wanted, true)
    if (hasBlocking(found.dependents)) return { dependents: found.dependents, failed: [] }
    failed.push(...found.failed)
  }
  return { dependents: [], failed }
}

/** Dependents of an owner that the collector has found in another place than the owner's namespace. */
async function dependentsTold({ reader, kinds }: Look, owner: ObjectRef): Promise<readonly Dependent[]> {
  const events = await reader.list<Event>(EVENTS, { fieldSelector: `reason=${INVALID_NAMESPACE}` })
  const own = itemsOf(events).filter(({ message }) => message?.includes(`uid: ${owner.uid}]`))
  const found = await Promise.all(
    own
      .slice(0, MOST_ALIKE)
      .map(async ({ involvedObject: { apiVersion = '', kind = '', namespace = '', name = '' } }) => {
        const resource = kinds.ofKind(parseApiVersion(apiVersion).group, kind)
        if (resource === undefined) return []
        const read = await reader.get(resource, resource.namespaced ? namespace : '', name)
        return read.state === 'found' ? dependentIn(owner, resource, read.value) : []
      }),
  )
  return found.flat()
}

const misplaced = (owner: ObjectRef, dependent: ObjectRef): readonly Link[] =>
  owner.namespace === '' || dependent.namespace !== ''
    ? []
    : [lastLink('cannot-end', { kind: 'misplaced-owner', object: dependent, owner })]

const COLLECTOR = controllerUsers('generic-garbage-collector')
/** The collector deletes a dependent within seconds, where it has not many to delete. */
const LATE_MS = 30_000
const MOST_LATE = 20

/** One of all, and besides it one of those that name an owner of a kind that is not served. */
function alikeInFault(look: Look, unmarked: readonly Dependent[]): readonly Dependent[] {
  const [first] = unmarked
  const odd = unmarked.find(({ object }) => unservedOwners(look, object).length > 0)
  return [...new Set([odd, first])].filter((one) => one !== undefined)
}

/**
 * Owners that no served kind is: the collector asks for each owner in the very version that the reference gives, and does nothing about a
 * dependent whose owner it cannot ask for.
 */
export const unservedOwners = ({ kinds }: Look, { metadata }: KubeObject) =>
  (metadata.ownerReferences ?? []).filter(({ apiVersion, kind }) => {
    const { group, version } = parseApiVersion(apiVersion)
    return !kinds.everyVersion.some((one) => one.group === group && one.version === version && one.kind === kind)
  })

async function unresolvedOwners(look: Look, dependent: ObjectRef, object: KubeObject): Promise<readonly Link[]> {
  const unserved = unservedOwners(look, object)
  const isDown = ({ apiVersion }: { readonly apiVersion: string }) => look.kinds.stale.includes(apiVersion)
  const down = unserved.some(isDown) ? await unavailableApis(look) : []
  return [
    ...down,
    ...unserved
      .filter((owner) => !isDown(owner))
      .map(({ apiVersion, kind, name }) =>
        lastLink(
          'cannot-end',
          { kind: 'unserved-owner', object: dependent, owner: `${kind} ${name}`, apiVersion },
          true,
        ),
      ),
  ]
}

/** The collector takes the reference off each dependent: an update that may be refused. */
export async function orphanLinks(look: Look, owner: ObjectRef): Promise<readonly Link[]> {
  const [{ dependents }, collector] = await Promise.all([
    dependentsOf(look, owner),
    componentLink(look, 'kube-controller-manager', 'garbage collector', kubectlName(owner)),
  ])
  for (const { resource, object } of dependents.slice(0, MOST_ALIKE)) {
    const refused = await refusalLinks(look, updateOf(refOf(resource, object), object, '', COLLECTOR))
    if (refused.length > 0) return refused
  }
  return [collector]
}

const unseen = (what: string, among: readonly string[]): Link =>
  lastLink(
    'slow',
    { kind: 'unseen', what: `${what} among ${among.slice(0, 8).join(', ')}`, why: 'they could not be listed' },
    true,
  )
