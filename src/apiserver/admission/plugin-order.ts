/** The order of the built-in admission plugins, and which of them are on by default (concept: admission controllers). */

/** The order in which Kubernetes runs them. A plugin not named here comes last, in the order given. */
export const RECOMMENDED_ORDER: readonly string[] = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'PodTopologyLabels',
  'PodResizeValidator',
  'OwnerReferencesPermissionEnforcement',
  'DenyServiceExternalIPs',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
]

/** Names that kube-apiserver knows, whose rules are part of the resources here, or which skiff does not have. */
export const WITHOUT_PLUGIN: readonly string[] = ['NodeDeclaredFeatureValidator', 'PodGroupProtection']

/** What may be enabled and disabled by name. */
export const KNOWN_PLUGINS: ReadonlySet<string> = new Set([...RECOMMENDED_ORDER, ...WITHOUT_PLUGIN])

/** Plugins that are left out unless they are enabled by name. (NodeRestriction, which every installer turns on, is in.) */
export const OFF_BY_DEFAULT = new Set([
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodTolerationRestriction',
])
