/** Which component a request is of, by the user that it acts as and what its client calls itself. */
import type { JournalRecord } from '../../api/journal.ts'
import type { ChangeWriter } from './timeline-types.ts'

const CONTROL_PLANE = 'system:serviceaccount:kube-system:'
const NODE = 'system:node:'

/** Users, components and finalizers are named by others, `constructor` too: what is looked up by them is a Map. */
const BY_USER: ReadonlyMap<string, string> = new Map([
  ['system:kube-scheduler', 'kube-scheduler'],
  ['system:apiserver', 'kube-apiserver'],
  ['system:kube-controller-manager', 'kube-controller-manager'],
])

type Asked = Pick<JournalRecord, 'user' | 'userAgent' | 'fieldManager'>

export function writerOf({ user, userAgent, fieldManager }: Asked): ChangeWriter {
  return {
    component: componentOf(user, userAgent),
    user,
    userAgent,
    ...(fieldManager === undefined ? {} : { fieldManager }),
    certainty: 'known',
  }
}

function componentOf(user: string, userAgent: string): string {
  if (user.startsWith(NODE)) return 'kubelet'
  const named = BY_USER.get(user)
  // A controller manager that lets its controllers share one user says in the user agent which of them asks.
  if (named === 'kube-controller-manager')
    return /^kube-controller-manager\/.*\/([a-z][a-z0-9-]+)$/.exec(userAgent)?.[1] ?? named
  if (named !== undefined) return named
  if (!user.startsWith(CONTROL_PLANE)) return user === '' ? '' : /^kwok(\/|$)/.test(userAgent) ? 'kwok' : 'user'
  const account = user.slice(CONTROL_PLANE.length)
  return CONTROLLERS.has(account) ? account : 'user'
}

/** Service accounts of the controller manager of Kubernetes v1.37: others in kube-system are add-ons'. */
const CONTROLLERS: ReadonlySet<string> = new Set([
  'attachdetach-controller',
  'certificate-controller',
  'clusterrole-aggregation-controller',
  'cronjob-controller',
  'daemon-set-controller',
  'deployment-controller',
  'disruption-controller',
  'endpoint-controller',
  'endpointslice-controller',
  'endpointslicemirroring-controller',
  'ephemeral-volume-controller',
  'expand-controller',
  'generic-garbage-collector',
  'horizontal-pod-autoscaler',
  'job-controller',
  'legacy-service-account-token-cleaner',
  'namespace-controller',
  'node-controller',
  'persistent-volume-binder',
  'pod-garbage-collector',
  'pv-protection-controller',
  'pvc-protection-controller',
  'replicaset-controller',
  'replication-controller',
  'resource-claim-controller',
  'resourcequota-controller',
  'root-ca-cert-publisher',
  'selinux-warning-controller',
  'service-account-controller',
  'service-cidrs-controller',
  'service-controller',
  'statefulset-controller',
  'storage-version-migrator-controller',
  'taint-eviction-controller',
  'token-cleaner',
  'bootstrap-signer',
  'ttl-after-finished-controller',
  'ttl-controller',
  'validatingadmissionpolicy-status-controller',
  'volumeattributesclass-protection-controller',
])

const WORDS: ReadonlyMap<string, string> = new Map([
  ['generic-garbage-collector', 'garbage collector'],
  ['kube-apiserver', 'API server'],
  ['kwok', 'KWOK, which stands for a kubelet'],
  ['kube-scheduler', 'scheduler'],
  ['pod-garbage-collector', 'pod garbage collector'],
])

/** The component in words; of a user its name. */
export function writerWords({ component, user }: ChangeWriter): string {
  if (component === '') return 'an unknown writer'
  if (component === 'user') return user
  if (component === 'kubelet') return user.startsWith(NODE) ? `kubelet of ${user.slice(NODE.length)}` : 'kubelet'
  return WORDS.get(component) ?? component.replaceAll('-', ' ')
}
