/**
 * The strategies of the kinds that configure a cluster: storage, networking, RBAC, scheduling, admission, flow control,
 * certificates, devices, API extension. Most differ only in rules and in which fields count for their generation.
 */
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CSIDriver,
  CustomResourceDefinition,
  DeviceTaint,
  DeviceTaintRule,
  ResourceSlice,
  Taint,
} from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import { ipAddress, pathName } from '../../api/names/name-formats.ts'
import type { Given, KubeObject, SpecAndStatus } from '../../api/object.ts'
import { asObject, asText } from '../../api/unchecked.ts'
import * as policies from '../../api/validation/admission-policies.ts'
import { validateWebhookConfiguration } from '../../api/validation/admissionregistration.ts'
import * as autoscaling from '../../api/validation/autoscaling.ts'
import * as certificates from '../../api/validation/certificates.ts'
import { same } from '../../api/validation/common.ts'
import * as devices from '../../api/validation/devices.ts'
import * as extension from '../../api/validation/extension.ts'
import * as flowcontrol from '../../api/validation/flowcontrol.ts'
import * as networking from '../../api/validation/ingress-and-network-policy.ts'
import * as leases from '../../api/validation/lease.ts'
import * as policy from '../../api/validation/policy.ts'
import * as priorities from '../../api/validation/priority-class.ts'
import * as rbac from '../../api/validation/rbac.ts'
import * as slices from '../../api/validation/resource-slices.ts'
import { validateRuntimeClass, validateRuntimeClassUpdate } from '../../api/validation/runtime-class.ts'
import * as storage from '../../api/validation/storage.ts'
import * as migrations from '../../api/validation/storage-version-migration.ts'
import * as warnings from '../../api/validation/warnings.ts'
import { beginDefinitionDeletion } from '../customresources/definition.ts'
import { validateDefinition, validateDefinitionUpdate } from '../customresources/validate-definition.ts'
import { definitionWarnings } from '../customresources/warnings.ts'
import type { Strategy } from '../registry/strategy.ts'
import { withAvailability } from './apiservices.ts'
import {
  JUDGES_FINALIZERS_FIRST,
  JUDGES_GENERATE_NAME_ALONE,
  JUDGES_GENERATE_NAME_FIRST,
  JUDGES_NO_NEW_NAMES,
  nextGeneration,
  RETURNED_WHEN_DELETED,
  withFieldOf,
} from './common.ts'
import type { Strategies } from './index.ts'
import { CONDITIONAL, kind, type Validate, warned } from './kind.ts'
import { resourceClaims, resourceClaimTemplates } from './resource-claims.ts'

const SPEC = ['spec'] as const
const ROLES: Partial<Strategy> = {
  allowCreateOnUpdate: true,
  validateName: (name, prefix) => pathName(name, prefix),
}

const bindingOf = (validate: Validate): Strategy =>
  kind({ validate, validateUpdate: (object, old) => rbac.validateBindingUpdate(object, old, validate), more: ROLES })

const webhooks = kind({
  validate: validateWebhookConfiguration,
  counts: ['webhooks'],
  countsEmpty: true,
  more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_ALONE },
})

/** A device taint's time is when it was first asked for. */
const timedTaint = (taint: DeviceTaint, now: string): DeviceTaint =>
  taint.timeAdded ? taint : { ...taint, timeAdded: now }

const deviceTaintRules: Strategy<DeviceTaintRule> = {
  ...kind<DeviceTaintRule>({ validate: devices.validateDeviceTaintRule, counts: SPEC, status: {}, more: CONDITIONAL }),
  timedDefaults(object, now) {
    const taint: Taint | undefined = object.spec?.taint
    return taint === undefined ? object : { ...object, spec: { ...object.spec, taint: timedTaint(taint, now) } }
  },
  prepareForCreate: (object) => ({ ...withMetadata(object, { generation: 1 }), status: {} }),
}

function withTimedTaints(slice: ResourceSlice, now: string): KubeObject {
  const devices = slice.spec?.devices ?? []
  if (!devices.some((device) => (device.taints?.length ?? 0) > 0)) return slice
  const timed = devices.map((device) =>
    device.taints ? { ...device, taints: device.taints.map((taint: Taint) => timedTaint(taint, now)) } : device,
  )
  return { ...slice, spec: { ...slice.spec, devices: timed } }
}

/** A condition's times are the server's: when it was last written, and when its status last changed. */
function timedConditions(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
  now: string,
): readonly CertificateSigningRequestCondition[] | undefined {
  const conditions = object.status?.conditions
  const before = old.status?.conditions ?? []
  return conditions?.map((condition) => {
    const previous = before.find(({ type }) => type === condition.type)
    const changed = previous?.status !== condition.status
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? (changed ? now : (previous?.lastTransitionTime ?? now)),
    }
  })
}

/** Whether a request is approved or denied is written by …/approval alone: in …/status what was decided stays. */
function decisionsOf(
  old: CertificateSigningRequest,
  conditions: readonly CertificateSigningRequestCondition[] | undefined,
): readonly CertificateSigningRequestCondition[] | undefined {
  const decided = (old.status?.conditions ?? []).filter(({ type }) => type === 'Approved' || type === 'Denied')
  return conditions?.map((condition) => decided.find(({ type }) => type === condition.type) ?? condition)
}

/** The requesting user is written into the request by the server, never by the client. */
const certificateSigningRequests: Strategy<CertificateSigningRequest> = {
  ...kind<CertificateSigningRequest>({
    validate: certificates.validateCertificateSigningRequest,
    validateUpdate: certificates.validateCertificateSigningRequestUpdate,
    status: {},
  }),
  prepareForCreate(object, { user }) {
    const { username: _n, uid: _u, groups: _g, extra: _e, ...spec } = object.spec ?? {}
    return {
      ...object,
      spec: {
        ...spec,
        username: user.name,
        ...(user.uid ? { uid: user.uid } : {}),
        ...(user.groups.length > 0 ? { groups: user.groups } : {}),
        ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
      },
      status: {},
    }
  },
  prepareForUpdate: (object, old) => withFieldOf(withFieldOf(object, old, 'spec'), old, 'status'),
  resetFields: [['f:spec'], ['f:status']],
  status: {
    prepareForUpdate(object, old, { now }) {
      const kept = withFieldOf(object, old, 'spec')
      const conditions = decisionsOf(old, timedConditions(kept, old, now))
      return conditions === undefined ? kept : { ...kept, status: { ...kept.status, conditions } }
    },
    validateUpdate: certificates.validateCertificateSigningRequestStatus,
    resetFields: [['f:spec']],
  },
  validateName: (name, prefix) => pathName(name, prefix),
  fieldLabels: ['spec.signerName'],
  selectableFields: (object) => ({ 'spec.signerName': object.spec?.signerName ?? '' }),
  subresources: {
    approval: {
      prepareForUpdate(object, old, { now }) {
        const kept = withFieldOf(object, old, 'spec')
        const conditions = timedConditions(kept, old, now)
        const { conditions: _, ...rest } = old.status ?? {}
        return { ...kept, status: { ...rest, ...(conditions === undefined ? {} : { conditions }) } }
      },
      validateUpdate: certificates.validateCertificateSigningRequestApproval,
      resetFields: [['f:spec'], ['f:status', 'f:certificate']],
    },
  },
}

const csiDrivers: Strategy<CSIDriver> = {
  ...kind<CSIDriver>({
    validate: storage.validateCSIDriver,
    validateUpdate: storage.validateCSIDriverUpdate,
    more: {
      ...CONDITIONAL,
      ...RETURNED_WHEN_DELETED,
      warningsOnCreate: warnings.csiDriverWarnings,
      warningsOnUpdate: (object, old) =>
        same(object.spec?.tokenRequests, old.spec?.tokenRequests) ? [] : warnings.csiDriverWarnings(object),
    },
  }),
  prepareForUpdate: (object, old) => nextGeneration(object, old, !same(object.spec, old.spec)),
}

const specSelectable = (...fields: readonly string[]): Partial<Strategy> => ({
  fieldLabels: fields.map((field) => `spec.${field}`),
  selectableFields({ spec }: SpecAndStatus) {
    return Object.fromEntries(fields.map((field) => [`spec.${field}`, asText(asObject(spec)[field])]))
  },
})

const NEW_DEFINITION = { conditions: null, acceptedNames: { plural: '', kind: '' } }

/** A definition remembers every version that objects may be stored in. */
function withStoredVersions(object: Given<CustomResourceDefinition>): KubeObject {
  const stored = object.status?.storedVersions ?? []
  const current = object.spec?.versions?.find((version) => version.storage === true)?.name
  if (current === undefined || stored.includes(current)) return object
  return { ...object, status: { ...object.status, storedVersions: [...stored, current] } }
}

const customResourceDefinitions: Strategy = {
  ...kind({
    validate: validateDefinition,
    validateUpdate: validateDefinitionUpdate,
    counts: SPEC,
    status: NEW_DEFINITION,
    more: CONDITIONAL,
  }),
  prepareForCreate: (object) =>
    withStoredVersions({ ...withMetadata(object, { generation: 1 }), status: NEW_DEFINITION } as KubeObject),
  beginDeletion: beginDefinitionDeletion,
  preconditionFailed: 'precondition failed',
  standardFinalizersOnly: false,
  warningsOnCreate: definitionWarnings,
  warningsOnUpdate: definitionWarnings,
  prepareForUpdate(object, old: SpecAndStatus) {
    const kept: SpecAndStatus = withFieldOf(object, old, 'status')
    return withStoredVersions(nextGeneration(kept, old, !same(kept.spec, old.spec)) as KubeObject)
  },
}

const judgedPolicies: Strategy = kind({
  validate: policies.validateValidatingAdmissionPolicy,
  counts: SPEC,
  status: {},
  statusAlone: true,
  validateStatus: policies.validatePolicyStatus,
  more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_ALONE },
})
/** As in Kubernetes, an applied status makes the policy. */
const validatingAdmissionPolicies: Strategy = {
  ...judgedPolicies,
  status: { ...judgedPolicies.status, allowCreateOnApply: true },
}

export const clusterStrategies: Strategies = {
  'leases.coordination.k8s.io': kind({
    validate: leases.validateLease,
    more: { ...CONDITIONAL, allowCreateOnUpdate: true, ...JUDGES_NO_NEW_NAMES },
  }),
  'priorityclasses.scheduling.k8s.io': kind({
    validate: priorities.validatePriorityClass,
    validateUpdate: priorities.validatePriorityClassUpdate,
    counts: [],
    more: { whyUndeletable: priorities.whyUndeletable },
  }),
  'runtimeclasses.node.k8s.io': kind({
    validate: validateRuntimeClass,
    validateUpdate: validateRuntimeClassUpdate,
    more: {
      ...CONDITIONAL,
      allowCreateOnUpdate: true,
      ...warned(warnings.runtimeClassWarnings),
      ...JUDGES_GENERATE_NAME_ALONE,
    },
  }),
  'storageclasses.storage.k8s.io': kind({
    validate: storage.validateStorageClass,
    more: { ...warned(warnings.storageClassWarnings), ...JUDGES_GENERATE_NAME_FIRST, ...RETURNED_WHEN_DELETED },
  }),
  'volumeattachments.storage.k8s.io': kind({
    validate: storage.validateVolumeAttachment,
    validateUpdate: storage.validateVolumeAttachmentUpdate,
    validateStatus: (object) => storage.validateVolumeAttachment(object),
    status: { attached: false },
    statusAlone: true,
    more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_FIRST, ...RETURNED_WHEN_DELETED },
  }),
  'csidrivers.storage.k8s.io': csiDrivers,
  'csinodes.storage.k8s.io': kind({
    validate: storage.validateCSINode,
    validateUpdate: storage.validateCSINodeUpdate,
    status: {},
    more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_FIRST, ...RETURNED_WHEN_DELETED },
  }),
  'csistoragecapacities.storage.k8s.io': kind({
    validate: storage.validateCSIStorageCapacity,
    validateUpdate: storage.validateCSIStorageCapacityUpdate,
    more: { ...CONDITIONAL, ...warned(warnings.storageCapacityWarnings), ...JUDGES_GENERATE_NAME_FIRST },
  }),
  'volumeattributesclasses.storage.k8s.io': kind({
    validate: storage.validateVolumeAttributesClass,
    validateUpdate: storage.validateVolumeAttributesClassUpdate,
    more: { ...JUDGES_FINALIZERS_FIRST, ...RETURNED_WHEN_DELETED },
  }),
  'ingresses.networking.k8s.io': kind({
    validate: networking.validateIngressCreate,
    validateUpdate: (object) => networking.validateIngress(object),
    counts: SPEC,
    status: { loadBalancer: {} },
    validateStatus: (object) => networking.validateIngressStatus(object),
    more: { warningsOnCreate: warnings.ingressWarnings, ...JUDGES_FINALIZERS_FIRST },
  }),
  'ingressclasses.networking.k8s.io': kind({
    validate: networking.validateIngressClass,
    validateUpdate: networking.validateIngressClassUpdate,
    counts: SPEC,
    more: { ...JUDGES_FINALIZERS_FIRST },
  }),
  'networkpolicies.networking.k8s.io': kind({
    validate: networking.validateNetworkPolicy,
    counts: SPEC,
    countsEmpty: true,
    more: warned(warnings.networkPolicyWarnings),
  }),
  'ipaddresses.networking.k8s.io': kind({
    validate: networking.validateIPAddress,
    more: { validateName: (name) => ipAddress(name), ...JUDGES_GENERATE_NAME_FIRST },
  }),
  'servicecidrs.networking.k8s.io': kind({
    validate: networking.validateServiceCIDR,
    validateUpdate: networking.validateServiceCIDRUpdate,
    status: {},
    statusAlone: true,
  }),
  'poddisruptionbudgets.policy': kind({
    validate: policy.validatePodDisruptionBudget,
    counts: SPEC,
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    validateStatus: (object) => policy.validatePodDisruptionBudgetStatus(object),
    more: { ...CONDITIONAL, validateName: pathName, metadataLast: true, ...JUDGES_NO_NEW_NAMES },
  }),
  'horizontalpodautoscalers.autoscaling': kind({
    validate: autoscaling.validateHorizontalPodAutoscaler,
    counts: SPEC,
    status: { desiredReplicas: 0, currentMetrics: null },
    validateStatus: (object) => autoscaling.validateHorizontalPodAutoscalerStatus(object),
  }),
  'roles.rbac.authorization.k8s.io': kind({ validate: rbac.validateRole, more: ROLES }),
  'clusterroles.rbac.authorization.k8s.io': kind({ validate: rbac.validateClusterRole, more: ROLES }),
  'rolebindings.rbac.authorization.k8s.io': bindingOf(rbac.validateRoleBinding),
  'clusterrolebindings.rbac.authorization.k8s.io': bindingOf(rbac.validateClusterRoleBinding),
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequests,
  'clustertrustbundles.certificates.k8s.io': kind({
    validate: certificates.validateClusterTrustBundle,
    validateUpdate: certificates.validateClusterTrustBundleUpdate,
    more: { ...CONDITIONAL, validateName: () => [], ...specSelectable('signerName') },
  }),
  'podcertificaterequests.certificates.k8s.io': kind({
    validate: certificates.validatePodCertificateRequest,
    validateUpdate: certificates.validatePodCertificateRequestUpdate,
    status: {},
    more: specSelectable('signerName', 'podName', 'nodeName'),
  }),
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'validatingadmissionpolicies.admissionregistration.k8s.io': validatingAdmissionPolicies,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': kind({
    validate: policies.validateMutatingAdmissionPolicy,
    counts: SPEC,
    more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_ALONE },
  }),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': kind({
    validate: policies.validatePolicyBinding,
    counts: SPEC,
    more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_ALONE },
  }),
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': kind({
    validate: policies.validatePolicyBinding,
    counts: SPEC,
    more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_ALONE },
  }),
  'flowschemas.flowcontrol.apiserver.k8s.io': kind({
    validate: flowcontrol.validateFlowSchema,
    counts: SPEC,
    status: {},
    validateStatus: flowcontrol.validateFlowStatus,
    statusAlone: true,
    more: { ...JUDGES_GENERATE_NAME_FIRST },
  }),
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': kind({
    validate: flowcontrol.validatePriorityLevelConfiguration,
    counts: SPEC,
    status: {},
    validateStatus: flowcontrol.validateFlowStatus,
    statusAlone: true,
    more: { ...JUDGES_GENERATE_NAME_FIRST },
  }),
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinitions,
  'apiservices.apiregistration.k8s.io': kind({
    validate: extension.validateAPIService,
    status: {},
    validateStatus: extension.validateAPIServiceStatus,
    statusAlone: true,
    more: {
      ...CONDITIONAL,
      prepareForCreate: withAvailability,
      validateName: (name, prefix) => pathName(name, prefix),
    },
  }),
  'deviceclasses.resource.k8s.io': kind({
    validate: devices.validateDeviceClass,
    counts: SPEC,
    more: { nameDeclared: true, ...RETURNED_WHEN_DELETED },
  }),
  'resourceclaims.resource.k8s.io': resourceClaims,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplates,
  'resourceslices.resource.k8s.io': kind({
    validate: (object) => slices.validateResourceSlice(object),
    validateUpdate: slices.validateResourceSlice,
    counts: SPEC,
    more: {
      ...RETURNED_WHEN_DELETED,
      ...specSelectable('driver', 'nodeName'),
      indexedFields: ['spec.nodeName'],
      timedDefaults: withTimedTaints,
      countsDisabledFields: true,
      ...warned(slices.resourceSliceWarnings),
      fieldLabelProblem: (label) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${label}`,
    },
  }),
  'devicetaintrules.resource.k8s.io': deviceTaintRules,
  'storageversionmigrations.storagemigration.k8s.io': kind({
    validate: migrations.validateStorageVersionMigration,
    validateUpdate: migrations.validateStorageVersionMigrationUpdate,
    validateStatus: migrations.validateStorageVersionMigrationStatus,
    status: {},
    statusAlone: true,
    more: { ...CONDITIONAL, ...JUDGES_GENERATE_NAME_FIRST },
  }),
}
