/** kube-controller-manager's flags (v1.37), in the form of flags.ts. */
import { CONTROL_PLANE_FLAGS } from './common-flags.ts'
import { flagTable } from './flags.ts'

export const KUBE_CONTROLLER_MANAGER_FLAGS = flagTable(`
${CONTROL_PLANE_FLAGS}
allocate-node-cidrs bool used
allow-untagged-cloud bool ignored
attach-detach-reconcile-sync-period duration ignored 1m0s
authentication-tolerate-lookup-failure bool used false
cidr-allocator-type string lacking RangeAllocator
cloud-config string ignored
cloud-provider string lacking
cluster-cidr string used
cluster-name string ignored kubernetes
cluster-signing-cert-file string used
cluster-signing-duration duration used 8760h0m0s
cluster-signing-key-file string used
cluster-signing-kube-apiserver-client-cert-file string lacking
cluster-signing-kube-apiserver-client-key-file string lacking
cluster-signing-kubelet-client-cert-file string lacking
cluster-signing-kubelet-client-key-file string lacking
cluster-signing-kubelet-serving-cert-file string lacking
cluster-signing-kubelet-serving-key-file string lacking
cluster-signing-legacy-unknown-cert-file string lacking
cluster-signing-legacy-unknown-key-file string lacking
concurrent-cron-job-syncs int32 used 5
concurrent-daemonset-syncs int32 used 2
concurrent-deployment-syncs int32 used 5
concurrent-device-taint-eviction-syncs int32 used 8
concurrent-disruption-syncs int32 used 1
concurrent-endpoint-syncs int32 used 5
concurrent-ephemeralvolume-syncs int32 used 5
concurrent-gc-syncs int32 used 20
concurrent-horizontal-pod-autoscaler-syncs int32 used 5
concurrent-job-syncs int32 used 5
concurrent-namespace-syncs int32 used 10
concurrent-rc-syncs int32 used 5
concurrent-replicaset-syncs int32 used 5
concurrent-resource-quota-syncs int32 used 5
concurrent-resourceclaim-syncs int32 used 50
concurrent-service-endpoint-syncs int32 used 5
concurrent-serviceaccount-token-syncs int32 used 5
concurrent-statefulset-syncs int32 used 5
concurrent-ttl-after-finished-syncs int32 used 5
concurrent-validating-admission-policy-status-syncs int32 used 5
configure-cloud-routes bool ignored true
controller-shutdown-timeout duration ignored 10s
controller-start-interval duration ignored
controllers strings used
disable-attach-detach-reconcile-sync bool ignored
disable-force-detach-on-timeout bool used
enable-dynamic-provisioning bool ignored true
enable-garbage-collector bool used true
enable-hostpath-provisioner bool lacking
enable-leader-migration bool used
endpoint-updates-batch-period duration lacking 0s
endpointslice-updates-batch-period duration lacking 0s
external-cloud-volume-plugin string lacking
flex-volume-plugin-dir string ignored /usr/libexec/kubernetes/kubelet-plugins/volume/exec/
horizontal-pod-autoscaler-cpu-initialization-period duration used 5m0s
horizontal-pod-autoscaler-downscale-stabilization duration used 5m0s
horizontal-pod-autoscaler-initial-readiness-delay duration used 30s
horizontal-pod-autoscaler-sync-period duration used 15s
horizontal-pod-autoscaler-tolerance float used 0.1
large-cluster-size-threshold int32 lacking 50
leader-migration-config string used
legacy-service-account-token-clean-up-period duration used 8760h0m0s
max-endpoints-per-slice int32 lacking 100
min-resync-period duration ignored 12h0m0s
mirroring-concurrent-service-endpoint-syncs int32 used 5
mirroring-endpointslice-updates-batch-period duration lacking 0s
mirroring-max-endpoints-per-subset int32 lacking 1000
namespace-sync-period duration ignored 5m0s
node-cidr-mask-size int32 used
node-cidr-mask-size-ipv4 int32 used
node-cidr-mask-size-ipv6 int32 used
node-eviction-rate float32 lacking 0.1
node-monitor-grace-period duration used 50s
node-monitor-period duration used 5s
node-startup-grace-period duration used 1m0s
node-sync-period duration ignored 0s
pv-recycler-increment-timeout-nfs int32 ignored 30
pv-recycler-minimum-timeout-hostpath int32 ignored 60
pv-recycler-minimum-timeout-nfs int32 ignored 300
pv-recycler-pod-template-filepath-hostpath string lacking
pv-recycler-pod-template-filepath-nfs string lacking
pv-recycler-timeout-increment-hostpath int32 ignored 30
pvclaimbinder-sync-period duration lacking 15s
resource-quota-sync-period duration lacking 5m0s
root-ca-file string used
route-reconciliation-period duration ignored 10s
secondary-node-eviction-rate float32 lacking 0.01
service-account-private-key-file string used
service-cluster-ip-range string used
terminated-pod-gc-threshold int32 used 12500
unhealthy-zone-threshold float32 lacking 0.55
use-service-account-credentials bool used
`)
