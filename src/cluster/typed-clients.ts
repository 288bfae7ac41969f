// Written by tools/typed-clients.ts; do not edit.
import type {
  APIService,
  Binding,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ClusterTrustBundle,
  ComponentStatus,
  ConfigMap,
  ControllerRevision,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  DeviceClass,
  DeviceTaintRule,
  EndpointSlice,
  Endpoints,
  Event,
  EventsV1Event,
  FlowSchema,
  HorizontalPodAutoscaler,
  IPAddress,
  Ingress,
  IngressClass,
  Job,
  Lease,
  LimitRange,
  LocalSubjectAccessReview,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodCertificateRequest,
  PodDisruptionBudget,
  PodTemplate,
  PriorityClass,
  PriorityLevelConfiguration,
  ReplicaSet,
  ReplicationController,
  ResourceClaimTemplate,
  ResourceQuota,
  ResourceSlice,
  ResourceV1ResourceClaim,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  Service,
  ServiceAccount,
  ServiceCIDR,
  StatefulSet,
  StorageClass,
  StorageVersionMigration,
  SubjectAccessReview,
  TokenReview,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  VolumeAttachment,
  VolumeAttributesClass,
} from '../api/generated/types.ts'
import type { KubeObject, ResourceClient } from '../client/client.ts'

/** Of one namespace; without one: of all, for lists and watches. */
export type Namespaced<T extends KubeObject> = (namespace?: string) => ResourceClient<T>
export type ClusterScoped<T extends KubeObject> = () => ResourceClient<T>

/** Clients of the built-in resources, by the first word of their group (`core` for the one without a name). */
export interface TypedClients {
  readonly core: {
    readonly bindings: Namespaced<Binding>
    readonly componentStatuses: ClusterScoped<ComponentStatus>
    readonly configMaps: Namespaced<ConfigMap>
    readonly endpoints: Namespaced<Endpoints>
    readonly events: Namespaced<Event>
    readonly limitRanges: Namespaced<LimitRange>
    readonly namespaces: ClusterScoped<Namespace>
    readonly nodes: ClusterScoped<Node>
    readonly persistentVolumeClaims: Namespaced<PersistentVolumeClaim>
    readonly persistentVolumes: ClusterScoped<PersistentVolume>
    readonly podTemplates: Namespaced<PodTemplate>
    readonly pods: Namespaced<Pod>
    readonly replicationControllers: Namespaced<ReplicationController>
    readonly resourceQuotas: Namespaced<ResourceQuota>
    readonly secrets: Namespaced<Secret>
    readonly serviceAccounts: Namespaced<ServiceAccount>
    readonly services: Namespaced<Service>
  }
  readonly admissionregistration: {
    readonly mutatingAdmissionPolicies: ClusterScoped<MutatingAdmissionPolicy>
    readonly mutatingAdmissionPolicyBindings: ClusterScoped<MutatingAdmissionPolicyBinding>
    readonly mutatingWebhookConfigurations: ClusterScoped<MutatingWebhookConfiguration>
    readonly validatingAdmissionPolicies: ClusterScoped<ValidatingAdmissionPolicy>
    readonly validatingAdmissionPolicyBindings: ClusterScoped<ValidatingAdmissionPolicyBinding>
    readonly validatingWebhookConfigurations: ClusterScoped<ValidatingWebhookConfiguration>
  }
  readonly apiextensions: {
    readonly customResourceDefinitions: ClusterScoped<CustomResourceDefinition>
  }
  readonly apiregistration: {
    readonly apiServices: ClusterScoped<APIService>
  }
  readonly apps: {
    readonly controllerRevisions: Namespaced<ControllerRevision>
    readonly daemonSets: Namespaced<DaemonSet>
    readonly deployments: Namespaced<Deployment>
    readonly replicaSets: Namespaced<ReplicaSet>
    readonly statefulSets: Namespaced<StatefulSet>
  }
  readonly authentication: {
    readonly selfSubjectReviews: ClusterScoped<SelfSubjectReview>
    readonly tokenReviews: ClusterScoped<TokenReview>
  }
  readonly authorization: {
    readonly localSubjectAccessReviews: Namespaced<LocalSubjectAccessReview>
    readonly selfSubjectAccessReviews: ClusterScoped<SelfSubjectAccessReview>
    readonly selfSubjectRulesReviews: ClusterScoped<SelfSubjectRulesReview>
    readonly subjectAccessReviews: ClusterScoped<SubjectAccessReview>
  }
  readonly autoscaling: {
    readonly horizontalPodAutoscalers: Namespaced<HorizontalPodAutoscaler>
  }
  readonly batch: {
    readonly cronJobs: Namespaced<CronJob>
    readonly jobs: Namespaced<Job>
  }
  readonly certificates: {
    readonly certificateSigningRequests: ClusterScoped<CertificateSigningRequest>
    readonly clusterTrustBundles: ClusterScoped<ClusterTrustBundle>
    readonly podCertificateRequests: Namespaced<PodCertificateRequest>
  }
  readonly coordination: {
    readonly leases: Namespaced<Lease>
  }
  readonly discovery: {
    readonly endpointSlices: Namespaced<EndpointSlice>
  }
  readonly events: {
    readonly events: Namespaced<EventsV1Event>
  }
  readonly flowcontrol: {
    readonly flowSchemas: ClusterScoped<FlowSchema>
    readonly priorityLevelConfigurations: ClusterScoped<PriorityLevelConfiguration>
  }
  readonly networking: {
    readonly ingressClasses: ClusterScoped<IngressClass>
    readonly ingresses: Namespaced<Ingress>
    readonly ipAddresses: ClusterScoped<IPAddress>
    readonly networkPolicies: Namespaced<NetworkPolicy>
    readonly serviceCIDRs: ClusterScoped<ServiceCIDR>
  }
  readonly node: {
    readonly runtimeClasses: ClusterScoped<RuntimeClass>
  }
  readonly policy: {
    readonly podDisruptionBudgets: Namespaced<PodDisruptionBudget>
  }
  readonly rbac: {
    readonly clusterRoleBindings: ClusterScoped<ClusterRoleBinding>
    readonly clusterRoles: ClusterScoped<ClusterRole>
    readonly roleBindings: Namespaced<RoleBinding>
    readonly roles: Namespaced<Role>
  }
  readonly resources: {
    readonly deviceClasses: ClusterScoped<DeviceClass>
    readonly deviceTaintRules: ClusterScoped<DeviceTaintRule>
    readonly resourceClaimTemplates: Namespaced<ResourceClaimTemplate>
    readonly resourceClaims: Namespaced<ResourceV1ResourceClaim>
    readonly resourceSlices: ClusterScoped<ResourceSlice>
  }
  readonly scheduling: {
    readonly priorityClasses: ClusterScoped<PriorityClass>
  }
  readonly storage: {
    readonly csiDrivers: ClusterScoped<CSIDriver>
    readonly csiNodes: ClusterScoped<CSINode>
    readonly csiStorageCapacities: Namespaced<CSIStorageCapacity>
    readonly storageClasses: ClusterScoped<StorageClass>
    readonly volumeAttachments: ClusterScoped<VolumeAttachment>
    readonly volumeAttributesClasses: ClusterScoped<VolumeAttributesClass>
  }
  readonly storagemigration: {
    readonly storageVersionMigrations: ClusterScoped<StorageVersionMigration>
  }
}
