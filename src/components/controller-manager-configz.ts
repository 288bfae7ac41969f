/** /configz of the controller manager: its flags as a KubeControllerManagerConfiguration (kubecontrollermanager.config.k8s.io/v1alpha1). */
import type { Json } from '../api/object.ts'
import { parseGoBool } from '../base/go-bool.ts'
import type { FlagType } from './flag-values.ts'
import type { ReadFlags } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'
import { toldFlags } from './told-flags.ts'

/** Text that begins so is a flag's value; all else stands as it is. */
const FLAG = '--'
type Shape = string | number | boolean | null | readonly Shape[] | { readonly [field: string]: Shape }

const signer = (name: string): Shape => ({
  CertFile: `--cluster-signing-${name}-cert-file`,
  KeyFile: `--cluster-signing-${name}-key-file`,
})
const EVENTS: readonly Shape[] = ['events.k8s.io', ''].map((Group) => ({ Group, Resource: 'events' }))

/** In the order of kube-controller-manager v1.37.1. */
const SHAPE: Shape = {
  kind: 'KubeControllerManagerConfiguration',
  apiVersion: 'kubecontrollermanager.config.k8s.io/v1alpha1',
  Generic: {
    Port: 0,
    // Not --bind-address: the address of a port that is no more.
    Address: '0.0.0.0',
    MinResyncPeriod: '--min-resync-period',
    ClientConnection: {
      kubeconfig: '--kubeconfig',
      acceptContentTypes: '',
      contentType: '--kube-api-content-type',
      qps: '--kube-api-qps',
      burst: '--kube-api-burst',
    },
    ControllerStartInterval: '--controller-start-interval',
    LeaderElection: {
      leaderElect: '--leader-elect',
      leaseDuration: '--leader-elect-lease-duration',
      renewDeadline: '--leader-elect-renew-deadline',
      retryPeriod: '--leader-elect-retry-period',
      resourceLock: '--leader-elect-resource-lock',
      resourceName: '--leader-elect-resource-name',
      resourceNamespace: '--leader-elect-resource-namespace',
    },
    Controllers: '--controllers',
    Debugging: { enableProfiling: '--profiling', enableContentionProfiling: '--contention-profiling' },
    LeaderMigrationEnabled: '--enable-leader-migration',
    LeaderMigration: { leaderName: '', resourceLock: '', controllerLeaders: null },
  },
  KubeCloudShared: {
    CloudProvider: { Name: '--cloud-provider', CloudConfigFile: '--cloud-config' },
    ExternalCloudVolumePlugin: '',
    UseServiceAccountCredentials: '--use-service-account-credentials',
    AllowUntaggedCloud: '--allow-untagged-cloud',
    RouteReconciliationPeriod: '--route-reconciliation-period',
    ClusterName: '--cluster-name',
    ClusterCIDR: '--cluster-cidr',
    AllocateNodeCIDRs: '--allocate-node-cidrs',
    CIDRAllocatorType: '--cidr-allocator-type',
    ConfigureCloudRoutes: '--configure-cloud-routes',
    NodeSyncPeriod: '0s',
  },
  AttachDetachController: {
    DisableAttachDetachReconcilerSync: '--disable-attach-detach-reconcile-sync',
    ReconcilerSyncLoopPeriod: '--attach-detach-reconcile-sync-period',
    disableForceDetachOnTimeout: '--disable-force-detach-on-timeout',
  },
  CSRSigningController: {
    ClusterSigningCertFile: '--cluster-signing-cert-file',
    ClusterSigningKeyFile: '--cluster-signing-key-file',
    KubeletServingSignerConfiguration: signer('kubelet-serving'),
    KubeletClientSignerConfiguration: signer('kubelet-client'),
    KubeAPIServerClientSignerConfiguration: signer('kube-apiserver-client'),
    LegacyUnknownSignerConfiguration: signer('legacy-unknown'),
    ClusterSigningDuration: '--cluster-signing-duration',
  },
  DaemonSetController: { ConcurrentDaemonSetSyncs: '--concurrent-daemonset-syncs' },
  DeploymentController: { ConcurrentDeploymentSyncs: '--concurrent-deployment-syncs' },
  DisruptionController: { ConcurrentDisruptionSyncs: '--concurrent-disruption-syncs' },
  StatefulSetController: { ConcurrentStatefulSetSyncs: '--concurrent-statefulset-syncs' },
  DeprecatedController: {},
  EndpointController: {
    ConcurrentEndpointSyncs: '--concurrent-endpoint-syncs',
    EndpointUpdatesBatchPeriod: '--endpoint-updates-batch-period',
  },
  EndpointSliceController: {
    ConcurrentServiceEndpointSyncs: '--concurrent-service-endpoint-syncs',
    MaxEndpointsPerSlice: '--max-endpoints-per-slice',
    EndpointUpdatesBatchPeriod: '--endpointslice-updates-batch-period',
  },
  EndpointSliceMirroringController: {
    MirroringConcurrentServiceEndpointSyncs: '--mirroring-concurrent-service-endpoint-syncs',
    MirroringMaxEndpointsPerSubset: '--mirroring-max-endpoints-per-subset',
    MirroringEndpointUpdatesBatchPeriod: '--mirroring-endpointslice-updates-batch-period',
  },
  EphemeralVolumeController: { ConcurrentEphemeralVolumeSyncs: '--concurrent-ephemeralvolume-syncs' },
  GarbageCollectorController: {
    EnableGarbageCollector: '--enable-garbage-collector',
    ConcurrentGCSyncs: '--concurrent-gc-syncs',
    GCIgnoredResources: EVENTS,
  },
  HPAController: {
    ConcurrentHorizontalPodAutoscalerSyncs: '--concurrent-horizontal-pod-autoscaler-syncs',
    HorizontalPodAutoscalerSyncPeriod: '--horizontal-pod-autoscaler-sync-period',
    HorizontalPodAutoscalerDownscaleStabilizationWindow: '--horizontal-pod-autoscaler-downscale-stabilization',
    HorizontalPodAutoscalerTolerance: '--horizontal-pod-autoscaler-tolerance',
    HorizontalPodAutoscalerCPUInitializationPeriod: '--horizontal-pod-autoscaler-cpu-initialization-period',
    HorizontalPodAutoscalerInitialReadinessDelay: '--horizontal-pod-autoscaler-initial-readiness-delay',
  },
  JobController: { ConcurrentJobSyncs: '--concurrent-job-syncs' },
  CronJobController: { ConcurrentCronJobSyncs: '--concurrent-cron-job-syncs' },
  LegacySATokenCleaner: { CleanUpPeriod: '--legacy-service-account-token-clean-up-period' },
  NamespaceController: {
    NamespaceSyncPeriod: '--namespace-sync-period',
    ConcurrentNamespaceSyncs: '--concurrent-namespace-syncs',
  },
  NodeIPAMController: {
    // One range of services, and one more: of one flag.
    ServiceCIDR: '--service-cluster-ip-range 0',
    SecondaryServiceCIDR: '--service-cluster-ip-range 1',
    NodeCIDRMaskSize: '--node-cidr-mask-size',
    NodeCIDRMaskSizeIPv4: '--node-cidr-mask-size-ipv4',
    NodeCIDRMaskSizeIPv6: '--node-cidr-mask-size-ipv6',
  },
  NodeLifecycleController: {
    NodeEvictionRate: '--node-eviction-rate',
    SecondaryNodeEvictionRate: '--secondary-node-eviction-rate',
    NodeStartupGracePeriod: '--node-startup-grace-period',
    NodeMonitorGracePeriod: '--node-monitor-grace-period',
    PodEvictionTimeout: '0s',
    LargeClusterSizeThreshold: '--large-cluster-size-threshold',
    UnhealthyZoneThreshold: '--unhealthy-zone-threshold',
    NodeMonitorPeriod: '--node-monitor-period',
  },
  PersistentVolumeBinderController: {
    PVClaimBinderSyncPeriod: '--pvclaimbinder-sync-period',
    VolumeConfiguration: {
      EnableHostPathProvisioning: '--enable-hostpath-provisioner',
      EnableDynamicProvisioning: '--enable-dynamic-provisioning',
      PersistentVolumeRecyclerConfiguration: {
        MaximumRetry: 3,
        MinimumTimeoutNFS: '--pv-recycler-minimum-timeout-nfs',
        PodTemplateFilePathNFS: '--pv-recycler-pod-template-filepath-nfs',
        IncrementTimeoutNFS: '--pv-recycler-increment-timeout-nfs',
        PodTemplateFilePathHostPath: '--pv-recycler-pod-template-filepath-hostpath',
        MinimumTimeoutHostPath: '--pv-recycler-minimum-timeout-hostpath',
        IncrementTimeoutHostPath: '--pv-recycler-timeout-increment-hostpath',
      },
      FlexVolumePluginDir: '--flex-volume-plugin-dir',
    },
  },
  PodGCController: { TerminatedPodGCThreshold: '--terminated-pod-gc-threshold' },
  ReplicaSetController: { ConcurrentRSSyncs: '--concurrent-replicaset-syncs' },
  ReplicationController: { ConcurrentRCSyncs: '--concurrent-rc-syncs' },
  ResourceQuotaController: {
    ResourceQuotaSyncPeriod: '--resource-quota-sync-period',
    ConcurrentResourceQuotaSyncs: '--concurrent-resource-quota-syncs',
  },
  SAController: {
    ServiceAccountKeyFile: '--service-account-private-key-file',
    ConcurrentSATokenSyncs: '--concurrent-serviceaccount-token-syncs',
    RootCAFile: '--root-ca-file',
  },
  ServiceController: { ConcurrentServiceSyncs: 0 },
  TTLAfterFinishedController: { ConcurrentTTLSyncs: '--concurrent-ttl-after-finished-syncs' },
  ValidatingAdmissionPolicyStatusController: {
    ConcurrentPolicySyncs: '--concurrent-validating-admission-policy-status-syncs',
  },
  DeviceTaintEvictionController: { ConcurrentSyncs: '--concurrent-device-taint-eviction-syncs' },
  ResourceClaimController: { ConcurrentSyncs: '--concurrent-resourceclaim-syncs' },
}

const NUMBERS: ReadonlySet<FlagType> = new Set(['int', 'int32', 'uint', 'float', 'float32'])

/** `usual`: as of `toldFlags`. */
export function controllerManagerConfigz(
  { values }: Pick<ReadFlags, 'values'>,
  usual: Readonly<Record<string, string>>,
): Json {
  const told = toldFlags(KUBE_CONTROLLER_MANAGER_FLAGS, values, usual)
  const flagValue = (reference: string): Json => {
    const [name = '', part] = reference.slice(FLAG.length).split(' ')
    const flag = KUBE_CONTROLLER_MANAGER_FLAGS.get(name)
    const text = told[name]
    if (flag === undefined || text === undefined) throw new Error(`no flag ${name}`)
    if (part !== undefined) return text.split(',')[Number(part)] ?? ''
    if (flag.type === 'bool') return parseGoBool(text) === true
    if (NUMBERS.has(flag.type)) return Number(text)
    if (flag.type === 'strings') return text.slice(1, -1).split(',')
    return text
  }
  const filled = (shape: Shape): Json => {
    if (typeof shape === 'string') return shape.startsWith(FLAG) ? flagValue(shape) : shape
    if (Array.isArray(shape)) return shape.map(filled)
    if (shape === null || typeof shape !== 'object') return shape as Json
    return Object.fromEntries(Object.entries(shape).map(([field, value]) => [field, filled(value)]))
  }
  return { 'kubecontrollermanager.config.k8s.io': filled(SHAPE) }
}
