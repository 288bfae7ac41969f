/** Rows of networking, storage, policy and what configures the cluster. */
import type { Fields, KubeObject } from '../../../api/object.ts'
import { age, firstFew, formatSelector, humanDuration, NONE, UNSET } from './format.ts'
import type { Printer } from './printer.ts'

const list = (value: unknown): readonly Fields[] => (value ?? []) as readonly Fields[]
const name = (object: KubeObject): string => object.metadata.name ?? ''
const created = (object: KubeObject, nowMs: number): string => age(object.metadata.creationTimestamp, nowMs)

function ingressHosts(ingress: KubeObject): string {
  const hosts = list(ingress['spec']?.rules)
    .map((rule) => rule['host'])
    .filter((host): host is string => Boolean(host))
  return hosts.length === 0 ? '*' : firstFew(hosts, 3)
}

function ingressAddress(ingress: KubeObject): string {
  return list(ingress['status']?.loadBalancer?.ingress)
    .map((entry) => entry['ip'] || entry['hostname'] || '')
    .filter((address) => address !== '')
    .join(',')
}

function bindingSubjects(binding: KubeObject): readonly [users: string, groups: string, accounts: string] {
  const of = (kind: string, text: (subject: Fields) => string) =>
    list(binding['subjects'])
      .filter((subject) => subject['kind'] === kind)
      .map(text)
      .join(', ')
  return [
    of('User', (subject) => subject['name']),
    of('Group', (subject) => subject['name']),
    of('ServiceAccount', (subject) => `${subject['namespace'] ?? ''}/${subject['name']}`),
  ]
}

const printBinding: Printer = (o, now) => [
  name(o),
  `${o['roleRef']?.kind}/${o['roleRef']?.name}`,
  created(o, now),
  ...bindingSubjects(o),
]

const nameAndTime: Printer = (o) => [name(o), o.metadata.creationTimestamp ?? null]
const nameAndAge: Printer = (o, now) => [name(o), created(o, now)]

function certificateCondition(request: KubeObject): string {
  const conditions = list(request['status']?.conditions)
  const has = (type: string) => conditions.some((condition) => condition['type'] === type)
  const words: string[] = []
  if (has('Approved') && !has('Denied')) words.push('Approved')
  if (has('Denied')) words.push('Denied')
  if (has('Failed')) words.push('Failed')
  if (request['status']?.certificate) words.push('Issued')
  return words.length === 0 ? 'Pending' : words.join(',')
}

function serviceAvailable(service: KubeObject): string {
  const condition = list(service['status']?.conditions).find((candidate) => candidate['type'] === 'Available')
  if (condition === undefined) return 'Unknown'
  return condition['status'] === 'True' ? 'True' : `${condition['status']} (${condition['reason']})`
}

function flowSchemaDangling(schema: KubeObject): string {
  const condition = list(schema['status']?.conditions).find((candidate) => candidate['type'] === 'Dangling')
  return condition?.['status'] ?? '?'
}

const versionsOf = (definition: KubeObject): string =>
  list(definition['spec']?.versions)
    .map((version) => `${version['name']}${version['storage'] ? '(storage)' : ''}`)
    .join(',')

function claimState(claim: KubeObject): string {
  const status: Fields = claim['status'] ?? {}
  const words: string[] = []
  if (claim.metadata.deletionTimestamp) words.push('deleted')
  if (status['allocation'] === undefined) {
    if (words.length === 0) words.push('pending')
  } else {
    words.push('allocated')
    if (list(status['reservedFor']).length > 0) words.push('reserved')
  }
  return words.join(',')
}

const paramKind = (kind: Fields | undefined): string => (kind ? `${kind['apiVersion']}/${kind['kind']}` : UNSET)
const paramRef = (ref: Fields | undefined): string =>
  ref === undefined
    ? UNSET
    : ref['selector']
      ? formatSelector(ref['selector'])
      : ref['namespace']
        ? `${ref['namespace']}/${ref['name']}`
        : ref['name']

const queuing = (level: KubeObject, field: string) => level['spec']?.limited?.limitResponse?.queuing?.[field] ?? NONE

export const clusterPrinters: Readonly<Record<string, Printer>> = {
  'networking.k8s.io/ingresses': (o, now) => [
    name(o),
    o['spec']?.ingressClassName ?? NONE,
    ingressHosts(o),
    ingressAddress(o),
    list(o['spec']?.tls).length > 0 ? '80, 443' : '80',
    created(o, now),
  ],
  'networking.k8s.io/ingressclasses': (o, now) => {
    const parameters: Fields | undefined = o['spec']?.parameters
    const group = parameters?.['apiGroup']
    return [
      name(o),
      o['spec']?.controller ?? '',
      parameters ? `${parameters['kind']}${group ? `.${group}` : ''}/${parameters['name']}` : NONE,
      created(o, now),
    ]
  },
  'networking.k8s.io/networkpolicies': (o, now) => [
    name(o),
    formatPodSelector(o['spec']?.podSelector),
    created(o, now),
  ],
  'networking.k8s.io/ipaddresses': (o, now) => {
    const ref: Fields = o['spec']?.parentRef ?? {}
    const group = ref['group'] ? `${ref['group']}/` : ''
    const namespace = ref['namespace'] ? `${ref['namespace']}/` : ''
    return [name(o), `${group}${ref['resource']}/${namespace}${ref['name']}`, created(o, now)]
  },
  'networking.k8s.io/servicecidrs': (o, now) => [name(o), (o['spec']?.cidrs ?? []).join(','), created(o, now)],
  'rbac.authorization.k8s.io/roles': nameAndTime,
  'rbac.authorization.k8s.io/clusterroles': nameAndTime,
  'rbac.authorization.k8s.io/rolebindings': printBinding,
  'rbac.authorization.k8s.io/clusterrolebindings': printBinding,
  'storage.k8s.io/storageclasses': (o, now) => [
    isDefaultClass(o) ? `${name(o)} (default)` : name(o),
    o['provisioner'] ?? '',
    o['reclaimPolicy'] ?? 'Delete',
    o['volumeBindingMode'] ?? UNSET,
    o['allowVolumeExpansion'] ?? false,
    created(o, now),
  ],
  'storage.k8s.io/volumeattributesclasses': (o, now) => [
    isDefaultClass(o) ? `${name(o)} (default)` : name(o),
    o['driverName'] ?? '',
    created(o, now),
  ],
  'storage.k8s.io/volumeattachments': (o, now) => [
    name(o),
    o['spec']?.attacher ?? '',
    o['spec']?.source?.persistentVolumeName ?? '',
    o['spec']?.nodeName ?? '',
    o['status']?.attached ?? false,
    created(o, now),
  ],
  'storage.k8s.io/csidrivers': (o, now) => {
    const spec: Fields = o['spec'] ?? {}
    const audiences = list(spec['tokenRequests']).map((request) => request['audience'] ?? '')
    return [
      name(o),
      spec['attachRequired'] ?? true,
      spec['podInfoOnMount'] ?? false,
      spec['storageCapacity'] ?? false,
      audiences.length ? audiences.join(',') : UNSET,
      spec['requiresRepublish'] ?? false,
      (spec['volumeLifecycleModes'] ?? []).join(',') || NONE,
      created(o, now),
    ]
  },
  'storage.k8s.io/csinodes': (o, now) => [name(o), list(o['spec']?.drivers).length, created(o, now)],
  'storage.k8s.io/csistoragecapacities': nameAndTime,
  'scheduling.k8s.io/priorityclasses': (o, now) => [
    name(o),
    o['value'] ?? 0,
    o['globalDefault'] ?? false,
    created(o, now),
    o['preemptionPolicy'] ?? UNSET,
  ],
  'node.k8s.io/runtimeclasses': (o, now) => [name(o), o['handler'] ?? '', created(o, now)],
  'certificates.k8s.io/certificatesigningrequests': (o, now) => {
    const seconds: number | undefined = o['spec']?.expirationSeconds
    return [
      name(o),
      created(o, now),
      o['spec']?.signerName || NONE,
      o['spec']?.username ?? '',
      seconds === undefined ? NONE : humanDuration(seconds * 1000),
      certificateCondition(o),
    ]
  },
  'certificates.k8s.io/clustertrustbundles': (o) => [name(o), o['spec']?.signerName || NONE],
  'certificates.k8s.io/podcertificaterequests': (o, now) => {
    const spec: Fields = o['spec'] ?? {}
    const last = list(o['status']?.conditions).find((condition) => condition['status'] === 'True')
    return [
      name(o),
      spec['podName'] ?? '',
      spec['serviceAccountName'] ?? '',
      spec['nodeName'] ?? '',
      spec['signerName'] ?? '',
      last?.['type'] ?? 'Pending',
      created(o, now),
    ]
  },
  'apiregistration.k8s.io/apiservices': (o, now) => {
    const service: Fields | undefined = o['spec']?.service
    return [
      name(o),
      service ? `${service['namespace']}/${service['name']}` : 'Local',
      serviceAvailable(o),
      created(o, now),
    ]
  },
  'apiextensions.k8s.io/customresourcedefinitions': (o) => [
    name(o),
    o['spec']?.scope ?? '',
    versionsOf(o),
    o.metadata.creationTimestamp ?? null,
    o['spec']?.group ?? '',
    o['spec']?.names?.kind ?? '',
    (o['spec']?.names?.shortNames ?? []).join(','),
    list(o['status']?.conditions).some(
      (condition) => condition['type'] === 'Established' && condition['status'] === 'True',
    ),
  ],
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': (o, now) => [
    name(o),
    list(o['webhooks']).length,
    created(o, now),
  ],
  'admissionregistration.k8s.io/validatingwebhookconfigurations': (o, now) => [
    name(o),
    list(o['webhooks']).length,
    created(o, now),
  ],
  'admissionregistration.k8s.io/validatingadmissionpolicies': (o, now) => [
    name(o),
    list(o['spec']?.validations).length,
    paramKind(o['spec']?.paramKind),
    created(o, now),
  ],
  'admissionregistration.k8s.io/mutatingadmissionpolicies': (o, now) => [
    name(o),
    list(o['spec']?.mutations).length,
    paramKind(o['spec']?.paramKind),
    created(o, now),
  ],
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': (o, now) => [
    name(o),
    o['spec']?.policyName ?? '',
    paramRef(o['spec']?.paramRef),
    created(o, now),
  ],
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': (o, now) => [
    name(o),
    o['spec']?.policyName ?? '',
    paramRef(o['spec']?.paramRef),
    created(o, now),
  ],
  'flowcontrol.apiserver.k8s.io/flowschemas': (o, now) => [
    name(o),
    o['spec']?.priorityLevelConfiguration?.name ?? '',
    o['spec']?.matchingPrecedence ?? 0,
    o['spec']?.distinguisherMethod?.type ?? NONE,
    created(o, now),
    flowSchemaDangling(o),
  ],
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': (o, now) => [
    name(o),
    o['spec']?.type ?? '',
    (o['spec']?.limited ?? o['spec']?.exempt)?.nominalConcurrencyShares ?? NONE,
    queuing(o, 'queues'),
    queuing(o, 'handSize'),
    queuing(o, 'queueLengthLimit'),
    created(o, now),
  ],
  'resource.k8s.io/deviceclasses': nameAndAge,
  'resource.k8s.io/resourceclaimtemplates': nameAndAge,
  'resource.k8s.io/resourceclaims': (o, now) => [name(o), claimState(o), created(o, now)],
  'resource.k8s.io/resourceslices': (o, now) => [
    name(o),
    o['spec']?.nodeName ?? (o['spec']?.allNodes ? '*' : NONE),
    o['spec']?.driver ?? '',
    o['spec']?.pool?.name ?? '',
    created(o, now),
  ],
  'resource.k8s.io/devicetaintrules': (o, now) => {
    const taint: Fields = o['spec']?.taint ?? {}
    return [
      name(o),
      taint['key'] ?? '',
      taint['value'] ?? '',
      taint['effect'] ?? '',
      age(taint['timeAdded'], now),
      created(o, now),
    ]
  },
  'storagemigration.k8s.io/storageversionmigrations': (o) => {
    const resource: Fields = o['spec']?.resource ?? {}
    const condition = list(o['status']?.conditions).find((candidate) => candidate['status'] === 'True')
    return [
      name(o),
      resource['group'] ? `${resource['resource']}.${resource['group']}` : (resource['resource'] ?? ''),
      condition?.['type'] ?? 'Unknown',
    ]
  },
}

/** A network policy's selector: `a=b,z`. */
const formatPodSelector = (selector: Fields | undefined): string => formatSelector(selector)

function isDefaultClass(object: KubeObject): boolean {
  const annotations = object.metadata.annotations ?? {}
  return (
    annotations['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations['storageclass.beta.kubernetes.io/is-default-class'] === 'true' ||
    annotations['volumeattributesclass.kubernetes.io/is-default-class'] === 'true'
  )
}
