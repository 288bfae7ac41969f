/** Defaults of the kinds that configure a cluster: storage, networking, RBAC, scheduling, admission, flow control, devices. */

import type { NetworkPolicy, NetworkPolicySpec } from '../generated/types.ts'
import type { Fields, SpecAndStatus } from '../object.ts'
import {
  AUTOSCALER_FIELDS,
  AUTOSCALER_METRICS,
  emptyAutoscalerFields,
  withoutAnnotations,
} from '../objects/annotated-fields.ts'
import { asGiven } from '../schema/canonical.ts'
import { asObject, asText } from '../unchecked.ts'
import { type Defaulter, missing, unset, whenAny } from './rule.ts'

const api = (name: string) => `io.k8s.api.${name}`
const RBAC_GROUP = 'rbac.authorization.k8s.io'

const roleRef: Defaulter = (value) => missing(value, { apiGroup: RBAC_GROUP })

function roleSubject(value: Fields): Fields | undefined {
  return value['kind'] === 'User' || value['kind'] === 'Group' ? missing(value, { apiGroup: RBAC_GROUP }) : undefined
}

function networkPolicy(value: Partial<NetworkPolicy>): Fields | undefined {
  const spec: Partial<NetworkPolicySpec> = value.spec ?? {}
  if ((spec.policyTypes ?? []).length > 0) return undefined
  return { spec: { ...spec, policyTypes: ['Ingress', ...((spec.egress ?? []).length > 0 ? ['Egress'] : [])] } }
}

const webhook =
  (more: Fields): Defaulter =>
  (value) =>
    unset(value, {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      ...more,
    })

const ofSpec =
  (rule: (spec: Fields) => Fields | undefined): Defaulter =>
  (value: Partial<SpecAndStatus>) => {
    const spec = (value.spec ?? {}) as Fields
    const added = rule(spec)
    return added && { spec: { ...spec, ...added } }
  }

const matchResources: Defaulter = (value) =>
  unset(value, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} })

const csiDriver = ofSpec((spec) =>
  unset(spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
    seLinuxMount: false,
    preventPodSchedulingIfMissing: false,
    ...(spec['volumeLifecycleModes']?.length > 0 ? {} : { volumeLifecycleModes: ['Persistent'] }),
  }),
)

const DEFAULT_UTILIZATION = 80

const autoscaler = ofSpec((spec) =>
  unset(spec, {
    minReplicas: 1,
    ...(spec['metrics']?.length > 0
      ? {}
      : {
          metrics: [
            {
              type: 'Resource',
              resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: DEFAULT_UTILIZATION } },
            },
          ],
        }),
  }),
)

/** What a v1 autoscaler asks for in an annotation counts as metrics too. */
const autoscalerV1: Defaulter = (value: Partial<SpecAndStatus>) => {
  const spec = (value.spec ?? {}) as Fields
  const annotated = value['metadata']?.annotations?.[AUTOSCALER_METRICS] !== undefined
  const added = unset(spec, {
    minReplicas: 1,
    ...(annotated ? {} : { targetCPUUtilizationPercentage: DEFAULT_UTILIZATION }),
  })
  const metadata = withoutAnnotations(value, emptyAutoscalerFields(value['metadata']?.annotations ?? {}))
  return whenAny({ ...(added ? { spec: { ...spec, ...added } } : {}), ...(metadata ? { metadata } : {}) })
}

/** In v2 the annotations of v1 mean nothing. */
const autoscalerV2: Defaulter = (value) => {
  const metadata = withoutAnnotations(value, AUTOSCALER_FIELDS)
  return metadata ? { ...autoscaler(value), metadata } : autoscaler(value)
}

/** A list that was given empty stays so: the rules refuse it. */
function withGivenPolicies(rules: Fields | undefined, added: Fields | undefined): Fields | undefined {
  if (asGiven(rules, 'policies', []) === null) return added
  const { policies: _, ...others } = added ?? {}
  return others
}

/** Up: at once, by four pods or double every 15 seconds. Down: when the controller's window has passed, as far as needed. */
function scalingBehavior(value: Fields): Fields | undefined {
  const up = unset(value['scaleUp'] ?? {}, {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  })
  const down = unset(value['scaleDown'] ?? {}, {
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  })
  return {
    scaleUp: { ...value['scaleUp'], ...withGivenPolicies(value['scaleUp'], up) },
    scaleDown: { ...value['scaleDown'], ...withGivenPolicies(value['scaleDown'], down) },
  }
}

function limitedPriorityLevel(value: Fields): Fields | undefined {
  return unset(value, { nominalConcurrencyShares: 30, lendablePercent: 0 })
}

const queuing: Defaulter = (value) => ({
  queues: value['queues'] || 64,
  handSize: value['handSize'] || 8,
  queueLengthLimit: value['queueLengthLimit'] || 50,
})

function deviceCount(value: Fields): Fields | undefined {
  const mode: string = value['allocationMode'] || 'ExactCount'
  const count: number | undefined = mode === 'ExactCount' && !value['count'] ? 1 : undefined
  return { allocationMode: mode, ...(count === undefined ? {} : { count }) }
}

const webhookService: Defaulter = (value) => unset(value, { port: 443 })

/** A definition with a status remembers at least the version that is stored. */
function storedVersions({ spec, status }: Fields): Fields | undefined {
  const known: readonly string[] = status?.storedVersions ?? []
  const versions: readonly Fields[] = spec?.versions ?? []
  const storage = versions.find((version) => version['storage'] === true)?.['name']
  if (!status || known.length > 0 || storage === undefined) return undefined
  return { status: { ...status, storedVersions: [storage] } }
}

/** Names that are asked for; those in status are what was accepted of them. */
function customResource(spec: Fields): Fields | undefined {
  const names: Fields = spec['names'] ?? {}
  const kind: string = names['kind'] ?? ''
  const named = kind === '' ? undefined : missing(names, { singular: kind.toLowerCase(), listKind: `${kind}List` })
  if (spec['conversion'] && named === undefined) return undefined
  return {
    ...(spec['conversion'] ? {} : { conversion: { strategy: 'None' } }),
    ...(named === undefined ? {} : { names: { ...names, ...named } }),
  }
}

const apiextensions = (name: string) => `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.${name}`

export const clusterDefaults: Readonly<Record<string, Defaulter>> = {
  [api('certificates.v1.PodCertificateRequestSpec')]: (value) => unset(value, { maxExpirationSeconds: 86_400 }),
  [api('rbac.v1.RoleRef')]: roleRef,
  [api('rbac.v1.Subject')]: roleSubject,
  [api('networking.v1.NetworkPolicy')]: networkPolicy,
  [api('networking.v1.NetworkPolicyPort')]: (value) => unset(value, { protocol: 'TCP' }),
  [api('networking.v1.IngressClassParametersReference')]: (value) => unset(value, { scope: 'Cluster' }),
  [api('scheduling.v1.PriorityClass')]: (value) => unset(value, { preemptionPolicy: 'PreemptLowerPriority' }),
  [api('storage.v1.StorageClass')]: (value) =>
    unset(value, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  [api('storage.v1.CSIDriver')]: csiDriver,
  [api('autoscaling.v1.HorizontalPodAutoscaler')]: autoscalerV1,
  [api('autoscaling.v2.HorizontalPodAutoscaler')]: autoscalerV2,
  [api('autoscaling.v2.HorizontalPodAutoscalerBehavior')]: scalingBehavior,
  [api('admissionregistration.v1.ValidatingWebhook')]: webhook({}),
  [api('admissionregistration.v1.MutatingWebhook')]: webhook({ reinvocationPolicy: 'Never' }),
  [api('admissionregistration.v1.RuleWithOperations')]: (value) => unset(value, { scope: '*' }),
  [api('admissionregistration.v1.NamedRuleWithOperations')]: (value) => unset(value, { scope: '*' }),
  [api('admissionregistration.v1.ServiceReference')]: webhookService,
  [api('admissionregistration.v1.MatchResources')]: matchResources,
  [api('admissionregistration.v1.ValidatingAdmissionPolicy')]: ofSpec((spec) => unset(spec, { failurePolicy: 'Fail' })),
  [api('admissionregistration.v1.MutatingAdmissionPolicy')]: ofSpec((spec) => unset(spec, { failurePolicy: 'Fail' })),
  [api('flowcontrol.v1.FlowSchema')]: ofSpec((spec) =>
    spec['matchingPrecedence'] ? undefined : { matchingPrecedence: 1000 },
  ),
  [api('flowcontrol.v1.LimitedPriorityLevelConfiguration')]: limitedPriorityLevel,
  [api('flowcontrol.v1.ExemptPriorityLevelConfiguration')]: (value) =>
    unset(value, { nominalConcurrencyShares: 0, lendablePercent: 0 }),
  [api('flowcontrol.v1.QueuingConfiguration')]: queuing,
  [api('authentication.v1.TokenRequest')]: ofSpec((spec) => missing(spec, { expirationSeconds: 3600 })),
  [api('resource.v1.ExactDeviceRequest')]: deviceCount,
  [api('resource.v1.DeviceSubRequest')]: deviceCount,
  // Since then it has these fields in `exactly`, which a request of alternatives lacks.
  [api('resource.v1beta1.DeviceRequest')]: (request) =>
    asText(asObject(request)['deviceClassName']) !== '' ? deviceCount(request) : undefined,
  [api('resource.v1.DeviceToleration')]: (value) => missing(value, { operator: 'Equal' }),
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference': webhookService,
  [apiextensions('ServiceReference')]: webhookService,
  [apiextensions('CustomResourceDefinition')]: (definition) => ({
    ...ofSpec(customResource)(definition),
    ...storedVersions(definition),
  }),
}
