/** The built-in admission plugins by name, as createAdmissionChain wants them. */
import type { Runtime } from '../../../base/runtime.ts'
import type { HttpsEndpoint } from '../../../http/client.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { mutatingAdmissionPolicy } from '../policies/mutating-policy.ts'
import { validatingAdmissionPolicy } from '../policies/validating-policy.ts'
import {
  type CreateCaller,
  mutatingAdmissionWebhook,
  validatingAdmissionWebhook,
} from '../webhooks/call-and-failure-policy.ts'
import { alwaysAdmit, alwaysDeny } from './always-admit-and-deny.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificates.ts'
import { persistentVolumeClaimResize } from './claim-resize.ts'
import { defaultIngressClass, defaultStorageClass } from './default-class.ts'
import { defaultTolerationSeconds, type TolerationSeconds } from './default-toleration-seconds.ts'
import { denyServiceExternalIPs } from './deny-service-external-ips.ts'
import { eventRateLimit } from './event-rate-limit.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { imagePolicyWebhook } from './image-policy-webhook.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceAutoProvision } from './namespace-autoprovision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references.ts'
import { podNodeSelector } from './pod-node-selector.ts'
import { podResizeValidator } from './pod-resize-validator.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { podTolerationRestriction } from './pod-toleration-restriction.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

/** `webhooks`: how they are asked. Default: they are called. `endpointOf`: where a kubeconfig leads, for the server that is asked about images; none: it is not asked. */
export function builtinAdmissionPlugins(
  runtime: Runtime,
  webhooks?: CreateCaller,
  tolerationSeconds?: TolerationSeconds,
  endpointOf?: (kubeconfig: string) => HttpsEndpoint,
): Readonly<Record<string, AdmissionPluginFactory>> {
  return {
    AlwaysAdmit: alwaysAdmit,
    NamespaceAutoProvision: namespaceAutoProvision,
    NamespaceLifecycle: namespaceLifecycle,
    NamespaceExists: namespaceExists,
    LimitPodHardAntiAffinityTopology: limitPodHardAntiAffinityTopology,
    LimitRanger: limitRanger,
    ServiceAccount: serviceAccount(runtime.random.apart()),
    NodeRestriction: nodeRestriction,
    TaintNodesByCondition: taintNodesByCondition,
    AlwaysPullImages: alwaysPullImages,
    ImagePolicyWebhook: imagePolicyWebhook(runtime, endpointOf),
    PodSecurity: podSecurity,
    PodNodeSelector: podNodeSelector,
    Priority: priority,
    DefaultTolerationSeconds: defaultTolerationSeconds(tolerationSeconds),
    PodTolerationRestriction: podTolerationRestriction,
    EventRateLimit: eventRateLimit(runtime.clock),
    ExtendedResourceToleration: extendedResourceToleration,
    StorageObjectInUseProtection: storageObjectInUseProtection,
    PersistentVolumeClaimResize: persistentVolumeClaimResize,
    RuntimeClass: runtimeClass,
    CertificateApproval: certificateApproval,
    CertificateSigning: certificateSigning,
    ClusterTrustBundleAttest: clusterTrustBundleAttest,
    CertificateSubjectRestriction: certificateSubjectRestriction,
    DefaultIngressClass: defaultIngressClass,
    DefaultStorageClass: defaultStorageClass,
    PodTopologyLabels: podTopologyLabels,
    PodResizeValidator: podResizeValidator,
    OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
    DenyServiceExternalIPs: denyServiceExternalIPs,
    MutatingAdmissionPolicy: mutatingAdmissionPolicy(runtime),
    MutatingAdmissionWebhook: mutatingAdmissionWebhook(runtime, webhooks),
    ValidatingAdmissionPolicy: validatingAdmissionPolicy(runtime),
    ValidatingAdmissionWebhook: validatingAdmissionWebhook(runtime, webhooks),
    ResourceQuota: resourceQuota,
    AlwaysDeny: alwaysDeny,
  }
}
