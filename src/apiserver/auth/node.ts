/**
 * The Node authorizer (API concept: node authorization): a kubelet (user system:node:NAME in group system:nodes) may read
 * and write only what its node and the pods bound to it need. What no rule here speaks of is decided by the rules of the
 * role system:node, without any binding.
 */

import type {
  ClusterRole,
  PersistentVolumeClaim,
  Pod,
  PodCertificateRequest,
  ResourceSlice,
  Volume,
  VolumeAttachment,
} from '../../api/generated/types.ts'
import type { Given, KubeObject } from '../../api/object.ts'
import { refersToConfigMap, refersToSecret } from '../../api/objects/pod-references.ts'
import type { CacheReads } from '../reads.ts'
import { type Attributes, type Authorizer, type Decision, noOpinion } from './authorizer.ts'
import { ruleAllows } from './rbac.ts'

const PREFIX = 'system:node:'
const LEASES = 'kube-node-lease'

const allow: Decision = { verdict: 'allow', reason: '' }
const refuse = (reason: string): Decision => ({ verdict: 'no opinion', reason })

export interface NodeReads {
  get: CacheReads['get']
  /** In any order. An iterable, since a node has many and callers stop at the first that fits. */
  podsOnNode(node: string): Iterable<KubeObject>
}

function somePod(pods: Iterable<KubeObject>, fits: (pod: KubeObject) => boolean): boolean {
  for (const pod of pods) if (fits(pod)) return true
  return false
}

/** The node a user speaks for; undefined when it is no node. '' when the name is missing. */
export function nodeNameOfUser(user: { name: string; groups: readonly string[] }): string | undefined {
  return user.name.startsWith(PREFIX) && user.groups.includes('system:nodes')
    ? user.name.slice(PREFIX.length)
    : undefined
}

export function createNodeAuthorizer(reads: NodeReads): Authorizer {
  return {
    authorize: (attributes) => {
      const node = nodeNameOfUser(attributes.user)
      if (node === undefined) return noOpinion
      if (node === '') return refuse(`unknown node for user ${JSON.stringify(attributes.user.name)}`)
      const special = attributes.isResource ? rules[`${attributes.group}/${attributes.resource}`] : undefined
      return special?.(attributes, node, reads) ?? byRole(attributes, reads)
    },
  }
}

function byRole(attributes: Attributes, reads: NodeReads): Decision {
  const role = reads.get<ClusterRole>('rbac.authorization.k8s.io', 'clusterroles', '', 'system:node')
  const allowed = (role?.rules ?? []).some((rule) => ruleAllows(rule, attributes))
  return allowed ? allow : noOpinion
}

/** undefined: the role's rules decide. */
type NodeRule = (attributes: Attributes, node: string, reads: NodeReads) => Decision | undefined

type Related = (attributes: Attributes, node: string, reads: NodeReads) => boolean

/** The check all the "individual object" rules end in: there is a name, and the graph leads from it to the node. */
function related(attributes: Attributes, node: string, reads: NodeReads, isRelated: Related): Decision {
  if (attributes.name === '') return refuse('No Object name found')
  return isRelated(attributes, node, reads)
    ? allow
    : refuse(`no relationship found between node '${node}' and this object`)
}

const isRead = (verb: string) => verb === 'get' || verb === 'list' || verb === 'watch'

function readNamespaced(isRelated: Related): NodeRule {
  return (attributes, node, reads) => {
    if (!isRead(attributes.verb)) return refuse('can only read resources of this type')
    if (attributes.subresource !== '') return refuse('cannot read subresource')
    if (attributes.namespace === '') return refuse('can only read namespaced object of this type')
    return related(attributes, node, reads, isRelated)
  }
}

function getIndividual(isRelated: Related): NodeRule {
  return (attributes, node, reads) => {
    if (attributes.verb !== 'get') return refuse('can only get individual resources of this type')
    if (attributes.subresource !== '') return refuse('cannot get subresource')
    return related(attributes, node, reads, isRelated)
  }
}

/** Some pod of the node, in the request's namespace, says so. */
function byPod(matches: (pod: Pod, name: string, reads: NodeReads) => boolean): Related {
  return (attributes, node, reads) =>
    somePod(
      reads.podsOnNode(node),
      (pod) => pod.metadata.namespace === attributes.namespace && matches(pod, attributes.name, reads),
    )
}

const volumes = (pod: Pod): readonly Volume[] => pod.spec?.volumes ?? []

const usesSecret = byPod(refersToSecret)
const usesConfigMap = byPod(refersToConfigMap)

const claimNames = (pod: Pod): readonly string[] =>
  volumes(pod).flatMap((volume) =>
    volume.persistentVolumeClaim
      ? [volume.persistentVolumeClaim.claimName]
      : volume.ephemeral
        ? [`${pod.metadata.name}-${volume.name}`]
        : [],
  )

const usesClaim = byPod((pod, name) => claimNames(pod).includes(name))
const runsAs = byPod((pod, name) => pod.spec?.serviceAccountName === name)
const usesResourceClaim = byPod((pod, name) =>
  (pod.status?.resourceClaimStatuses ?? [])
    .map((status) => status.resourceClaimName)
    .concat((pod.spec?.resourceClaims ?? []).map((claim) => claim.resourceClaimName))
    .includes(name),
)

const usesVolume: Related = (attributes, node, reads) =>
  somePod(reads.podsOnNode(node), (pod) =>
    claimNames(pod).some(
      (claim) =>
        reads.get<PersistentVolumeClaim>('', 'persistentvolumeclaims', pod.metadata.namespace ?? '', claim)?.spec
          ?.volumeName === attributes.name,
    ),
  )

/** Objects that name their node themselves. */
const ofNode =
  (group: string, resource: string, nodeName: (object: KubeObject) => unknown): Related =>
  (attributes, node, reads) => {
    const object = reads.get(group, resource, attributes.namespace, attributes.name)
    return object !== undefined && nodeName(object) === node
  }

function selectsNode(attributes: Attributes, field: string, node: string): boolean {
  return (attributes.fieldSelector ?? '')
    .split(',')
    .some((term) => term === `${field}=${node}` || term === `${field}==${node}`)
}

const nodes: NodeRule = (attributes, node) => {
  if (!isRead(attributes.verb) || attributes.subresource !== '') return undefined
  if (attributes.name === node || selectsNode(attributes, 'metadata.name', node)) return allow
  return refuse(
    attributes.name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${attributes.name}', only its own Node object`,
  )
}

const pods: NodeRule = (attributes, node, reads) => {
  if (attributes.subresource !== '') return undefined
  const onNode: Related = byPod((pod, name) => pod.metadata.name === name)
  switch (attributes.verb) {
    case 'get':
      return related(attributes, node, reads, onNode)
    case 'list':
    case 'watch':
      if (selectsNode(attributes, 'spec.nodeName', node)) return allow
      return attributes.name === ''
        ? refuse('can only list/watch pods with spec.nodeName field selector')
        : related(attributes, node, reads, onNode)
    default:
      return undefined
  }
}

const claims: NodeRule = (attributes, node, reads) => {
  if (attributes.subresource === 'status')
    return ['get', 'update', 'patch'].includes(attributes.verb)
      ? related(attributes, node, reads, usesClaim)
      : refuse('can only get/update/patch this type')
  return getIndividual(usesClaim)(attributes, node, reads)
}

const serviceAccounts: NodeRule = (attributes, node, reads) => {
  if (attributes.verb === 'get' && attributes.subresource === '')
    return attributes.namespace === ''
      ? refuse('can only read namespaced object of this type')
      : related(attributes, node, reads, runsAs)
  if (attributes.verb !== 'create' || attributes.name === '')
    return refuse('can only create tokens for individual service accounts')
  if (attributes.subresource !== 'token') return refuse('can only create token subresource of serviceaccount')
  return related(attributes, node, reads, runsAs)
}

const leases: NodeRule = (attributes, node) => {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(attributes.verb))
    return refuse('can only get, create, update, patch, or delete a node lease')
  if (attributes.namespace !== LEASES) return refuse(`can only access leases in the "${LEASES}" system namespace`)
  if (attributes.verb !== 'create' && attributes.name !== node)
    return refuse('can only access node lease with the same name as the requesting node')
  return allow
}

const csiNodes: NodeRule = (attributes, node) => {
  if (!['get', 'create', 'update', 'patch', 'delete'].includes(attributes.verb))
    return refuse('can only get, create, update, patch, or delete a CSINode')
  if (attributes.subresource !== '') return refuse('cannot authorize CSINode subresources')
  if (attributes.verb !== 'create' && attributes.name !== node)
    return refuse('can only access CSINode with the same name as the requesting node')
  return allow
}

const resourceSlices: NodeRule = (attributes, node, reads) => {
  if (attributes.subresource !== '') return refuse('cannot authorize ResourceSlice subresources')
  const own = ofNode('resource.k8s.io', 'resourceslices', (slice: Given<ResourceSlice>) => slice.spec?.nodeName)
  switch (attributes.verb) {
    case 'create':
      return allow
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related(attributes, node, reads, own)
    default:
      return selectsNode(attributes, 'spec.nodeName', node)
        ? allow
        : refuse('can only list/watch/deletecollection resourceslices with nodeName field selector')
  }
}

const podCertificateRequests: NodeRule = (attributes, node, reads) => {
  const own = ofNode(
    'certificates.k8s.io',
    'podcertificaterequests',
    (request: Given<PodCertificateRequest>) => request.spec?.nodeName,
  )
  switch (attributes.verb) {
    case 'create':
      return allow
    case 'get':
      return related(attributes, node, reads, own)
    case 'list':
    case 'watch':
      return selectsNode(attributes, 'spec.nodeName', node)
        ? allow
        : refuse('can only list/watch podcertificaterequests with nodeName field selector')
    default:
      return refuse(`nodes may not ${attributes.verb} podcertificaterequests`)
  }
}

const rules: Readonly<Record<string, NodeRule>> = {
  '/nodes': nodes,
  '/pods': pods,
  '/secrets': readNamespaced(usesSecret),
  '/configmaps': readNamespaced(usesConfigMap),
  '/serviceaccounts': serviceAccounts,
  '/persistentvolumeclaims': claims,
  '/persistentvolumes': getIndividual(usesVolume),
  'storage.k8s.io/volumeattachments': getIndividual(
    ofNode('storage.k8s.io', 'volumeattachments', (attachment: Given<VolumeAttachment>) => attachment.spec?.nodeName),
  ),
  'resource.k8s.io/resourceclaims': getIndividual(usesResourceClaim),
  'resource.k8s.io/resourceslices': resourceSlices,
  'storage.k8s.io/csinodes': csiNodes,
  'coordination.k8s.io/leases': leases,
  'certificates.k8s.io/podcertificaterequests': podCertificateRequests,
}
