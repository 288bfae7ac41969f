/**
 * What is known of kinds that might not be listed in all namespaces: they were listed in some, or nowhere. Asked by deeds, which take nothing
 * for absent that was not read, and by gates, which what is unknown closes.
 */
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
  const { resources, unread, partly, kinds } = read
  const named = nameOfKind(kind)
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

/** The namespace in which all is that it may own or hold; undefined: that may be anywhere. */
function reach({ group, resource, namespace, name }: Placed): string | undefined {
  if (namespace !== '') return namespace
  return group === '' && resource === 'namespaces' ? name : undefined
}

/** Why it is not known whether objects of a kind go with these; undefined: it is. What was listed nowhere is never known. */
export function unknownBeside(read: ReadCluster, kind: Kind, ending: readonly Placed[]): string | undefined {
  const part = read.partly.get(nameOfKind(kind))
  if (part === undefined || part.readIn.length === 0) return unreadBecause(read, kind)
  return ending.some((one) => !part.readIn.includes(reach(one) ?? '')) ? part.why : undefined
}

/** Kinds that may go with these and might not be listed where that would be. */
export function unlistedBeside({ partly }: ReadCluster, ending: readonly Placed[]): readonly string[] {
  const spaces = new Set(ending.map(reach))
  // Volumes go with their claims.
  const takesVolumes = ending.some(({ group, resource }) => group === '' && resource === 'persistentvolumeclaims')
  return [...partly].flatMap(([name, { namespaced, readIn }]) => {
    const isUnknown = namespaced
      ? [...spaces].some((space) => space === undefined || !readIn.includes(space))
      : spaces.has(undefined) || (takesVolumes && name === 'persistentvolumes')
    return isUnknown ? [name] : []
  })
}
