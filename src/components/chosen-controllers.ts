/** --controllers, --enable-garbage-collector and --concurrent-*-syncs of kube-controller-manager. */
import { CONTROLLER_NAMES } from '../controllers/manager.ts'
import { refuseAll } from './asked-flags.ts'
import { FlagError, type ReadFlags } from './flags.ts'

/** Those that kube-controller-manager has besides (v1.37), none of which runs by default: nothing runs for them here. */
const NOT_HERE = [
  'podgroup-protection-controller',
  'resourcepoolstatusrequest-controller',
  'selinux-warning-controller',
  'storageversion-garbage-collector-controller',
]

/** They run only when they are named: `*` does not mean them. */
const OFF_BY_DEFAULT = ['bootstrap-signer-controller', 'token-cleaner-controller']

/** Older names, which kube-controller-manager still takes. */
const ALIASES: Readonly<Record<string, string>> = {
  attachdetach: 'persistentvolume-attach-detach-controller',
  bootstrapsigner: 'bootstrap-signer-controller',
  clusterrole: 'clusterrole-aggregation-controller',
  'clusterrole-aggregation': 'clusterrole-aggregation-controller',
  cronjob: 'cronjob-controller',
  csrapproving: 'certificatesigningrequest-approving-controller',
  csrcleaner: 'certificatesigningrequest-cleaner-controller',
  csrsigning: 'certificatesigningrequest-signing-controller',
  daemonset: 'daemonset-controller',
  deployment: 'deployment-controller',
  disruption: 'disruption-controller',
  endpoint: 'endpoints-controller',
  endpointslice: 'endpointslice-controller',
  endpointslicemirroring: 'endpointslice-mirroring-controller',
  'ephemeral-volume': 'ephemeral-volume-controller',
  garbagecollector: 'garbage-collector-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler-controller',
  job: 'job-controller',
  'legacy-service-account-token-cleaner': 'legacy-serviceaccount-token-cleaner-controller',
  namespace: 'namespace-controller',
  nodeipam: 'node-ipam-controller',
  nodelifecycle: 'node-lifecycle-controller',
  'persistentvolume-binder': 'persistentvolume-binder-controller',
  'persistentvolume-expander': 'persistentvolume-expander-controller',
  podgc: 'pod-garbage-collector-controller',
  'pv-protection': 'persistentvolume-protection-controller',
  'pvc-protection': 'persistentvolumeclaim-protection-controller',
  replicaset: 'replicaset-controller',
  replicationcontroller: 'replicationcontroller-controller',
  'resource-claim-controller': 'resourceclaim-controller',
  resourcequota: 'resourcequota-controller',
  'root-ca-cert-publisher': 'root-ca-certificate-publisher-controller',
  serviceaccount: 'serviceaccount-controller',
  'serviceaccount-token': 'serviceaccount-token-controller',
  statefulset: 'statefulset-controller',
  tokencleaner: 'token-cleaner-controller',
  ttl: 'ttl-controller',
  'ttl-after-finished': 'ttl-after-finished-controller',
}

/** By any of its names; with a minus before it, it is not to run. */
function controllerAsked(item: string) {
  const isOff = item.startsWith('-')
  const given = isOff ? item.slice(1) : item
  return { isOff, given, name: Object.hasOwn(ALIASES, given) ? (ALIASES[given] as string) : given }
}

/** What kube-controller-manager says of names that are none. */
export function unknownControllers(asked: readonly string[]): readonly string[] {
  return asked.flatMap((item) => {
    const { given, name } = controllerAsked(item)
    return item === '*' || CONTROLLER_NAMES.includes(name) || NOT_HERE.includes(name)
      ? []
      : [`"${given}" is not in the list of known controllers`]
  })
}

/** The names of those that run. @throws FlagError for one that skiff does not have */
export function chosenControllers(asked: readonly string[] | undefined, garbageCollector: boolean): readonly string[] {
  const list = asked === undefined || asked.length === 0 ? ['*'] : asked
  refuseAll(unknownControllers(list))
  const on = new Set<string>()
  const off = new Set<string>()
  for (const item of list) {
    if (item === '*') continue
    const { isOff, given, name } = controllerAsked(item)
    if (NOT_HERE.includes(name) && !isOff)
      throw new FlagError(`--controllers=${given}: skiff does not have this controller`)
    ;(isOff ? off : on).add(name)
  }
  const all = list.includes('*')
  return CONTROLLER_NAMES.filter(
    (name) =>
      (on.has(name) || (all && !off.has(name) && !OFF_BY_DEFAULT.includes(name))) &&
      (garbageCollector || name !== 'garbage-collector-controller'),
  )
}

const SYNCS: Readonly<Record<string, string>> = {
  'concurrent-cron-job-syncs': 'cronjob-controller',
  'concurrent-daemonset-syncs': 'daemonset-controller',
  'concurrent-deployment-syncs': 'deployment-controller',
  'concurrent-device-taint-eviction-syncs': 'device-taint-eviction-controller',
  'concurrent-disruption-syncs': 'disruption-controller',
  'concurrent-endpoint-syncs': 'endpoints-controller',
  'concurrent-ephemeralvolume-syncs': 'ephemeral-volume-controller',
  'concurrent-gc-syncs': 'garbage-collector-controller',
  'concurrent-horizontal-pod-autoscaler-syncs': 'horizontal-pod-autoscaler-controller',
  'concurrent-job-syncs': 'job-controller',
  'concurrent-namespace-syncs': 'namespace-controller',
  'concurrent-rc-syncs': 'replicationcontroller-controller',
  'concurrent-replicaset-syncs': 'replicaset-controller',
  'concurrent-resource-quota-syncs': 'resourcequota-controller',
  'concurrent-service-endpoint-syncs': 'endpointslice-controller',
  'concurrent-resourceclaim-syncs': 'resourceclaim-controller',
  'concurrent-serviceaccount-token-syncs': 'serviceaccount-token-controller',
  'concurrent-statefulset-syncs': 'statefulset-controller',
  'concurrent-ttl-after-finished-syncs': 'ttl-after-finished-controller',
  'concurrent-validating-admission-policy-status-syncs': 'validatingadmissionpolicy-status-controller',
  'mirroring-concurrent-service-endpoint-syncs': 'endpointslice-mirroring-controller',
}

/** How many objects each controller works on at a time, by its name. With none it does nothing, and with fewer. */
export function syncsOf(flags: ReadFlags): ReadonlyMap<string, number> {
  return new Map(Object.entries(SYNCS).map(([flag, controller]) => [controller, Math.max(0, flags.number(flag) ?? 1)]))
}
