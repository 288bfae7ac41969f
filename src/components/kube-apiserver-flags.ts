/** kube-apiserver's flags (v1.37): type, what becomes of each here (flags.ts), default. */
import { LOGGING } from './common-flags.ts'
import { flagTable } from './flags.ts'

export const KUBE_APISERVER_FLAGS = flagTable(`
admission-control strings used
admission-control-config-file string used
advertise-address ip used
aggregator-reject-forwarding-redirect bool lacking true
allow-metric-labels labels ignored
allow-metric-labels-manifest string ignored
allow-privileged bool used
anonymous-auth bool used true
api-audiences strings used
apiserver-count int ignored 1
audit-log-batch-buffer-size int ignored 10000
audit-log-batch-max-size int ignored 1
audit-log-batch-max-wait duration ignored
audit-log-batch-throttle-burst int ignored
audit-log-batch-throttle-enable bool ignored
audit-log-batch-throttle-qps float32 ignored
audit-log-compress bool used
audit-log-format string lacking json
audit-log-maxage int used 366
audit-log-maxbackup int used 100
audit-log-maxsize int used 100
audit-log-mode string used blocking
audit-log-path string used
audit-log-truncate-enabled bool used
audit-log-truncate-max-batch-size int used 10485760
audit-log-truncate-max-event-size int used 102400
audit-log-version string lacking audit.k8s.io/v1
audit-policy-file string used
audit-webhook-batch-buffer-size int used 10000
audit-webhook-batch-max-size int used 400
audit-webhook-batch-max-wait duration used 30s
audit-webhook-batch-throttle-burst int used 15
audit-webhook-batch-throttle-enable bool used true
audit-webhook-batch-throttle-qps float32 used 10
audit-webhook-config-file string used
audit-webhook-initial-backoff duration used 10s
audit-webhook-mode string used batch
audit-webhook-truncate-enabled bool used
audit-webhook-truncate-max-batch-size int used 10485760
audit-webhook-truncate-max-event-size int used 102400
audit-webhook-version string lacking audit.k8s.io/v1
authentication-config string used
authentication-token-webhook-cache-ttl duration used 2m0s
authentication-token-webhook-config-file string used
authentication-token-webhook-version string used v1beta1
authorization-config string used
authorization-mode strings used
authorization-policy-file string used
authorization-webhook-cache-authorized-ttl duration used 5m0s
authorization-webhook-cache-unauthorized-ttl duration used 30s
authorization-webhook-config-file string used
authorization-webhook-version string used v1beta1
bind-address ip used 0.0.0.0
cert-dir string used /var/run/kubernetes
client-ca-file string used
contention-profiling bool ignored
coordinated-leadership-lease-duration duration ignored 15s
coordinated-leadership-renew-deadline duration ignored 10s
coordinated-leadership-retry-period duration ignored 2s
cors-allowed-origins strings used
debug-socket-path string lacking
default-not-ready-toleration-seconds int used 300
default-unreachable-toleration-seconds int used 300
default-watch-cache-size int ignored 100
delete-collection-workers int ignored 1
disable-admission-plugins strings used
disable-http2-serving bool used
disabled-metrics strings ignored
egress-selector-config-file string used
emulated-version strings used
emulation-forward-compatible bool ignored
enable-admission-plugins strings used
enable-aggregator-routing bool ignored
enable-bootstrap-token-auth bool ignored
enable-garbage-collector bool used true
enable-logs-handler bool ignored
enable-priority-and-fairness bool used true
encryption-provider-config string used
encryption-provider-config-automatic-reload bool used
endpoint-reconciler-type string ignored lease
etcd-cafile string lacking
etcd-certfile string lacking
etcd-compaction-interval duration ignored 5m0s
etcd-count-metric-poll-period duration ignored 1m0s
etcd-db-metric-poll-interval duration ignored 30s
etcd-healthcheck-timeout duration ignored 2s
etcd-keyfile string lacking
etcd-prefix string used /registry
etcd-readycheck-timeout duration ignored 2s
etcd-servers strings used
etcd-servers-overrides strings lacking
event-ttl duration used 1h0m0s
external-hostname string ignored
feature-gates strings used
goaway-chance float used
http2-max-streams-per-connection int used
kubelet-certificate-authority string used
kubelet-client-certificate string used
kubelet-client-key string used
kubelet-port uint ignored 10250
kubelet-preferred-address-types strings used Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP
kubelet-read-only-port uint ignored 10255
kubelet-timeout duration ignored 5s
kubernetes-service-node-port int used
lease-reuse-duration-seconds int ignored 60
livez-grace-period duration ignored${LOGGING}max-connection-bytes-per-sec int lacking
max-mutating-requests-inflight int used 200
max-requests-inflight int used 400
min-compatibility-version strings ignored
min-request-timeout int used 1800
oidc-ca-file string used
oidc-client-id string used
oidc-groups-claim string used
oidc-groups-prefix string used
oidc-issuer-url string used
oidc-required-claim pairs used
oidc-signing-algs strings used RS256
oidc-username-claim string used sub
oidc-username-prefix string used
peer-advertise-ip string ignored
peer-advertise-port string ignored
peer-ca-file string ignored
permit-address-sharing bool ignored
permit-port-sharing bool ignored
profiling bool ignored true
proxy-client-cert-file string used
proxy-client-key-file string used
request-timeout duration used 1m0s
requestheader-allowed-names strings used
requestheader-client-ca-file string used
requestheader-extra-headers-prefix strings used
requestheader-group-headers strings used
requestheader-uid-headers strings used
requestheader-username-headers strings used
runtime-config strings used
runtime-config-emulation-forward-compatible bool ignored
secure-port int used 6443
service-account-extend-token-expiration bool used true
service-account-issuer array used
service-account-jwks-uri string used
service-account-key-file array used
service-account-lookup bool lacking true
service-account-max-token-expiration duration used
service-account-signing-endpoint string lacking
service-account-signing-key-file string used
service-cluster-ip-range string used
service-node-port-range ports used 30000-32767
show-hidden-metrics-for-version string ignored
shutdown-delay-duration duration used
shutdown-send-retry-after bool used
shutdown-watch-termination-grace-period duration used
storage-backend string lacking etcd3
storage-initialization-timeout duration ignored 1m0s
storage-media-type string ignored application/vnd.kubernetes.protobuf
strict-transport-security-directives strings used
tls-cert-file string used
tls-cipher-suites strings used
tls-curve-preferences ints used
tls-min-version string used
tls-private-key-file string used
tls-sni-cert-key certificate used
token-auth-file string used
tracing-config-file string used
v level used
vmodule vmodule ignored
watch-cache bool ignored true
watch-cache-sizes strings ignored
`)
