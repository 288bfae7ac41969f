/**
 * The permission matrix: for each bootstrap role a user who holds it and nothing else, and real requests of many kinds in his
 * name. What he may not do is refused in Kubernetes' words; what he may do fails only for want of the object.
 */
import type { Case, Step } from '../recording.ts'

const ROLES = `admin cluster-admin edit view system:aggregate-to-admin system:aggregate-to-edit system:aggregate-to-view
system:auth-delegator system:basic-user system:certificates.k8s.io:certificatesigningrequests:nodeclient
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
system:certificates.k8s.io:kube-apiserver-client-approver system:certificates.k8s.io:kubelet-serving-approver
system:cluster-trust-bundle-discovery system:discovery system:heapster system:kube-aggregator
system:kube-controller-manager system:kube-dns system:kube-scheduler system:kubelet-api-admin system:monitoring
system:node-bootstrapper system:node-problem-detector system:node-proxier system:persistent-volume-provisioner
system:public-info-viewer system:service-account-issuer-discovery system:volume-scheduler
system:controller:deployment-controller system:controller:generic-garbage-collector
system:controller:namespace-controller system:controller:node-controller system:controller:replicaset-controller
system:controller:pod-garbage-collector system:controller:disruption-controller
system:controller:service-account-controller system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
system:certificates.k8s.io:legacy-unknown-approver system:controller:attachdetach-controller
system:controller:certificate-controller system:controller:clusterrole-aggregation-controller
system:controller:cronjob-controller system:controller:daemon-set-controller
system:controller:device-taint-eviction-controller system:controller:endpoint-controller
system:controller:endpointslice-controller system:controller:endpointslicemirroring-controller
system:controller:ephemeral-volume-controller system:controller:expand-controller
system:controller:horizontal-pod-autoscaler system:controller:job-controller
system:controller:kube-apiserver-serving-clustertrustbundle-publisher
system:controller:legacy-service-account-token-cleaner system:controller:persistent-volume-binder
system:controller:podcertificaterequestcleaner system:controller:pv-protection-controller
system:controller:pvc-protection-controller system:controller:replication-controller
system:controller:resource-claim-controller system:controller:resourcequota-controller
system:controller:root-ca-cert-publisher system:controller:route-controller
system:controller:selinux-warning-controller system:controller:service-cidrs-controller
system:controller:service-controller system:controller:statefulset-controller
system:controller:storage-version-migrator-controller system:controller:ttl-after-finished-controller
system:controller:ttl-controller system:controller:validatingadmissionpolicy-status-controller
system:controller:volumeattributesclass-protection-controller system:node`.split(/\s+/)

/** Roles of one namespace: `namespace/name`. */
const LOCAL_ROLES =
  `kube-public/system:controller:bootstrap-signer kube-system/extension-apiserver-authentication-reader
kube-system/system::leader-locking-kube-controller-manager kube-system/system::leader-locking-kube-scheduler
kube-system/system:controller:bootstrap-signer kube-system/system:controller:cloud-provider
kube-system/system:controller:token-cleaner`.split(/\s+/)

const NS = '/api/v1/namespaces/$NS'
const APPS = '/apis/apps/v1/namespaces/$NS'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const NOTHING = '?labelSelector=none%3Dsuch'
const merge = { 'content-type': 'application/merge-patch+json' }

/** Requests that tell 403 from everything else and change nothing. */
const PROBES: readonly Step[] = [
  { m: 'GET', p: `${NS}/pods/x` },
  { m: 'GET', p: `${NS}/pods${NOTHING}` },
  { m: 'GET', p: `/api/v1/pods${NOTHING}` },
  { m: 'POST', p: `${NS}/pods?dryRun=All`, b: '{}' },
  { m: 'DELETE', p: `${NS}/pods/x?dryRun=All` },
  { m: 'DELETE', p: `${NS}/pods${NOTHING}&dryRun=All` },
  { m: 'PATCH', p: `${NS}/pods/x/status?dryRun=All`, b: '{}', h: merge },
  { m: 'POST', p: `${NS}/pods/x/binding?dryRun=All`, b: '{}' },
  { m: 'GET', p: `${NS}/secrets/x` },
  { m: 'GET', p: `${NS}/secrets${NOTHING}` },
  { m: 'GET', p: `${NS}/configmaps/x` },
  { m: 'GET', p: `/api/v1/namespaces/kube-system/configmaps/x` },
  { m: 'PATCH', p: `${NS}/configmaps/x?dryRun=All`, b: '{}', h: merge },
  { m: 'PATCH', p: `${APPS}/deployments/x?dryRun=All`, b: '{}', h: merge },
  { m: 'PUT', p: `${APPS}/deployments/x/status?dryRun=All`, b: '{}' },
  { m: 'DELETE', p: `${APPS}/replicasets/x?dryRun=All` },
  { m: 'GET', p: '/api/v1/nodes/x' },
  { m: 'PATCH', p: '/api/v1/nodes/x/status?dryRun=All', b: '{}', h: merge },
  { m: 'DELETE', p: '/api/v1/nodes/x?dryRun=All' },
  { m: 'POST', p: `${NS}/events?dryRun=All`, b: '{}' },
  { m: 'GET', p: `/api/v1/services${NOTHING}` },
  { m: 'GET', p: '/api/v1/persistentvolumes/x' },
  { m: 'GET', p: '/apis/storage.k8s.io/v1/storageclasses/x' },
  { m: 'PATCH', p: '/apis/coordination.k8s.io/v1/namespaces/$NS/leases/x?dryRun=All', b: '{}', h: merge },
  { m: 'POST', p: `${NS}/serviceaccounts/x/token?dryRun=All`, b: '{}' },
  { m: 'DELETE', p: '/api/v1/namespaces/no-such-namespace?dryRun=All' },
  { m: 'GET', p: `${RBAC}/namespaces/$NS/roles/x` },
  { m: 'POST', p: `${RBAC}/namespaces/$NS/rolebindings?dryRun=All`, b: '{}' },
  { m: 'DELETE', p: `${RBAC}/clusterroles/x?dryRun=All` },
  { m: 'GET', p: '/apis/certificates.k8s.io/v1/certificatesigningrequests/x' },
  { m: 'PUT', p: '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval?dryRun=All', b: '{}' },
  { m: 'GET', p: '/apis/apiregistration.k8s.io/v1/apiservices/x' },
  { m: 'GET', p: '/healthz' },
  { m: 'GET', p: '/no/such/path' },
]

/** What roles of one namespace are about, there and elsewhere. */
const LOCAL_PROBES: readonly Step[] = ['kube-system', 'kube-public', '$NS'].flatMap((namespace) => [
  ...[
    'secrets/x',
    `secrets${NOTHING}`,
    'configmaps/x',
    `configmaps${NOTHING}`,
    'configmaps/cluster-info',
    'configmaps/kube-controller-manager',
  ].map((path) => ({ m: 'GET', p: `/api/v1/namespaces/${namespace}/${path}` })),
  { m: 'PATCH', p: `/api/v1/namespaces/${namespace}/configmaps/kube-scheduler?dryRun=All`, b: '{}', h: merge },
  { m: 'POST', p: `/api/v1/namespaces/${namespace}/events?dryRun=All`, b: '{}' },
  { m: 'DELETE', p: `/api/v1/namespaces/${namespace}/secrets/x?dryRun=All` },
  { m: 'GET', p: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/kube-scheduler` },
])

export function permissionCases(): readonly Case[] {
  return [...clusterCases(), ...localCases()]
}

function localCases(): readonly Case[] {
  return LOCAL_ROLES.map((role, index) => {
    const [namespace, name] = role.split('/') as [string, string]
    const user = `local-${index}`
    const bindings = `${RBAC}/namespaces/${namespace}/rolebindings`
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: '$NS' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }
    return {
      name: role,
      steps: [
        { m: 'POST', p: bindings, b: JSON.stringify(binding) },
        { m: 'GET', p: `${NS}/configmaps?watch=1&timeoutSeconds=1` },
        ...LOCAL_PROBES.map((probe) => ({ ...probe, h: { ...probe.h, 'impersonate-user': user } })),
        { m: 'DELETE', p: `${bindings}/$NS` },
      ],
    }
  })
}

function clusterCases(): readonly Case[] {
  return ROLES.map((role, index) => {
    const user = `matrix-${index}`
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: '$NS' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }
    return {
      name: role,
      steps: [
        { m: 'POST', p: `${RBAC}/clusterrolebindings`, b: JSON.stringify(binding) },
        // A real server's authorizer sees the binding a moment later: wait as long as a short watch takes.
        { m: 'GET', p: `${NS}/configmaps?watch=1&timeoutSeconds=1` },
        ...PROBES.map((probe) => ({ ...probe, h: { ...probe.h, 'impersonate-user': user } })),
        { m: 'DELETE', p: `${RBAC}/clusterrolebindings/$NS` },
      ],
    }
  })
}
