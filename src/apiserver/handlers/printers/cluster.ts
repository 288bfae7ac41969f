/** Rows of networking, storage, policy and what configures the cluster. */
import type {
  APIService,
  CertificateSigningRequest,
  ClusterTrustBundle,
  CSIDriver,
  CSINode,
  CustomResourceDefinition,
  DeviceTaintRule,
  FlowSchema,
  Ingress,
  IngressClass,
  IPAddress,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  NetworkPolicy,
  ParamKind,
  ParamRef,
  PodCertificateRequest,
  PriorityClass,
  PriorityLevelConfiguration,
  QueuingConfiguration,
  RbacV1Subject,
  ResourceSlice,
  ResourceV1ResourceClaim,
  RoleBinding,
  RuntimeClass,
  ServiceCIDR,
  StorageClass,
  StorageVersionMigration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  VolumeAttachment,
  VolumeAttributesClass,
} from '../../../api/generated/types.ts'
import { goSelector } from '../../../api/objects/label-selector.ts'
import {
  age,
  firstFew,
  formatSelector,
  humanDuration,
  listOf,
  madeAt,
  NONE,
  objectAge,
  objectName,
  UNSET,
} from './format.ts'
import type { Cells, Printer } from './printer.ts'

function ingressHosts(ingress: Ingress): string {
  const hosts = listOf(ingress.spec?.rules)
    .map((rule) => rule.host)
    .filter((host): host is string => Boolean(host))
  return hosts.length === 0 ? '*' : firstFew(hosts, 3)
}

function ingressAddress(ingress: Ingress): string {
  return listOf(ingress.status?.loadBalancer?.ingress)
    .map((entry) => entry.ip || entry.hostname || '')
    .filter((address) => address !== '')
    .join(',')
}

function bindingSubjects(binding: RoleBinding): readonly [users: string, groups: string, accounts: string] {
  const of = (kind: string, text: (subject: RbacV1Subject) => string) =>
    listOf(binding.subjects)
      .filter((subject) => subject.kind === kind)
      .map(text)
      .join(', ')
  return [
    of('User', (subject) => subject.name),
    of('Group', (subject) => subject.name),
    of('ServiceAccount', (subject) => `${subject.namespace ?? ''}/${subject.name}`),
  ]
}

const printBinding = (o: RoleBinding, now: number): Cells => [
  objectName(o),
  `${o.roleRef?.kind}/${o.roleRef?.name}`,
  objectAge(o, now),
  ...bindingSubjects(o),
]

const nameAndTime: Printer = (o) => [objectName(o), madeAt(o)]
const nameAndAge: Printer = (o, now) => [objectName(o), objectAge(o, now)]

function certificateCondition(request: CertificateSigningRequest): string {
  const conditions = listOf(request.status?.conditions)
  const has = (type: string) => conditions.some((condition) => condition.type === type)
  const words: string[] = []
  if (has('Approved') && !has('Denied')) words.push('Approved')
  if (has('Denied')) words.push('Denied')
  if (has('Failed')) words.push('Failed')
  if (request.status?.certificate) words.push('Issued')
  return words.length === 0 ? 'Pending' : words.join(',')
}

function serviceAvailable(service: APIService): string {
  const condition = listOf(service.status?.conditions).find((candidate) => candidate.type === 'Available')
  if (condition === undefined) return 'Unknown'
  return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason})`
}

/** As requests meet them; those of one precedence stay in the order of their names. */
export const byPrecedence = (one: FlowSchema, other: FlowSchema): number =>
  (one.spec?.matchingPrecedence ?? 0) - (other.spec?.matchingPrecedence ?? 0)

function flowSchemaDangling(schema: FlowSchema): string {
  const condition = listOf(schema.status?.conditions).find((candidate) => candidate.type === 'Dangling')
  return condition?.status ?? '?'
}

const versionsOf = (definition: CustomResourceDefinition): string =>
  listOf(definition.spec?.versions)
    .map((version) => `${version.name}${version.storage ? '(storage)' : ''}`)
    .join(',')

function claimState(claim: ResourceV1ResourceClaim): string {
  const status = claim.status
  const words: string[] = []
  if (claim.metadata.deletionTimestamp) words.push('deleted')
  if (status?.allocation === undefined) {
    if (words.length === 0) words.push('pending')
  } else {
    words.push('allocated')
    if (listOf(status?.reservedFor).length > 0) words.push('reserved')
  }
  return words.join(',')
}

const paramKind = (kind: ParamKind | undefined): string => (kind ? `${kind.apiVersion}/${kind.kind}` : UNSET)
const paramRef = (ref: ParamRef | undefined): string =>
  ref === undefined
    ? UNSET
    : ref.selector
      ? goSelector(ref.selector)
      : ref.namespace
        ? `${ref.namespace}/${ref.name}`
        : `*/${ref.name ?? ''}`

const queuing = (level: PriorityLevelConfiguration, field: keyof QueuingConfiguration) =>
  level.spec?.limited?.limitResponse?.queuing?.[field] ?? NONE

export const clusterPrinters: Readonly<Record<string, Printer>> = {
  'networking.k8s.io/ingresses': (o: Ingress, now) => [
    objectName(o),
    o.spec?.ingressClassName ?? NONE,
    ingressHosts(o),
    ingressAddress(o),
    listOf(o.spec?.tls).length > 0 ? '80, 443' : '80',
    objectAge(o, now),
  ],
  'networking.k8s.io/ingressclasses': (o: IngressClass, now) => {
    const parameters = o.spec?.parameters
    const group = parameters?.apiGroup
    const isDefault = o.metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true'
    return [
      isDefault ? `${objectName(o)} (default)` : objectName(o),
      o.spec?.controller ?? '',
      parameters ? `${parameters.kind}${group ? `.${group}` : ''}/${parameters.name}` : NONE,
      objectAge(o, now),
    ]
  },
  'networking.k8s.io/networkpolicies': (o: NetworkPolicy, now) => [
    objectName(o),
    formatSelector(o.spec?.podSelector),
    objectAge(o, now),
  ],
  'networking.k8s.io/ipaddresses': (o: IPAddress, now) => {
    const ref = o.spec?.parentRef
    if (!ref) return [objectName(o), NONE, objectAge(o, now)]
    const group = ref.group ? `${ref.group}/` : ''
    const namespace = ref.namespace ? `${ref.namespace}/` : ''
    return [objectName(o), `${group}${ref.resource}/${namespace}${ref.name}`, objectAge(o, now)]
  },
  'networking.k8s.io/servicecidrs': (o: ServiceCIDR, now) => [
    objectName(o),
    (o.spec?.cidrs ?? []).join(','),
    objectAge(o, now),
  ],
  'rbac.authorization.k8s.io/roles': nameAndTime,
  'rbac.authorization.k8s.io/clusterroles': nameAndTime,
  'rbac.authorization.k8s.io/rolebindings': printBinding,
  'rbac.authorization.k8s.io/clusterrolebindings': printBinding,
  'storage.k8s.io/storageclasses': (o: StorageClass, now) => [
    objectName(o),
    o.provisioner ?? '',
    o.reclaimPolicy ?? 'Delete',
    o.volumeBindingMode ?? 'Immediate',
    o.allowVolumeExpansion ?? false,
    objectAge(o, now),
  ],
  'storage.k8s.io/volumeattributesclasses': (o: VolumeAttributesClass, now) => [
    objectName(o),
    o.driverName ?? '',
    objectAge(o, now),
  ],
  'storage.k8s.io/volumeattachments': (o: VolumeAttachment, now) => [
    objectName(o),
    o.spec?.attacher ?? '',
    o.spec?.source?.persistentVolumeName ?? '',
    o.spec?.nodeName ?? '',
    o.status?.attached ?? false,
    objectAge(o, now),
  ],
  'storage.k8s.io/csidrivers': (o: CSIDriver, now) => {
    const spec: Partial<typeof o.spec> = o.spec ?? {}
    const audiences = listOf(spec.tokenRequests).map((request) => request.audience ?? '')
    return [
      objectName(o),
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      audiences.length ? audiences.join(',') : UNSET,
      spec.requiresRepublish ?? false,
      (spec.volumeLifecycleModes ?? []).join(',') || NONE,
      objectAge(o, now),
    ]
  },
  'storage.k8s.io/csinodes': (o: CSINode, now) => [objectName(o), listOf(o.spec?.drivers).length, objectAge(o, now)],
  'storage.k8s.io/csistoragecapacities': nameAndTime,
  'scheduling.k8s.io/priorityclasses': (o: PriorityClass, now) => [
    objectName(o),
    o.value ?? 0,
    o.globalDefault ?? false,
    objectAge(o, now),
    o.preemptionPolicy ?? '',
  ],
  'node.k8s.io/runtimeclasses': (o: RuntimeClass, now) => [objectName(o), o.handler ?? '', objectAge(o, now)],
  'certificates.k8s.io/certificatesigningrequests': (o: CertificateSigningRequest, now) => {
    const seconds: number | undefined = o.spec?.expirationSeconds
    return [
      objectName(o),
      objectAge(o, now),
      o.spec?.signerName || NONE,
      o.spec?.username ?? '',
      seconds === undefined ? NONE : humanDuration(seconds * 1000),
      certificateCondition(o),
    ]
  },
  'certificates.k8s.io/clustertrustbundles': (o: ClusterTrustBundle) => [objectName(o), o.spec?.signerName || NONE],
  'certificates.k8s.io/podcertificaterequests': (o: PodCertificateRequest, now) => {
    const spec: Partial<typeof o.spec> = o.spec ?? {}
    const last = listOf(o.status?.conditions).find((condition) => condition.status === 'True')
    return [
      objectName(o),
      spec.podName ?? '',
      spec.serviceAccountName ?? '',
      spec.nodeName ?? '',
      spec.signerName ?? '',
      last?.type ?? 'Pending',
      objectAge(o, now),
    ]
  },
  'apiregistration.k8s.io/apiservices': (o: APIService, now) => {
    const service = o.spec?.service
    return [
      objectName(o),
      service ? `${service.namespace}/${service.name}` : 'Local',
      serviceAvailable(o),
      objectAge(o, now),
    ]
  },
  'apiextensions.k8s.io/customresourcedefinitions': (o: CustomResourceDefinition) => [
    objectName(o),
    o.spec?.scope ?? '',
    versionsOf(o),
    madeAt(o),
    o.spec?.group ?? '',
    o.spec?.names?.kind ?? '',
    (o.spec?.names?.shortNames ?? []).join(','),
    listOf(o.status?.conditions).some((condition) => condition.type === 'Established' && condition.status === 'True'),
  ],
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': (o: MutatingWebhookConfiguration, now) => [
    objectName(o),
    listOf(o.webhooks).length,
    objectAge(o, now),
  ],
  'admissionregistration.k8s.io/validatingwebhookconfigurations': (o: ValidatingWebhookConfiguration, now) => [
    objectName(o),
    listOf(o.webhooks).length,
    objectAge(o, now),
  ],
  'admissionregistration.k8s.io/validatingadmissionpolicies': (o: ValidatingAdmissionPolicy, now) => [
    objectName(o),
    listOf(o.spec?.validations).length,
    paramKind(o.spec?.paramKind),
    objectAge(o, now),
  ],
  'admissionregistration.k8s.io/mutatingadmissionpolicies': (o: MutatingAdmissionPolicy, now) => [
    objectName(o),
    listOf(o.spec?.mutations).length,
    paramKind(o.spec?.paramKind),
    objectAge(o, now),
  ],
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': (o: ValidatingAdmissionPolicyBinding, now) => [
    objectName(o),
    o.spec?.policyName ?? '',
    paramRef(o.spec?.paramRef),
    objectAge(o, now),
  ],
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': (o: MutatingAdmissionPolicyBinding, now) => [
    objectName(o),
    o.spec?.policyName ?? '',
    paramRef(o.spec?.paramRef),
    objectAge(o, now),
  ],
  'flowcontrol.apiserver.k8s.io/flowschemas': (o: FlowSchema, now) => [
    objectName(o),
    o.spec?.priorityLevelConfiguration?.name ?? '',
    o.spec?.matchingPrecedence ?? 0,
    o.spec?.distinguisherMethod?.type ?? NONE,
    objectAge(o, now),
    flowSchemaDangling(o),
  ],
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': (o: PriorityLevelConfiguration, now) => [
    objectName(o),
    o.spec?.type ?? '',
    (o.spec?.limited ?? o.spec?.exempt)?.nominalConcurrencyShares ?? NONE,
    queuing(o, 'queues'),
    queuing(o, 'handSize'),
    queuing(o, 'queueLengthLimit'),
    objectAge(o, now),
  ],
  'resource.k8s.io/deviceclasses': nameAndAge,
  'resource.k8s.io/resourceclaimtemplates': nameAndAge,
  'resource.k8s.io/resourceclaims': (o: ResourceV1ResourceClaim, now) => [
    objectName(o),
    claimState(o),
    objectAge(o, now),
  ],
  'resource.k8s.io/resourceslices': (o: ResourceSlice, now) => [
    objectName(o),
    o.spec?.nodeName ?? '',
    o.spec?.driver ?? '',
    o.spec?.pool?.name ?? '',
    objectAge(o, now),
  ],
  'resource.k8s.io/devicetaintrules': (o: DeviceTaintRule, now) => {
    const taint = o.spec?.taint
    return [
      objectName(o),
      taint?.key ?? '',
      taint?.value ?? '',
      taint?.effect ?? '',
      age(taint?.timeAdded, now),
      objectAge(o, now),
    ]
  },
  'storagemigration.k8s.io/storageversionmigrations': (o: StorageVersionMigration) => {
    const resource = o.spec?.resource
    const condition = listOf(o.status?.conditions).find((candidate) => candidate.status === 'True')
    return [
      objectName(o),
      resource?.group ? `${resource?.resource}.${resource?.group}` : (resource?.resource ?? ''),
      condition?.type ?? 'Unknown',
    ]
  },
}
