/** What is accepted of services, volumes, claims, classes and the like, but told to the user: deprecated, or without effect. */
import type {
  CSIDriver,
  Ingress,
  NetworkPolicy,
  Node,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  ResourceSlice,
  Service,
  ServiceSpec,
  StatefulSet,
  VolumeResourceRequirements,
} from '../generated/types.ts'
import type { Fields, Given, KubeObject } from '../object.ts'
import { canonicalIP, withoutLeadingZeros } from '../values/ip.ts'
import { isWholeInThousandths } from '../values/quantity.ts'
import { entries } from './common.ts'

/** Labels of nodes that have newer names. */
export const NODE_LABELS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}

/** Volumes whose drivers are going or gone. */
export const OLD_VOLUMES: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}

export const isBytes = (name: string): boolean =>
  name === 'memory' || name === 'ephemeral-storage' || name === 'storage'

export const fractional = (path: string, text: string): string =>
  `${path}: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`

/** The deprecated node labels that a selector term's expressions name. */
export function termWarnings(term: Fields | undefined, path: string): readonly string[] {
  return (term?.['matchExpressions'] ?? []).flatMap(({ key = '' }: Fields, i: number) =>
    Object.hasOwn(NODE_LABELS, key) ? [`${path}.matchExpressions[${i}].key: ${key} is ${NODE_LABELS[key]}`] : [],
  )
}

/** An address of a field that is not judged strictly. */
export function addressWarnings(text: string, path: string): readonly string[] {
  const canonical = canonicalIP(withoutLeadingZeros(text))
  if (canonical === undefined || canonical === text) return []
  return canonical.includes(':')
    ? [`${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format ("${canonical}")`]
    : [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use "${canonical}"`]
}

/** A network whose address is not written as it should be. */
export function networkWarnings(text: string, path: string): readonly string[] {
  const [address = '', length = ''] = text.split('/')
  const canonical = canonicalIP(address)
  if (canonical === undefined || canonical === address || !canonical.includes(':')) return []
  return [
    `${path}: IPv6 CIDR value ${JSON.stringify(text)} should be in RFC 5952 canonical format ("${canonical}/${length}")`,
  ]
}

export function nodeWarnings(node: Node): readonly string[] {
  const cidrs: readonly string[] = node.spec?.podCIDRs ?? []
  return [
    ...(node.spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...cidrs.flatMap((text, i) => networkWarnings(text, `spec.podCIDRs[${i}]`)),
  ]
}

export function networkPolicyWarnings(policy: NetworkPolicy): readonly string[] {
  const rules = (field: string, side: string): readonly string[] =>
    ((policy.spec as Fields)?.[field] ?? []).flatMap((rule: Fields, i: number) =>
      (rule[side] ?? []).flatMap(({ ipBlock }: Fields, j: number) => {
        const path = `spec.${field}[${i}].${side}[${j}].ipBlock`
        const except: readonly string[] = ipBlock?.except ?? []
        return [
          ...networkWarnings(ipBlock?.cidr ?? '', `${path}.cidr`),
          ...except.flatMap((text, k) => networkWarnings(text, `${path}.except[${k}]`)),
        ]
      }),
    )
  return [...rules('ingress', 'from'), ...rules('egress', 'to')]
}

export function serviceWarnings(service: Service): readonly string[] {
  const spec: ServiceSpec = service.spec ?? {}
  const warnings: string[] = []
  const external: readonly string[] = spec.externalIPs ?? []
  if (spec.type !== 'ExternalName' && spec.clusterIP === 'None') {
    if (spec.loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services')
    if (external.length > 0) warnings.push('spec.externalIPs is ignored for headless services')
    if (spec.sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services')
  } else {
    const each = (list: readonly string[] | undefined, path: string, judge: typeof addressWarnings) =>
      warnings.push(...(list ?? []).flatMap((text, i) => judge(text, `${path}[${i}]`)))
    each(spec.clusterIPs, 'spec.clusterIPs', addressWarnings)
    each(external, 'spec.externalIPs', addressWarnings)
    if (external.length > 0)
      warnings.push(
        spec.type === 'ExternalName'
          ? 'spec.externalIPs is ignored when spec.type is "ExternalName"'
          : 'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
      )
    if (spec.loadBalancerIP) warnings.push(...addressWarnings(spec.loadBalancerIP, 'spec.loadBalancerIP'))
    each(spec.loadBalancerSourceRanges, 'spec.loadBalancerSourceRanges', networkWarnings)
  }
  if (spec.externalName && spec.type !== 'ExternalName')
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (spec.trafficDistribution === 'PreferClose')
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  return warnings
}

/** Of a volume's kinds those that are told of, by the name that the message has. */
const OLD_PERSISTENT_VOLUMES: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'photonPersistentDisk',
  rbd: 'rbd',
  cephfs: 'cephfs',
  scaleIO: 'scaleIO',
  storageos: 'storageOS',
  glusterfs: 'glusterfs',
}

export function persistentVolumeWarnings(volume: PersistentVolume): readonly string[] {
  const spec: PersistentVolumeSpec = volume.spec ?? {}
  const terms: readonly NodeSelectorTerm[] = spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  return [
    ...(volume.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] === undefined
      ? []
      : [
          'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
        ]),
    ...(volume.metadata.annotations?.['volume.beta.kubernetes.io/mount-options'] === undefined
      ? []
      : [
          'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
        ]),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...terms.flatMap((term, i) => termWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`)),
    ...Object.entries(OLD_PERSISTENT_VOLUMES).flatMap(([kind, name]) =>
      (spec as Fields)[kind] === undefined ? [] : [`spec.${name}: ${OLD_VOLUMES[kind]}`],
    ),
  ]
}

export function claimWarnings(claim: PersistentVolumeClaim): readonly string[] {
  const annotations = claim.metadata.annotations ?? {}
  const resources: VolumeResourceRequirements = claim.spec?.resources ?? {}
  return [
    ...(Object.hasOwn(annotations, 'volume.beta.kubernetes.io/storage-class')
      ? [
          'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
        ]
      : []),
    ...storageWarnings(resources, 'spec.resources'),
  ]
}

function storageWarnings(resources: VolumeResourceRequirements | undefined, path: string): readonly string[] {
  return ['requests', 'limits'].flatMap((side) => {
    const text: string | undefined = (resources as Fields)?.[side]?.storage
    return text === undefined || isWholeInThousandths(text) ? [] : [fractional(`${path}.${side}[storage]`, text)]
  })
}

/** Of a StatefulSet's claims; Kubernetes leaves their spec out of the path. */
export function claimTemplateWarnings(object: StatefulSet): readonly string[] {
  const claims: readonly PersistentVolumeClaim[] = object.spec?.volumeClaimTemplates ?? []
  return claims.flatMap((claim, i) =>
    storageWarnings(claim.spec?.resources, `spec.volumeClaimTemplates[${i}].resources`),
  )
}

export function storageClassWarnings(storageClass: KubeObject): readonly string[] {
  return (storageClass['allowedTopologies'] ?? []).flatMap((term: Fields, i: number) =>
    (term['matchLabelExpressions'] ?? []).flatMap(({ key = '' }: Fields, j: number) =>
      Object.hasOwn(NODE_LABELS, key)
        ? [`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${NODE_LABELS[key]}`]
        : [],
    ),
  )
}

export function storageCapacityWarnings(capacity: KubeObject): readonly string[] {
  const topology: Fields | undefined = capacity['nodeTopology']
  return [
    ...termWarnings(topology, 'nodeTopology'),
    ...entries(topology?.['matchLabels']).flatMap(([key]) =>
      Object.hasOwn(NODE_LABELS, key) ? [`nodeTopology.matchLabels.${key}: ${NODE_LABELS[key]}`] : [],
    ),
  ]
}

export function csiDriverWarnings(driver: Given<CSIDriver>): readonly string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = driver.spec ?? {}
  return tokenRequests.length > 0 && serviceAccountTokenInSecrets === undefined
    ? [
        'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
      ]
    : []
}

export function runtimeClassWarnings(runtimeClass: KubeObject): readonly string[] {
  return entries(runtimeClass['scheduling']?.nodeSelector).flatMap(([key]) =>
    Object.hasOwn(NODE_LABELS, key) ? [`scheduling.nodeSelector: ${NODE_LABELS[key]}`] : [],
  )
}

export function endpointSliceWarnings(slice: Given<ResourceSlice>): readonly string[] {
  return slice['addressType'] === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []
}

export function ingressWarnings(ingress: Ingress): readonly string[] {
  // With the class in both places the annotation is for older readers.
  return ingress.metadata.annotations?.['kubernetes.io/ingress.class'] === undefined ||
    ingress.spec?.ingressClassName !== undefined
    ? []
    : [`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`]
}
