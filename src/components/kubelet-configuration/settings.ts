/**
 * What a kubelet can be told (v1.37): one table of settings, each with its flag, its field of KubeletConfiguration
 * (kubelet.config.k8s.io/v1beta1), or both. A file's fields become the values of these settings, below those of the command line.
 */
import { LOG_FLAGS } from '../common-flags.ts'
import type { FlagType } from '../flag-values.ts'
import { type Flag, flagTable, type Handling } from '../flags.ts'

/** Beside those of flags: maps as `a=b,c=d` and `a<b,c<d`, maps of booleans, maps of lists as `a:b`, taints as `key=value:effect`. */
export type SettingType =
  | Extract<FlagType, 'bool' | 'int32' | 'float' | 'duration' | 'ip' | 'string' | 'strings' | 'array'>
  | 'int64'
  | 'map'
  | 'map<'
  | 'gates'
  | 'headers'
  | 'taints'
  | 'any'

export interface Setting {
  /** The flag's name; of what has no flag the field's. */
  readonly name: string
  readonly isFlag: boolean
  readonly type: SettingType
  readonly handling: Handling
  readonly field?: readonly string[]
  /** Zero, false or empty in a file is a value, and does not stand for the default. */
  readonly zeroCounts: boolean
  readonly usual?: string
}

/** Lines of `flag type handling field [default]`, `-` for none; a field with `!` may be zero. */
const SETTINGS = `
address ip used address 0.0.0.0
allowed-unsafe-sysctls strings used allowedUnsafeSysctls
anonymous-auth bool used - false
authentication-token-webhook bool used - true
authentication-token-webhook-cache-ttl duration used authentication.webhook.cacheTTL 2m0s
authorization-mode string used - Webhook
authorization-webhook-cache-authorized-ttl duration used authorization.webhook.cacheAuthorizedTTL 5m0s
authorization-webhook-cache-unauthorized-ttl duration used authorization.webhook.cacheUnauthorizedTTL 30s
bootstrap-kubeconfig string used -
cert-dir string used - /var/lib/kubelet/pki
cgroup-driver string ignored cgroupDriver cgroupfs
cgroup-root string lacking cgroupRoot
cgroups-per-qos bool ignored cgroupsPerQOS! true
client-ca-file string used authentication.x509.clientCAFile
cloud-provider string lacking -
cluster-dns strings used clusterDNS
cluster-domain string used clusterDomain
config string used -
config-dir string used -
container-log-max-files int32 used containerLogMaxFiles! 5
container-log-max-size string used containerLogMaxSize 10Mi
container-runtime-endpoint string used containerRuntimeEndpoint
contention-profiling bool ignored enableContentionProfiling
cpu-cfs-quota bool used cpuCFSQuota! true
cpu-cfs-quota-period duration used cpuCFSQuotaPeriod! 100ms
cpu-manager-policy string used cpuManagerPolicy none
cpu-manager-policy-options map used cpuManagerPolicyOptions
cpu-manager-reconcile-period duration used cpuManagerReconcilePeriod 10s
enable-controller-attach-detach bool lacking enableControllerAttachDetach! true
enable-debugging-handlers bool used enableDebuggingHandlers! true
enable-server bool used enableServer! true
enforce-node-allocatable strings used enforceNodeAllocatable pods
event-burst int32 ignored eventBurst 100
event-qps int32 ignored eventRecordQPS! 50
eviction-hard map< used evictionHard
eviction-max-pod-grace-period int32 used evictionMaxPodGracePeriod
eviction-minimum-reclaim map used evictionMinimumReclaim
eviction-pressure-transition-period duration used evictionPressureTransitionPeriod
eviction-soft map< used evictionSoft
eviction-soft-grace-period map used evictionSoftGracePeriod
exit-on-lock-contention bool lacking -
fail-cgroupv1 bool ignored failCgroupV1! true
fail-swap-on bool ignored failSwapOn! true
feature-gates gates used featureGates
file-check-frequency duration used fileCheckFrequency 20s
hairpin-mode string ignored hairpinMode promiscuous-bridge
healthz-bind-address ip used healthzBindAddress 127.0.0.1
healthz-port int32 used healthzPort! 10248
hostname-override string used -
housekeeping-interval duration ignored - 10s
http-check-frequency duration used httpCheckFrequency 20s
image-credential-provider-bin-dir string lacking -
image-credential-provider-config string lacking -
image-gc-high-threshold int32 used imageGCHighThresholdPercent! 85
image-gc-low-threshold int32 used imageGCLowThresholdPercent! 80
image-service-endpoint string lacking imageServiceEndpoint
kernel-memcg-notification bool ignored kernelMemcgNotification
kube-api-burst int32 used kubeAPIBurst 100
kube-api-content-type string ignored contentType application/vnd.kubernetes.protobuf
kube-api-qps int32 used kubeAPIQPS! 50
kube-reserved map used kubeReserved
kube-reserved-cgroup string ignored kubeReservedCgroup
kubeconfig string used -
kubelet-cgroups string ignored kubeletCgroups
local-storage-capacity-isolation bool lacking localStorageCapacityIsolation! true
lock-file string lacking -
make-iptables-util-chains bool ignored makeIPTablesUtilChains! true
manifest-url string used staticPodURL
manifest-url-header headers used staticPodURLHeader
max-open-files int64 ignored maxOpenFiles 1000000
max-pods int32 used maxPods
maximum-dead-containers int32 ignored - -1
maximum-dead-containers-per-container int32 ignored - 1
memory-manager-policy string used memoryManagerPolicy None
minimum-container-ttl-duration duration ignored - 0s
minimum-image-ttl-duration duration used imageMinimumGCAge 2m0s
node-ip string used -
node-labels strings used -
node-status-max-images int32 used nodeStatusMaxImages! 50
node-status-update-frequency duration ignored nodeStatusUpdateFrequency 10s
oom-score-adj int32 ignored oomScoreAdj! -999
pod-cidr string used podCIDR
pod-manifest-path string used staticPodPath
pod-max-pids int64 used podPidsLimit! -1
pods-per-core int32 used podsPerCore
port int32 used port 10250
protect-kernel-defaults bool ignored protectKernelDefaults
provider-id string used providerID
qos-reserved map lacking qosReserved
read-only-port int32 used readOnlyPort 0
register-node bool used registerNode! true
register-with-taints taints used registerWithTaints
registry-burst int32 ignored registryBurst 10
registry-qps int32 ignored registryPullQPS! 5
reserved-cpus string used reservedSystemCPUs
reserved-memory string lacking -
resolv-conf string used resolvConf! /etc/resolv.conf
root-dir string used - /var/lib/kubelet
rotate-certificates bool used rotateCertificates
rotate-server-certificates bool used serverTLSBootstrap
runonce bool lacking runOnce
runtime-cgroups string ignored -
runtime-request-timeout duration ignored runtimeRequestTimeout 2m0s
seccomp-default bool used seccompDefault! false
serialize-image-pulls bool ignored serializeImagePulls! true
sim-dir string used -
sim-forward strings used -
stages strings used -
streaming-connection-idle-timeout duration ignored streamingConnectionIdleTimeout 4h0m0s
sync-frequency duration ignored syncFrequency 1m0s
system-cgroups string ignored systemCgroups
system-reserved map used systemReserved
system-reserved-cgroup string ignored systemReservedCgroup
tls-cert-file string used tlsCertFile
tls-cipher-suites strings ignored tlsCipherSuites
tls-min-version string ignored tlsMinVersion
tls-private-key-file string used tlsPrivateKeyFile
topology-manager-policy string used topologyManagerPolicy none
topology-manager-policy-options map used topologyManagerPolicyOptions
topology-manager-scope string used topologyManagerScope container
volume-plugin-dir string ignored volumePluginDir /usr/libexec/kubernetes/kubelet-plugins/volume/exec/
volume-stats-agg-period duration ignored volumeStatsAggPeriod 1m0s
- bool used authentication.anonymous.enabled! false
- bool used authentication.webhook.enabled! true
- string used authorization.mode Webhook
- string ignored configMapAndSecretChangeDetectionStrategy Watch
- duration ignored containerLogMonitorInterval! 10s
- int32 ignored containerLogMaxWorkers! 1
- duration used crashLoopBackOff.maxContainerRestartPeriod! 5m0s
- map lacking defaultPodSysctls
- bool ignored enableDebugFlagsHandler! true
- bool ignored enableProfilingHandler! true
- bool ignored enableSystemLogHandler! true
- bool lacking enableSystemLogQuery! false
- duration used imageMaximumGCAge 0s
- string used imagePullCredentialsVerificationPolicy NeverVerifyPreloadedImages
- int32 ignored iptablesDropBit! 15
- int32 ignored iptablesMasqueradeBit! 14
- any ignored logging
- int32 ignored maxParallelImagePulls!
- float ignored memoryThrottlingFactor!
- string lacking memoryReservationPolicy None
- string used memorySwap.swapBehavior
- bool used mergeDefaultEvictionSettings! false
- int32 used nodeLeaseDurationSeconds 40
- duration used nodeStatusReportFrequency 5m0s
- string used podLogsDir /var/log/pods
- strings used preloadedImagesVerificationAllowlist
- any used reservedMemory
- string ignored showHiddenMetricsForVersion
- duration used shutdownGracePeriod 0s
- duration used shutdownGracePeriodCriticalPods 0s
- any used shutdownGracePeriodByPodPriority
- bool used singleProcessOOMKill! false
- any ignored tlsCurvePreferences
- any lacking tracing
- int64 lacking userNamespaces.idsPerPod
`

export const KUBELET_SETTINGS: readonly Setting[] = SETTINGS.trim()
  .split('\n')
  .map((line) => {
    const [flag = '', type, handling, field = '-', usual] = line.split(' ')
    const path = field.replace('!', '')
    return {
      name: flag === '-' ? path : flag,
      isFlag: flag !== '-',
      type: type as SettingType,
      handling: handling as Handling,
      ...(path === '-' ? {} : { field: path.split('.') }),
      zeroCounts: field.endsWith('!'),
      ...(usual === undefined ? {} : { usual }),
    }
  })

const FLAG_TYPES: Readonly<Partial<Record<SettingType, FlagType>>> = {
  int64: 'int',
  gates: 'switches',
  map: 'pairs',
  'map<': 'bounds',
  any: 'string',
}

const flagOf = ({ name, type, handling, usual }: Setting): Flag => {
  const common = { name, type: FLAG_TYPES[type] ?? (type as FlagType), handling }
  const value = usual ?? (type === 'bool' ? 'false' : undefined)
  return value === undefined ? common : { ...common, usual: value }
}
const byName = (settings: readonly Setting[]) => settings.map((one): [string, Flag] => [one.name, flagOf(one)])

/** Of the command line. */
export const KUBELET_FLAGS: ReadonlyMap<string, Flag> = new Map([
  ...flagTable(LOG_FLAGS),
  ...byName(KUBELET_SETTINGS.filter(({ isFlag }) => isFlag)),
])

/** All that has a value: flags, and fields that have none. */
export const KUBELET_VALUES: ReadonlyMap<string, Flag> = new Map([...KUBELET_FLAGS, ...byName(KUBELET_SETTINGS)])
