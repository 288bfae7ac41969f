/** kubelet's flags (v1.37), in the form of flags.ts. */
import { LOG_FLAGS } from './common-flags.ts'
import { flagTable } from './flags.ts'

export const KUBELET_FLAGS = flagTable(`
${LOG_FLAGS}
address ip used 0.0.0.0
anonymous-auth bool ignored true
authentication-token-webhook bool ignored
authorization-mode string ignored AlwaysAllow
bootstrap-kubeconfig string used
cert-dir string used /var/lib/kubelet/pki
cgroup-driver string ignored cgroupfs
cgroups-per-qos bool ignored true
client-ca-file string used
cloud-provider string lacking
cluster-dns strings used
cluster-domain string used
config string lacking
config-dir string lacking
container-runtime-endpoint string used
enable-server bool used true
event-burst int ignored 100
event-qps int ignored 50
eviction-hard string used
eviction-max-pod-grace-period int used
eviction-minimum-reclaim string used
eviction-pressure-transition-period duration used
eviction-soft string used
eviction-soft-grace-period string used
fail-swap-on bool ignored true
feature-gates strings used
file-check-frequency duration used 20s
healthz-bind-address ip used 127.0.0.1
healthz-port int used 10248
hostname-override string used
http-check-frequency duration used 20s
kube-api-burst int used 100
kube-api-content-type string ignored application/vnd.kubernetes.protobuf
kube-api-qps int used 50
kubeconfig string used
manifest-url string used
manifest-url-header strings used
max-pods int used
node-ip string used
node-labels strings lacking
node-status-update-frequency duration ignored 10s
pod-cidr string used
pod-manifest-path string used
port int used 10250
provider-id string lacking
read-only-port int ignored 0
register-node bool lacking true
register-with-taints strings lacking
resolv-conf string ignored
root-dir string used /var/lib/kubelet
rotate-certificates bool used
rotate-server-certificates bool used
runtime-cgroups string ignored
serialize-image-pulls bool ignored true
sim-dir string used
sim-forward strings used
stages strings used
tls-cert-file string used
tls-cipher-suites strings ignored
tls-min-version string ignored
tls-private-key-file string used
`)
