/** Writes that admission judges, and the rules of webhooks and policies that say which of them they are about. */
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import type { ObjectRef } from './finding.ts'
import { foundOf, type Look, NAMESPACES } from './look.ts'

/** A request that would change an object, as admission sees it. */
export interface WriteRequest {
  readonly ref: ObjectRef
  /** '' for the object itself. */
  readonly subresource: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly oldObject: KubeObject | undefined
  /** undefined of a delete. */
  readonly object: KubeObject | undefined
  /** Users of which one will send it; none where that is not known. */
  readonly users: readonly WritingUser[]
}

export interface WritingUser {
  readonly username: string
  readonly groups: readonly string[]
}

export const accountUser = (namespace: string, name: string): WritingUser => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
})

/** A controller of kube-controller-manager has an account of its own, or that of them all (--use-service-account-credentials). */
export const controllerUsers = (name: string): readonly WritingUser[] => [
  accountUser('kube-system', name),
  { username: 'system:kube-controller-manager', groups: ['system:authenticated'] },
]

export const kubeletUsers = (node: string): readonly WritingUser[] => [
  { username: `system:node:${node}`, groups: ['system:nodes', 'system:authenticated'] },
]

export function removalOf(
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
  users: readonly WritingUser[],
): WriteRequest {
  const finalizers = object.metadata.finalizers?.filter((one) => one !== finalizer) ?? []
  const { finalizers: _, ...metadata } = object.metadata
  const after: KubeObject = { ...object, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers } }
  return { ref, subresource: '', operation: 'UPDATE', oldObject: object, object: after, users }
}

export const deletionOf = (ref: ObjectRef, object: KubeObject, users: readonly WritingUser[] = []): WriteRequest => ({
  ref,
  subresource: '',
  operation: 'DELETE',
  oldObject: object,
  object: undefined,
  users,
})

/** That leaves it as it is, as far as is known. */
export const updateOf = (
  ref: ObjectRef,
  object: KubeObject,
  subresource = '',
  users: readonly WritingUser[] = [],
): WriteRequest => ({
  ref,
  subresource,
  operation: 'UPDATE',
  oldObject: object,
  object,
  users,
})

export function evictionOf(ref: ObjectRef): WriteRequest {
  const { namespace, name } = ref
  const object: KubeObject = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }
  return { ref, subresource: 'eviction', operation: 'CREATE', oldObject: undefined, object, users: [] }
}

export interface WhyRule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly scope?: string
}

/** What configures admission is never judged by it: nothing could be mended otherwise. */
const EXEMPT = new Set(
  ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].concat(
    ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
  ),
)
const isExempt = ({ group, resource }: ObjectRef) => group === 'admissionregistration.k8s.io' && EXEMPT.has(resource)

const has = (list: readonly string[] | undefined, value: string) =>
  list?.some((one) => one === '*' || one === value) === true

/** `*` means no subresources; `*` with a slash on either side all of that side. */
function isResource(listed: readonly string[] | undefined, { ref: { resource }, subresource }: WriteRequest): boolean {
  return (listed ?? []).some((one) => {
    const [of = '', sub] = one.split('/')
    if (of !== '*' && of !== resource) return false
    return sub === '*' || (sub ?? '') === subresource
  })
}

/**
 * Whether rules are about a write. By matchPolicy Equivalent, the default, those of any version that the resource is served in are, and of
 * any group that serves the same objects; by Exact those of the version of the request alone.
 */
export function ruleMatches(
  look: Look,
  rules: readonly WhyRule[],
  write: WriteRequest,
  matchPolicy: string | undefined,
): boolean {
  const { ref, operation } = write
  if (isExempt(ref)) return false
  const served = matchPolicy === 'Exact' ? [ref] : [ref, ...equivalents(look, ref)]
  return rules.some(
    ({ operations, apiGroups, apiVersions = ['*'], resourceNames = [], scope = '*', ...rule }) =>
      has(operations, operation) &&
      served.some(({ group, version }) => has(apiGroups, group) && has(apiVersions, version)) &&
      isResource(rule.resources, write) &&
      (resourceNames.length === 0 || resourceNames.includes(ref.name)) &&
      (scope === '*' || scope === (ref.namespace === '' ? 'Cluster' : 'Namespaced')),
  )
}

/** Groups of Kubernetes that serve the same objects under the same name: Events. */
const TWINS: readonly (readonly [resource: string, groups: readonly string[]])[] = [['events', ['', 'events.k8s.io']]]

function equivalents({ kinds }: Look, { group, resource }: ObjectRef) {
  const twins = TWINS.find(([of, groups]) => of === resource && groups.includes(group))
  const groups = twins?.[1] ?? [group]
  return kinds.everyVersion.filter((one) => one.resource === resource && groups.includes(one.group))
}

export interface RuleSelectors {
  readonly namespaceSelector?: object
  readonly objectSelector?: object
}

/** What policies, and their bindings, say of the writes that they are about. */
export interface MatchResources extends RuleSelectors {
  readonly resourceRules?: readonly WhyRule[]
  readonly excludeResourceRules?: readonly WhyRule[]
  readonly matchPolicy?: string
}

export async function isMatched(look: Look, match: MatchResources, write: WriteRequest): Promise<boolean> {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  if (!ruleMatches(look, resourceRules, write, matchPolicy)) return false
  return !ruleMatches(look, excludeResourceRules, write, matchPolicy) && isSelected(look, match, write)
}

/** Of an update either of its objects counts. A Namespace is in itself; what else is in none is always selected. */
export async function isSelected(
  look: Look,
  { namespaceSelector, objectSelector }: RuleSelectors,
  write: WriteRequest,
) {
  const { object, oldObject, ref } = write
  const objects = labelSelectorOf(objectSelector ?? {})
  if (![object, oldObject].some((one) => one !== undefined && objects.matches(one.metadata.labels))) return false
  const isNamespace = ref.group === '' && ref.resource === 'namespaces'
  if (ref.namespace === '' && !isNamespace) return true
  const space = isNamespace ? (object ?? oldObject) : await namespaceObjectOf(look, write)
  return labelSelectorOf(namespaceSelector ?? {}).matches(space?.metadata.labels)
}

/** undefined: it is in none, or that may not be seen. */
export async function namespaceObjectOf(look: Look, { ref }: WriteRequest): Promise<KubeObject | undefined> {
  return ref.namespace === '' ? undefined : foundOf(await look.reader.get(NAMESPACES, '', ref.namespace))
}
