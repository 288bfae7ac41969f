/** What every question of `why` is asked with: the cluster, its kinds and time, and what is being looked at already. */
import type { KubeObject } from '../../api/object.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { GroupVersionResource } from '../../client/client.ts'
import type { ClusterReader, Read } from '../cluster-reader.ts'
import type { Kinds } from '../kinds.ts'
import type { AuditedWrite } from '../timeline/audit-log.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'

export interface Look {
  readonly reader: ClusterReader
  readonly kinds: Kinds
  /** The cluster's own time, in milliseconds since the epoch. */
  readonly now: number
  readonly dryRun: boolean
  /** Writes of the past, of an audit log; none where none was given. */
  readonly audited: readonly AuditedWrite[]
  /** The objects from the first one to this one. */
  readonly path: readonly ObjectRef[]
  /** What was found about objects that more than one link leads to, by uid. */
  readonly examined: Map<string, Link>
}

/** Links that follow this deep are cut. */
export const MOST_DEEP = 12
/** So many objects are looked at in all. */
export const MOST_EXAMINED = 300
/** Requests that are left for what comes after: what would need more looks no further. */
export const KEPT = 30
/** Of many alike, so many are looked at. */
export const MOST_ALIKE = 3

/** Reason of the garbage collector's Events about a dependent whose owner is in another namespace, or in one where it is in none. */
export const INVALID_NAMESPACE = 'OwnerRefInvalidNamespace'

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
const of = (group: string, resource: string): GroupVersionResource => ({ group, version: 'v1', resource })

export const PODS = core('pods')
export const NODES = core('nodes')
export const NAMESPACES = core('namespaces')
export const EVENTS = core('events')
export const SERVICES = core('services')
export const SERVICE_ACCOUNTS = core('serviceaccounts')
export const CLAIMS = core('persistentvolumeclaims')
export const VOLUMES = core('persistentvolumes')
export const DEPLOYMENTS = of('apps', 'deployments')
export const STATEFUL_SETS = of('apps', 'statefulsets')
export const DAEMON_SETS = of('apps', 'daemonsets')
export const LEASES = of('coordination.k8s.io', 'leases')
export const ENDPOINT_SLICES = of('discovery.k8s.io', 'endpointslices')
export const BUDGETS = of('policy', 'poddisruptionbudgets')
export const API_SERVICES = of('apiregistration.k8s.io', 'apiservices')
export const DEFINITIONS = of('apiextensions.k8s.io', 'customresourcedefinitions')
export const ATTACHMENTS = of('storage.k8s.io', 'volumeattachments')
export const CSI_NODES = of('storage.k8s.io', 'csinodes')
export const VALIDATING_WEBHOOKS = of('admissionregistration.k8s.io', 'validatingwebhookconfigurations')
export const MUTATING_WEBHOOKS = of('admissionregistration.k8s.io', 'mutatingwebhookconfigurations')
export const VALIDATING_POLICIES = of('admissionregistration.k8s.io', 'validatingadmissionpolicies')
export const VALIDATING_POLICY_BINDINGS = of('admissionregistration.k8s.io', 'validatingadmissionpolicybindings')
export const CLUSTER_ROLES = of('rbac.authorization.k8s.io', 'clusterroles')
export const CLUSTER_ROLE_BINDINGS = of('rbac.authorization.k8s.io', 'clusterrolebindings')
export const ROLES = of('rbac.authorization.k8s.io', 'roles')
export const ROLE_BINDINGS = of('rbac.authorization.k8s.io', 'rolebindings')

/** Whether something is of that resource, in any version. A custom resource may have a plural that one of Kubernetes has. */
export const isOf = (
  { group, resource }: Pick<ObjectRef, 'group' | 'resource'>,
  wanted: Pick<ObjectRef, 'group' | 'resource'>,
): boolean => group === wanted.group && resource === wanted.resource

export function refOf(resource: NamedResource, { metadata }: KubeObject): ObjectRef {
  return {
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    kind: resource.kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
  }
}

/** A built-in object's, whose kind needs no looking up. */
export function builtinRef(
  gvr: GroupVersionResource,
  kind: string,
  namespace: string,
  name: string,
  uid?: string,
): ObjectRef {
  return { ...gvr, kind, namespace, name, ...(uid === undefined ? {} : { uid }) }
}

/** `deployments.apps/web` as kubectl takes it, without its namespace. */
export const kubectlName = ({ group, resource, name }: Pick<ObjectRef, 'group' | 'resource' | 'name'>): string =>
  `${group === '' ? resource : `${resource}.${group}`}/${name}`

/** What was found, or nothing: for questions whose refusal is noted by the reader and changes no verdict. */
export const foundOf = <T>(read: Read<T>): T | undefined => (read.state === 'found' ? read.value : undefined)
export const itemsOf = <T>(read: Read<readonly T[]>): readonly T[] => (read.state === 'found' ? read.value : [])

/** Where an answer is needed and was not given. */
export function unseenLink(what: string, read: Exclude<Read<unknown>, { state: 'found' }>): Link {
  return lastLink('slow', { kind: 'unseen', what, why: read.message }, true)
}

export const timeOf = (text: string | undefined): number => (text === undefined ? Number.NaN : Date.parse(text))

/** When an object was deleted: its deletionTimestamp is that and the grace period. */
export function deletedAt({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: KubeObject['metadata']): number {
  return timeOf(deletionTimestamp) - deletionGracePeriodSeconds * 1000
}
