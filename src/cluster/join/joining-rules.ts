/**
 * What must be in a cluster before machines can join it: kube-public/cluster-info, which tells any client where the API server is and by
 * which authority it is known, and the rights of those that come with a bootstrap token: to read that, to ask for the client certificate
 * of a kubelet, which is approved by itself, and to see whether a node of their name is there. The names are those of a kubeadm cluster.
 */
import type { ConfigMap } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { JOINING_GROUP } from './bootstrap-token.ts'

const RBAC = 'rbac.authorization.k8s.io'
const CLUSTER_INFO = 'cluster-info'
const INFO_ROLE = 'kubeadm:bootstrap-signer-clusterinfo'
const GET_NODES = 'kubeadm:get-nodes'

const group = (name: string) => ({ kind: 'Group', name, apiGroup: RBAC })

function clusterBinding(name: string, role: string, subject: string): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [group(subject)],
  }
}

/** Where the cluster is and which authority to trust, as a kubeconfig without a user. JSON is YAML. `server`: a URL; `ca`: PEM. */
export function clusterInfoText(server: string, ca: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: '', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    contexts: null,
    'current-context': '',
    preferences: {},
    users: null,
  })
}

export const clusterInfo = (kubeconfig: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: CLUSTER_INFO, namespace: 'kube-public' },
  data: { kubeconfig },
})

export const JOINING_RULES: readonly KubeObject[] = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'Role',
    metadata: { name: INFO_ROLE, namespace: 'kube-public' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [CLUSTER_INFO], verbs: ['get'] }],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: INFO_ROLE, namespace: 'kube-public' },
    roleRef: { apiGroup: RBAC, kind: 'Role', name: INFO_ROLE },
    subjects: [{ kind: 'User', name: 'system:anonymous', apiGroup: RBAC }],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name: GET_NODES },
    rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
  },
  clusterBinding(GET_NODES, GET_NODES, JOINING_GROUP),
  clusterBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', JOINING_GROUP),
  clusterBinding(
    'kubeadm:node-autoapprove-bootstrap',
    'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    JOINING_GROUP,
  ),
  clusterBinding(
    'kubeadm:node-autoapprove-certificate-rotation',
    'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    'system:nodes',
  ),
]
