/**
 * What an attacker tries, as tables. Each row is asked twice, by an account without rights and then by an administrator: a
 * row whose request fails for the administrator too tests no permission, but a request that is wrong.
 */
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue, type KeyAndCertificate } from '../../src/cluster/certificate.ts'
import type { Attempt, Target } from './attacker.ts'
import { certificateRequest } from './certificate-request.ts'
import { authority } from './issuer.ts'

export const NS = '/api/v1/namespaces/attacked'
export const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ADMISSION = '/apis/admissionregistration.k8s.io/v1'
const CERTIFICATES = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const mergePatch = { 'content-type': 'application/merge-patch+json' }

export const roleRef = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })

/** A POST of an object. `kind`: with its group and version, as `apps/v1/Deployment`. */
function create(path: string, kind: string, name: string | undefined, more: object = {}): Attempt {
  const at = kind.lastIndexOf('/')
  const metadata = name === undefined ? {} : { metadata: { name } }
  const body = JSON.stringify({ apiVersion: kind.slice(0, at), kind: kind.slice(at + 1), ...metadata, ...more })
  return { method: 'POST', path, body }
}

/** What the rows below are about: a secret, a pod on a node, a namespace, a certificate request. As the administrator. */
export const SETTING: readonly Attempt[] = [
  create(`${NS}/secrets`, 'v1/Secret', 's'),
  create(`${NS}/configmaps`, 'v1/ConfigMap', 'c'),
  create(`${NS}/serviceaccounts`, 'v1/ServiceAccount', 'other'),
  create('/api/v1/namespaces', 'v1/Namespace', 'victim'),
  create('/api/v1/nodes', 'v1/Node', 'n', {
    status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] },
  }),
  create(`${NS}/services`, 'v1/Service', 's', { spec: { ports: [{ port: 443 }] } }),
  create(`${NS}/pods`, 'v1/Pod', 'p', {
    spec: { serviceAccountName: 'nobody', nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  }),
  create(CERTIFICATES, 'certificates.k8s.io/v1/CertificateSigningRequest', 'x', {
    spec: {
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      request: certificateRequest('climber'),
    },
  }),
]

const webhooks = [
  {
    name: 'all.attack.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ apiGroups: ['none'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
  },
]

export interface Row extends Attempt {
  /** What the administrator gets. */
  readonly admin: number
}

/** Permissions: refused to an account without rights with 403, done for the administrator. */
export const permissions: Readonly<Record<string, Row>> = {
  'reading secrets': { admin: 200, path: `${NS}/secrets` },
  'reading secrets of all namespaces': { admin: 200, path: '/api/v1/secrets' },
  'reading one secret': { admin: 200, path: `${NS}/secrets/s` },
  'watching secrets': { admin: 200, path: `${NS}/secrets?watch=true&timeoutSeconds=1` },
  'watching secrets, spelled oddly': { admin: 200, path: `${NS}/secrets?watch=yes&timeoutSeconds=1` },
  'the old watch path': { admin: 200, path: '/api/v1/watch/secrets?timeoutSeconds=1' },
  'secrets as a table': {
    admin: 200,
    path: `${NS}/secrets`,
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  },
  metrics: { admin: 200, path: '/metrics' },
  'a token of another account': {
    admin: 201,
    ...create(`${NS}/serviceaccounts/other/token`, 'authentication.k8s.io/v1/TokenRequest', undefined, { spec: {} }),
  },
  'a binding of its own': {
    admin: 201,
    ...create(`${RBAC}/clusterrolebindings`, 'rbac.authorization.k8s.io/v1/ClusterRoleBinding', 'mine', {
      roleRef: roleRef('ClusterRole', 'view'),
      subjects: [{ kind: 'ServiceAccount', name: 'other', namespace: 'attacked' }],
    }),
  },
  'a role that aggregates into admin': {
    admin: 201,
    ...create(`${RBAC}/clusterroles`, 'rbac.authorization.k8s.io/v1/ClusterRole', 'x', {
      metadata: { name: 'x', labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    }),
  },
  'changing cluster-admin': {
    admin: 200,
    method: 'PATCH',
    path: `${RBAC}/clusterroles/cluster-admin`,
    body: '{"metadata":{"annotations":{"a":"b"}}}',
    headers: mergePatch,
  },
  'making a role by applying it': {
    admin: 201,
    method: 'PATCH',
    path: `${RBAC}/namespaces/attacked/roles/applied?fieldManager=m`,
    body: JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'applied' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    }),
    headers: { 'content-type': 'application/apply-patch+yaml' },
  },
  'approving a certificate': {
    admin: 200,
    method: 'PATCH',
    path: `${CERTIFICATES}/x/approval`,
    body: '{"status":{"conditions":[{"type":"Approved","status":"True","reason":"Mine","message":"m"}]}}',
    headers: mergePatch,
  },
  'a webhook that sees everything': {
    admin: 201,
    ...create(
      `${ADMISSION}/mutatingwebhookconfigurations`,
      'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration',
      'w',
      { webhooks },
    ),
  },
  'an APIService': {
    admin: 201,
    ...create(
      '/apis/apiregistration.k8s.io/v1/apiservices',
      'apiregistration.k8s.io/v1/APIService',
      'v1.attack.example.com',
      {
        spec: {
          group: 'attack.example.com',
          version: 'v1',
          groupPriorityMinimum: 1,
          versionPriority: 1,
          insecureSkipTLSVerify: true,
          service: { namespace: 'attacked', name: 'nothing' },
        },
      },
    ),
  },
  'a pod of an account of another': {
    admin: 201,
    ...create(`${NS}/pods`, 'v1/Pod', 'thief', {
      spec: { serviceAccountName: 'other', containers: [{ name: 'c', image: 'i' }] },
    }),
  },
  'putting a node to sleep': {
    admin: 200,
    method: 'PATCH',
    path: '/api/v1/nodes/n',
    body: '{"spec":{"unschedulable":true}}',
    headers: mergePatch,
  },
  'a status that is not its own': {
    admin: 200,
    method: 'PATCH',
    path: '/api/v1/nodes/n/status',
    body: '{"status":{"phase":"Terminated"}}',
    headers: mergePatch,
  },
  'evicting a pod': { admin: 201, ...create(`${NS}/pods/p/eviction`, 'policy/v1/Eviction', 'p') },
  'deleting a namespace': { admin: 200, method: 'DELETE', path: '/api/v1/namespaces/victim' },
  'deleting a secret': { admin: 200, method: 'DELETE', path: `${NS}/secrets/s` },
  'deleting all config maps': { admin: 200, method: 'DELETE', path: `${NS}/configmaps` },
  'another method in a header': {
    admin: 200,
    path: '/api/v1/namespaces/kube-system',
    headers: { 'x-http-method-override': 'DELETE' },
  },
  'another path in a header': {
    admin: 200,
    path: `${NS}/secrets`,
    headers: { 'x-original-url': '/healthz', 'x-rewrite-url': '/healthz' },
  },
  'an impersonated administrator': {
    admin: 200,
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'kubernetes-admin', 'impersonate-group': 'system:masters' },
  },
  'impersonated groups': {
    admin: 200,
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:serviceaccount:attacked:nobody', 'impersonate-group': 'system:masters' },
  },
  'an impersonated controller': {
    admin: 200,
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:serviceaccount:kube-system:generic-garbage-collector' },
  },
  'an impersonated node': {
    admin: 200,
    path: '/api/v1/nodes/n',
    headers: { 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' },
  },
  "asking for another's rights": {
    admin: 201,
    ...create(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      'authorization.k8s.io/v1/SubjectAccessReview',
      undefined,
      { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'secrets' } } },
    ),
  },
  'asking whose a token is': {
    admin: 201,
    ...create('/apis/authentication.k8s.io/v1/tokenreviews', 'authentication.k8s.io/v1/TokenReview', undefined, {
      spec: { token: 'x' },
    }),
  },
}

export interface DeadEnd extends Row {
  /** What an account without rights gets. */
  readonly attacker: number
}

/** What is refused to everyone, to the administrator with a code of its own: no path here is another spelling of one that leads on. */
export const deadEnds: Readonly<Record<string, DeadEnd>> = {
  'secrets by HEAD': { attacker: 403, admin: 405, method: 'HEAD', path: `${NS}/secrets` },
  'a double slash': { attacker: 403, admin: 404, path: '/api/v1//secrets' },
  'a dot segment': { attacker: 403, admin: 404, path: '/api/v1/namespaces/attacked/../kube-system/secrets' },
  'an escaped dot segment': { attacker: 403, admin: 404, path: `${NS}/%2e%2e/kube-system/secrets` },
  'an escaped slash': { attacker: 403, admin: 404, path: '/api/v1/namespaces/attacked%2f..%2fkube-system/secrets' },
  'health in front': { attacker: 403, admin: 404, path: '/healthz/../api/v1/secrets' },
  'health in front, escaped': { attacker: 403, admin: 404, path: '/healthz/%2e%2e/api/v1/secrets' },
  'readyz behind': { attacker: 403, admin: 404, path: '/api/v1/secrets/readyz' },
  'upper case': { attacker: 403, admin: 404, path: '/API/v1/secrets' },
  'exec that is no upgrade': { attacker: 403, admin: 400, path: `${NS}/pods/p/exec?command=sh&stdout=true` },
  'the proxy of a node on loopback': { attacker: 403, admin: 400, path: '/api/v1/nodes/n/proxy/' },
  'the proxy of a service without endpoints': {
    attacker: 403,
    admin: 503,
    path: `${NS}/services/https:s:443/proxy/`,
  },
  // Of these this server has none.
  'a profile': { attacker: 403, admin: 404, path: '/debug/pprof/heap' },
  'logs of the host': { attacker: 403, admin: 404, path: '/logs/../etc/passwd' },
  'a kind of no version': { attacker: 403, admin: 404, path: '/api/v9/secrets' },
  'a namespace that must stay': { attacker: 403, admin: 403, method: 'DELETE', path: '/api/v1/namespaces/kube-system' },
  'a body that is none': {
    attacker: 403,
    admin: 422,
    method: 'POST',
    path: `${ADMISSION}/mutatingwebhookconfigurations`,
    body: '{}',
  },
}

const runtime = liveRuntime()
const masters = { commonName: 'kubernetes-admin', organizations: ['system:masters'], validDays: 1 }

/** Of no authority the server trusts, but for one that is for servers: not to be believed about the name they have. */
export const foreignCertificates: Readonly<Record<string, (target: Target) => KeyAndCertificate>> = {
  'that signs itself': () => issue(runtime, { ...masters, usage: 'client' }),
  'that says it is an authority': () => issue(runtime, { ...masters, usage: 'ca' }),
  'for servers': (target) => issue(runtime, { ...masters, usage: 'server', hosts: ['localhost'] }, target.authority),
  'of another authority': () => issue(runtime, { ...masters, usage: 'client' }, authority()),
}

/** A certificate that is right in all that those are wrong in. */
export const ownCertificate = (target: Target): KeyAndCertificate =>
  issue(runtime, { ...masters, usage: 'client' }, target.authority)
