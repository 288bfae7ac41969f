/** Flags that several of Kubernetes' components share (v1.37), in the form of flags.ts. */

const SERVING = `
bind-address ip used 0.0.0.0
cert-dir string used
disable-http2-serving bool used
http2-max-streams-per-connection int used
permit-address-sharing bool ignored
permit-port-sharing bool ignored
tls-cert-file string used
tls-cipher-suites strings used
tls-curve-preferences ints used
tls-min-version string used
tls-private-key-file string used
tls-sni-cert-key certificate used
`

const DELEGATED_AUTH = `
authentication-kubeconfig string used
authentication-skip-lookup bool used
authentication-token-webhook-cache-ttl duration ignored 10s
authorization-always-allow-paths strings used
authorization-kubeconfig string used
authorization-webhook-cache-authorized-ttl duration ignored 10s
authorization-webhook-cache-unauthorized-ttl duration ignored 10s
client-ca-file string used
requestheader-allowed-names strings used
requestheader-client-ca-file string used
requestheader-extra-headers-prefix strings used
requestheader-group-headers strings used
requestheader-uid-headers strings used
requestheader-username-headers strings used
`

const LEADER_ELECTION = `
leader-elect bool used true
leader-elect-lease-duration duration used 15s
leader-elect-renew-deadline duration used 10s
leader-elect-resource-lock string used leases
leader-elect-resource-name string used
leader-elect-resource-namespace string used kube-system
leader-elect-retry-period duration used 2s
`

/** Every component has these. */
export const LOGGING = `
log-flush-frequency duration ignored 5s
log-json-info-buffer-size quantity ignored
log-json-split-stream bool ignored
log-text-info-buffer-size quantity ignored
log-text-split-stream bool ignored
logging-format string ignored text
`

const LOGS_AND_METRICS = `
allow-metric-labels labels ignored
allow-metric-labels-manifest string ignored
disabled-metrics strings ignored${LOGGING}show-hidden-metrics-for-version string ignored
v level used
vmodule vmodule ignored
`

const GATES = `
emulated-version strings used
feature-gates strings used
min-compatibility-version strings ignored
`

const CLIENT = `
kube-api-burst int32 used
kube-api-content-type string ignored application/vnd.kubernetes.protobuf
kube-api-qps float32 used
kubeconfig string used
master string used
`

/** Of the controller manager and the scheduler. */
export const CONTROL_PLANE_FLAGS = [
  SERVING,
  DELEGATED_AUTH,
  LEADER_ELECTION,
  LOGS_AND_METRICS,
  GATES,
  CLIENT,
  'contention-profiling bool ignored\nprofiling bool ignored true\nsecure-port int used',
].join('\n')

/** Of a kubelet. */
export const LOG_FLAGS = `${LOGGING}v level used\nvmodule vmodule ignored`
