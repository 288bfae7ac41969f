/**
 * NodeRestriction (API concept: node authorization): a kubelet writes its own Node, the status of the pods bound to it,
 * mirror pods, its Lease and its CSINode, and nothing that would draw pods or secrets to it.
 */

import type {
  Node,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  ResourceSlice,
  AuthenticationV1TokenRequest as TokenRequest,
} from '../../../api/generated/types.ts'
import type { Given, KubeObject } from '../../../api/object.ts'
import { isMirrorPod } from '../../../api/objects/mirror-pods.ts'
import { notFound, StatusError } from '../../../api/status.ts'
import { same } from '../../../api/validation/common.ts'
import type { Authorizer } from '../../auth/authorizer.ts'
import { nodeNameOfUser } from '../../auth/node.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { checkAudience } from './node-token-audience.ts'
import { referencedKinds, refused } from './pods.ts'

type Rule = (
  attributes: AdmissionAttributes,
  node: string,
  reads: CacheReads,
  authorizer: Authorizer,
) => void | Promise<void>

export const nodeRestriction: AdmissionPluginFactory = (reads, { authorizer }) => ({
  name: 'NodeRestriction',
  handles: (operation) => operation !== 'CONNECT',
  mutate(attributes) {
    const object = attributes.object!
    const node = nodeNameOfUser(attributes.user)
    if (node === undefined) return object
    if (node === '')
      throw refused(attributes, `could not determine node from user ${JSON.stringify(attributes.user.name)}`)
    const judged = rules[`${attributes.endpoint.row.group}/${attributes.endpoint.row.resource}`]?.(
      attributes,
      node,
      reads,
      authorizer,
    )
    return judged === undefined ? object : judged.then(() => object)
  },
})

const quote = (text: string) => JSON.stringify(text)
const podOf = (reads: CacheReads, { namespace, name }: AdmissionAttributes) =>
  reads.get<Pod>('', 'pods', namespace, name)

function pods(attributes: AdmissionAttributes, node: string, reads: CacheReads): void {
  const { subresource, operation, object } = attributes
  if (subresource === 'status') podStatus(attributes, node)
  else if (subresource === 'eviction') podEviction(attributes, node, reads)
  else if (subresource !== '')
    throw refused(
      attributes,
      `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`,
    )
  else if (operation === 'CREATE') podCreate(attributes, object as KubeObject, node, reads)
  else if (operation === 'DELETE') podDelete(attributes, node)
  else
    throw refused(
      attributes,
      `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`,
    )
}

function podDelete(attributes: AdmissionAttributes, node: string): void {
  const pod: Pod | undefined = attributes.oldObject
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, attributes.name)
  if (pod.spec?.nodeName !== node)
    throw refused(attributes, `node ${quote(node)} can only delete pods with spec.nodeName set to itself`)
}

function podCreate(attributes: AdmissionAttributes, pod: Pod, node: string, reads: CacheReads): void {
  if (!isMirrorPod(pod))
    throw refused(
      attributes,
      `pod does not have "kubernetes.io/config.mirror" annotation, node ${quote(node)} can only create mirror pods`,
    )
  const spec: Partial<PodSpec> = pod.spec ?? {}
  if (spec.nodeName !== node)
    throw refused(attributes, `node ${quote(node)} can only create pods with spec.nodeName set to itself`)
  const owners = pod.metadata.ownerReferences ?? []
  if (owners.length > 1)
    throw refused(attributes, `node ${quote(node)} can only create pods with a single owner reference set to itself`)
  const [owner] = owners
  if (owner === undefined)
    throw refused(attributes, `node ${quote(node)} can only create pods with an owner reference set to itself`)
  if (owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw refused(attributes, `node ${quote(node)} can only create pods with an owner reference set to itself`)
  if (owner.controller !== true)
    throw refused(
      attributes,
      `node ${quote(node)} can only create pods with a controller owner reference set to itself`,
    )
  if (owner.blockOwnerDeletion === true)
    throw refused(attributes, `node ${quote(node)} must not set blockOwnerDeletion on an owner reference`)
  const self = reads.get<Node>('', 'nodes', '', node)
  if (self === undefined) throw notFound({ group: '', resource: 'nodes' }, node)
  if (owner.uid !== self.metadata.uid)
    throw refused(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${self.metadata.uid}`)
  if (spec.serviceAccountName)
    throw refused(attributes, `node ${quote(node)} can not create pods that reference a service account`)
  const referenced = referencedKinds(spec)
  for (const [kind, text] of [
    ['secret', 'secrets'],
    ['configMap', 'configmaps'],
    ['persistentVolumeClaim', 'persistentvolumeclaims'],
    ['resourceClaims', 'resourceclaims'],
  ] as const)
    if (referenced.has(kind))
      throw refused(attributes, `node ${quote(node)} can not create pods that reference ${text}`)
}

function podStatus(attributes: AdmissionAttributes, node: string): void {
  const { operation } = attributes
  const object: Pod | undefined = attributes.object
  const oldObject: Pod | undefined = attributes.oldObject
  if (operation !== 'UPDATE') throw refused(attributes, `unexpected operation ${quote(operation)}`)
  if (oldObject?.spec?.nodeName !== node)
    throw refused(
      attributes,
      `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`,
    )
  if (!same(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {}))
    throw refused(attributes, `node ${quote(node)} cannot update labels through pod status`)
  if (!same(object?.status?.resourceClaimStatuses ?? [], oldObject?.status?.resourceClaimStatuses ?? []))
    throw refused(attributes, `node ${quote(node)} cannot update resource claim statues`)
  if (!same(object?.status?.extendedResourceClaimStatus ?? {}, oldObject?.status?.extendedResourceClaimStatus ?? {}))
    throw refused(attributes, `node ${quote(node)} cannot update extended resource claim statuses`)
}

function podEviction(attributes: AdmissionAttributes, node: string, reads: CacheReads): void {
  if (attributes.operation !== 'CREATE') throw refused(attributes, `unexpected operation ${attributes.operation}`)
  const name = attributes.name !== '' ? attributes.name : (attributes.object?.metadata.name ?? '')
  if (name === '') throw refused(attributes, `could not determine pod from request data`)
  const pod: Pod | undefined = podOf(reads, { ...attributes, name })
  if (pod === undefined) throw podNotFound(name)
  if (pod.spec?.nodeName !== node)
    throw refused(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`)
}

/** The lister's own words. */
const podNotFound = (name: string) =>
  new StatusError(404, 'NotFound', `pod ${quote(name)} not found`, { name, kind: 'pod' })

const KUBELET_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
])
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const RESTRICTED = 'node-restriction.kubernetes.io'

const inDomain = (namespace: string, domain: string) => namespace === domain || namespace.endsWith(`.${domain}`)
const namespaceOf = (label: string) => (label.includes('/') ? (label.split('/')[0] as string) : '')
const isReserved = (label: string) => inDomain(namespaceOf(label), RESTRICTED)
const isKubernetes = (label: string) =>
  inDomain(namespaceOf(label), 'kubernetes.io') || inDomain(namespaceOf(label), 'k8s.io')
const mayBeSet = (label: string) =>
  KUBELET_LABELS.has(label) || KUBELET_DOMAINS.some((domain) => inDomain(namespaceOf(label), domain))

function nodes(attributes: AdmissionAttributes, node: string): void {
  const { operation, name } = attributes
  const object: Node | undefined = attributes.object
  const oldObject: Node | undefined = attributes.oldObject
  const requested = operation === 'CREATE' ? (object?.metadata.name ?? '') : name
  if (requested !== node)
    throw refused(attributes, `node ${quote(node)} is not allowed to modify node ${quote(requested)}`)
  if (operation === 'CREATE' && object !== undefined) {
    if (object.spec?.configSource)
      throw refused(attributes, `node ${quote(node)} is not allowed to create pods with a non-nil configSource`)
    forbidLabels(attributes, node, modified(object, undefined))
  }
  if (operation === 'UPDATE' && object !== undefined && oldObject !== undefined) {
    if (object.spec?.configSource && !same(object.spec?.configSource, oldObject.spec?.configSource))
      throw refused(
        attributes,
        `node ${quote(node)} is not allowed to update configSource to a new non-nil configSource`,
      )
    if (!same(object.spec?.taints ?? [], oldObject.spec?.taints ?? []))
      throw refused(attributes, `node ${quote(node)} is not allowed to modify taints`)
    if (!same(object.metadata.ownerReferences ?? [], oldObject.metadata.ownerReferences ?? []))
      throw refused(attributes, `node ${quote(node)} is not allowed to modify ownerReferences`)
    forbidLabels(attributes, node, modified(object, oldObject))
  }
}

/** Labels that were added, changed or taken away. */
function modified(object: Node, old: KubeObject | undefined): readonly string[] {
  const now = object.metadata.labels ?? {}
  const before = old?.metadata.labels ?? {}
  const keys = new Set([...Object.keys(now), ...Object.keys(before)])
  const value = (labels: Readonly<Record<string, string>>, key: string) =>
    Object.hasOwn(labels, key) ? labels[key] : undefined
  return [...keys].filter((key) => value(now, key) !== value(before, key)).sort()
}

function forbidLabels(attributes: AdmissionAttributes, node: string, labels: readonly string[]): void {
  const forbidden = labels.filter((label) => isReserved(label) || (isKubernetes(label) && !mayBeSet(label)))
  if (forbidden.length === 0) return
  const names = forbidden.join(', ')
  if (attributes.operation === 'CREATE')
    throw refused(attributes, `node ${quote(node)} is not allowed to set the following labels: ${names}`)
  throw refused(attributes, `is not allowed to modify labels: ${names}`)
}

const serviceAccounts: Rule = (attributes, node, reads, authorizer) => {
  if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return
  const request: Given<TokenRequest> | undefined = attributes.object
  const ref = request?.spec?.boundObjectRef
  if (ref?.apiVersion !== 'v1' || ref.kind !== 'Pod' || !ref.name)
    throw refused(attributes, 'node requested token not bound to a pod')
  if (!ref.uid) throw refused(attributes, 'node requested token with a pod binding without a uid')
  const pod = reads.get<Pod>('', 'pods', attributes.namespace, ref.name)
  if (pod === undefined) throw podNotFound(ref.name)
  if (ref.uid !== pod.metadata.uid)
    throw refused(
      attributes,
      `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (pod.spec?.nodeName !== node)
    throw refused(attributes, 'node requested token bound to a pod scheduled on a different node')
  return checkAudience(attributes, pod, reads, authorizer)
}

function claims(attributes: AdmissionAttributes, node: string): void {
  const { operation, subresource, object, oldObject } = attributes
  if (subresource !== 'status') throw refused(attributes, `may only update PVC status`)
  if (operation !== 'UPDATE') throw refused(attributes, `unexpected operation ${quote(operation)}`)
  const pruned = ({ status, metadata, ...rest }: Partial<PersistentVolumeClaim> = {}) => {
    const { managedFields: _m, resourceVersion: _r, ...meta } = metadata ?? {}
    const {
      capacity: _c,
      conditions: _d,
      allocatedResources: _a,
      allocatedResourceStatuses: _s,
      currentVolumeAttributesClassName: _v,
      modifyVolumeStatus: _y,
      ...others
    } = status ?? {}
    return { ...rest, meta, others }
  }
  if (!same(pruned(object), pruned(oldObject)))
    throw refused(
      attributes,
      `node ${quote(node)} is not allowed to update fields other than status.capacity and status.conditions`,
    )
}

function leases(attributes: AdmissionAttributes, node: string): void {
  const { namespace, operation, object, name } = attributes
  if (namespace !== 'kube-node-lease')
    throw refused(attributes, `can only access leases in the "kube-node-lease" system namespace`)
  const requested = operation === 'CREATE' ? object?.metadata.name : name
  if (requested !== node)
    throw refused(attributes, 'can only access node lease with the same name as the requesting node')
}

function csiNodes(attributes: AdmissionAttributes, node: string): void {
  const { operation, object, name } = attributes
  const requested = operation === 'CREATE' ? object?.metadata.name : name
  if (requested !== node) throw refused(attributes, 'can only access CSINode with the same name as the requesting node')
}

function resourceSlices(attributes: AdmissionAttributes, node: string): void {
  const { operation, object, oldObject } = attributes
  const slice: Given<ResourceSlice> | undefined = operation === 'DELETE' ? oldObject : object
  if (operation === 'UPDATE' || slice?.spec?.nodeName === node) return
  throw refused(
    attributes,
    `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
  )
}

const rules: Readonly<Record<string, Rule>> = {
  '/pods': pods,
  '/nodes': nodes,
  '/persistentvolumeclaims': claims,
  '/serviceaccounts': serviceAccounts,
  'coordination.k8s.io/leases': leases,
  'storage.k8s.io/csinodes': csiNodes,
  'resource.k8s.io/resourceslices': resourceSlices,
}
