/**
 * What is known of kinds that might not be listed in all namespaces: they were listed in some, or nowhere. Asked by deeds, which take nothing
 * for absent that was not read, and by gates, which what is unknown closes.
 */
import type { Pod } from '../../api/generated/types.ts'
import { claimsOf } from '../../api/objects/pod-claims.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { isOfEvents } from '../../client/discovered-resources.ts'
import type { Unseen } from '../cluster-reader.ts'
import type { ReadCluster } from './read-cluster.ts'

/** A kind that might not be listed. */
export interface PartlyRead {
  /** What was answered where it was asked of all namespaces. */
  readonly why: string
  readonly namespaced: boolean
  /** Namespaces in which it was listed; of namespaces those that were read by their names. */
  readonly readIn: readonly string[]
  /** Single objects that were asked for by their names, whether they are there or not. */
  readonly named?: ReadonlySet<string>
}

export const placeAndName = (namespace: string, name: string): string => `${namespace}/${name}`

type Kind = Pick<NamedResource, 'group' | 'resource'>

export const nameOfKind = ({ group, resource }: Kind): string => (group === '' ? resource : `${resource}.${group}`)

/**
 * Why objects of a kind were not read, whether they could not be or are left out on purpose; undefined: they were. `namespace`: whether those in it were;
 * of namespaces the one of that name. Default: all there are. `name`: whether that one was.
 */
export function unreadBecause(read: ReadCluster, kind: Kind, namespace?: string, name?: string): string | undefined {
  const { resources, beyond, unread, partly, kinds } = read
  const named = nameOfKind(kind)
  if (beyond.some(({ resource }) => nameOfKind(resource) === named))
    return unread.find(({ what }) => what === named)?.why ?? 'a twin cannot hold it'
  const part = partly.get(named)
  if (part !== undefined) {
    if (name !== undefined && part.named?.has(placeAndName(namespace ?? '', name)) === true) return undefined
    return namespace !== undefined && part.readIn.includes(namespace) ? undefined : part.why
  }
  if (resources.some(({ resource }) => nameOfKind(resource) === named)) return undefined
  const told = unread.find(({ what }) => what === named)?.why
  const served = kinds.ofResource(kind.group, kind.resource)
  return told ?? (served === undefined ? undefined : leftOutBecause(served)) ?? 'they were not read'
}

/** What is only asked, done or measured is stored nowhere. */
const UNSTORED = new Set(['componentstatuses', 'bindings'])
const MEASURED = new Set(['metrics.k8s.io', 'custom.metrics.k8s.io', 'external.metrics.k8s.io'])

/** Why a kind is not asked for, which is nothing to tell of each reading; undefined: it is asked for. */
export function leftOutBecause(resource: NamedResource): string | undefined {
  // Events end by themselves, and of their own accord hold nothing.
  if (isOfEvents(resource)) return 'Events are not read'
  if (UNSTORED.has(nameOfKind(resource)) || MEASURED.has(resource.group)) return 'they are stored nowhere'
  return resource.verbs.includes('list') ? undefined : 'they cannot be listed'
}

const NAMED = 5

/** Of what was read in some namespaces alone: in which, and what that leaves unknown. */
export function partsWords(partly: ReadonlyMap<string, PartlyRead>): readonly Unseen[] {
  const some = [...partly].filter(([, { namespaced, readIn }]) => namespaced && readIn.length > 0)
  return [...Map.groupBy(some, ([, { readIn }]) => readIn.join(', '))].map(([places, all]) => {
    const names = all.map(([name]) => name)
    const more = names.length > NAMED ? ` and ${names.length - NAMED} kinds more` : ''
    return {
      what: `all namespaces but ${places}`,
      why: `${names.slice(0, NAMED).join(', ')}${more} may be listed in no other: what is there, and what of it would go, is not known (${all[0]?.[1].why})`,
    }
  })
}

/** Where an object is whose end may be the end of others: in a namespace, or of no namespace. */
interface Placed extends Kind {
  readonly namespace: string
  readonly name: string
}

/** What may take others along: what ends, and what is changed. */
export interface Causes {
  readonly ending: readonly Placed[]
  readonly changed: readonly Placed[]
}

/** The namespace in which all is that it may own or hold; undefined: that may be anywhere. */
function reach({ group, resource, namespace, name }: Placed): string | undefined {
  if (namespace !== '') return namespace
  return group === '' && resource === 'namespaces' ? name : undefined
}

/** What controllers may delete where these are changed (scaled down, rolled out, pointed elsewhere); of other built-in kinds nothing. */
const DELETED_BY_CHANGE: ReadonlyMap<string, readonly string[]> = new Map([
  ['pods', ['pods']],
  ['nodes', ['pods']],
  ['replicationcontrollers', ['pods']],
  ['replicasets.apps', ['pods']],
  ['deployments.apps', ['pods', 'replicasets.apps']],
  ['daemonsets.apps', ['pods', 'controllerrevisions.apps']],
  ['statefulsets.apps', ['pods', 'controllerrevisions.apps', 'persistentvolumeclaims']],
  ['jobs.batch', ['pods', 'jobs.batch']],
  ['cronjobs.batch', ['pods', 'jobs.batch']],
  ['horizontalpodautoscalers.autoscaling', ['pods', 'replicasets.apps']],
  ['services', ['endpoints', 'endpointslices.discovery.k8s.io']],
])

function mayDelete(changed: Placed, name: string): boolean {
  const isBuiltin = builtinScheme().stored(changed.group, changed.resource) !== undefined
  return isBuiltin ? (DELETED_BY_CHANGE.get(nameOfKind(changed))?.includes(name) ?? false) : true
}

/** Why it is not known whether objects of a kind go with these; undefined: it is. What was listed nowhere is never known. */
export function unknownBeside(read: ReadCluster, kind: Kind, { ending, changed }: Causes): string | undefined {
  const name = nameOfKind(kind)
  const part = read.partly.get(name)
  if (part === undefined)
    return read.beyond.some(({ resource }) => nameOfKind(resource) === name) ? undefined : unreadBecause(read, kind)
  if (part.readIn.length === 0) return part.why
  const causes = [...ending, ...changed.filter((one) => mayDelete(one, name))]
  return causes.some((one) => !part.readIn.includes(reach(one) ?? '')) ? part.why : undefined
}

/** Kinds that may go with these and might not be listed where that would be, and versions of aggregated APIs that do not answer. */
export function unlistedBeside(read: ReadCluster, { ending, changed }: Causes): readonly string[] {
  const spaces = new Set(ending.map(reach))
  const isOf = (name: string) => ending.some((one) => nameOfKind(one) === name)
  const attaches = mayBeAttached(read, ending)
  const unlisted = [...read.partly].flatMap(([name, { namespaced, readIn }]) => {
    const changes = changed.filter((one) => mayDelete(one, name)).map(reach)
    const isUnknown = namespaced
      ? [...spaces, ...changes].some((space) => space === undefined || !readIn.includes(space))
      : spaces.has(undefined) ||
        // Volumes go with their claims, attachments with the pods that use them.
        (name === 'persistentvolumes' && isOf('persistentvolumeclaims')) ||
        (name === 'volumeattachments.storage.k8s.io' && attaches)
    return isUnknown ? [name] : []
  })
  // A namespace waits for what these hold, and takes it along.
  const silent = isOf('namespaces') ? read.kinds.stale.filter((version) => !MEASURED.has(groupOf(version))) : []
  return [...unlisted, ...silent]
}

const groupOf = (version: string): string => version.slice(0, Math.max(0, version.indexOf('/')))

/** Whether a pod goes that may have volumes attached to its node. */
function mayBeAttached({ resources }: ReadCluster, ending: readonly Placed[]): boolean {
  const going = new Set(
    ending.filter((one) => nameOfKind(one) === 'pods').map(({ namespace, name }) => placeAndName(namespace, name)),
  )
  if (going.size === 0) return false
  const pods = resources.find(({ resource }) => nameOfKind(resource) === 'pods')?.items ?? []
  return pods.some(
    (item) =>
      going.has(placeAndName(item.metadata.namespace ?? '', item.metadata.name ?? '')) &&
      claimsOf(item.object() as Pod).length > 0,
  )
}

/**
 * What a twin cannot hold, and goes as the source has it: what is in a namespace that ends, and what belongs to nothing but what ends. It is taken
 * to be deleted in the background.
 */
export function endingBeyond({ beyond }: ReadCluster, ending: readonly Ending[]): readonly Ending[] {
  const uids = new Set(ending.map(({ uid }) => uid))
  const spaces = new Set(ending.filter((one) => nameOfKind(one) === 'namespaces').map(({ name }) => name))
  const left = new Set(
    beyond.flatMap(({ resource, items }) =>
      items.map(({ metadata }) => ({
        owners: metadata.ownerReferences ?? [],
        object: {
          group: resource.group,
          resource: resource.resource,
          kind: resource.kind,
          namespace: metadata.namespace ?? '',
          name: metadata.name ?? '',
          uid: metadata.uid ?? '',
        },
      })),
    ),
  )
  const found: Ending[] = []
  for (let before = -1; before < found.length; ) {
    before = found.length
    for (const one of left) {
      const { owners, object } = one
      if (!spaces.has(object.namespace) && !(owners.length > 0 && owners.every(({ uid }) => uids.has(uid)))) continue
      left.delete(one)
      uids.add(object.uid)
      found.push(object)
    }
  }
  return found
}

interface Ending extends Placed {
  readonly kind: string
  readonly uid: string
}
