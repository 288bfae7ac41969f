/** Accounts and their tokens, aggregated roles, requests for certificates, what is found wrong in policies' expressions. */
import type { Fields } from '../../../src/api/object.ts'
import { approve, csr, csrObj, rm } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const TOKEN = 'kubernetes.io/service-account-token'
const tokenOf = (name: string, annotations: Fields, more: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: TOKEN,
  metadata: { name, annotations },
  ...more,
})
const account = (name: string, more: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name },
  ...more,
})
const NAME = 'kubernetes.io/service-account.name'
const UID = 'kubernetes.io/service-account.uid'

const role = (s: Scene, name: string, labels: Fields, more: Fields) =>
  s.create('clusterroles', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${s.ns}-${name}`, labels },
    ...more,
  })
const rule = (resource: string, ...verbs: readonly string[]) => ({ apiGroups: [''], resources: [resource], verbs })
const rulesOf = async (s: Scene, name: string) =>
  s.note(`${name}: ${JSON.stringify((await s.get('clusterroles', `${s.ns}-${name}`)).rules)}`)

const policy = (s: Scene, spec: Fields) =>
  s.create('validatingadmissionpolicies', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `${s.ns}-v` },
    spec: { failurePolicy: 'Ignore', ...spec },
  })
const matching = (...rules: readonly (readonly [group: string, version: string, resource: string])[]) => ({
  matchConstraints: {
    resourceRules: rules.map(([group, version, resource]) => ({
      apiGroups: [group],
      apiVersions: [version],
      resources: [resource],
      operations: ['CREATE'],
    })),
  },
})
const typed = (spec: Fields, changed?: Fields): Story => ({
  async act(s) {
    await policy(s, spec)
    await s.untilObj(
      'validatingadmissionpolicies',
      `${s.ns}-v`,
      ({ metadata, status }) => status?.observedGeneration === metadata['generation'],
      8000,
    )
    if (changed !== undefined) await s.patch('validatingadmissionpolicies', `${s.ns}-v`, { spec: changed })
    await s.pause(2000)
    s.note(JSON.stringify((await s.get('validatingadmissionpolicies', `${s.ns}-v`)).status))
  },
  clean: rm(['validatingadmissionpolicies', 'v']),
})
const CLIENT = 'kubernetes.io/kube-apiserver-client'
const USAGES = ['digital signature', 'client auth']

export const accountsStories = {
  'sa-token-of-none': {
    async act(s) {
      await s.create('secrets', tokenOf('t', { [NAME]: 'none' })).catch((error) => s.note(String(error.message)))
      await s.pause(2500)
    },
  },
  'sa-token-of-another-uid': {
    async act(s) {
      await s.create('serviceaccounts', account('x'))
      await s
        .create('secrets', tokenOf('t', { [NAME]: 'x', [UID]: 'none-such' }))
        .catch((error) => s.note(String(error.message)))
      await s.pause(3000)
    },
  },
  'sa-token-emptied-and-refilled': {
    async act(s) {
      await s.create('serviceaccounts', account('x'))
      await s.create('secrets', tokenOf('t', { [NAME]: 'x' }))
      await s.untilObj('secrets', 't', (secret) => (secret as Fields)['data']?.token)
      await s.patch('secrets', 't', { data: { token: null } })
      await s.pause(1500)
      await s.patch('secrets', 't', { data: { 'ca.crt': 'eA==', namespace: null } })
      await s.pause(1500)
      await s.patch('secrets', 't', { metadata: { annotations: { [UID]: null } } })
      await s.pause(2000)
    },
  },
  'sa-deleted-and-made-again-with-token': {
    async act(s) {
      await s.create('serviceaccounts', account('x'))
      await s.create('secrets', tokenOf('t', { [NAME]: 'x' }))
      await s.untilObj('secrets', 't', (secret) => (secret as Fields)['data']?.token)
      await s.patch('secrets', 't', { metadata: { finalizers: ['x.y/stay'] } })
      await s.del('serviceaccounts', 'x')
      await s.pause(1500)
      await s.create('serviceaccounts', account('x'))
      await s.pause(1500)
      await s.patch('secrets', 't', { metadata: { finalizers: null } })
      await s.pause(2500)
    },
  },
  'sa-default-held-by-finalizer': {
    async act(s) {
      await s.patch('serviceaccounts', 'default', { metadata: { finalizers: ['x.y/stay'] } })
      await s.del('serviceaccounts', 'default')
      await s.pause(1500)
      await s.patch('serviceaccounts', 'default', { metadata: { finalizers: null } })
      await s.pause(2000)
    },
  },
  'authority-map-edited': {
    async act(s) {
      await s.patch('configmaps', 'kube-root-ca.crt', { data: { more: 'x' }, metadata: { labels: { a: 'b' } } })
      await s.pause(1500)
      await s.patch('configmaps', 'kube-root-ca.crt', { metadata: { annotations: null } })
      await s.pause(1500)
      await s.patch('configmaps', 'kube-root-ca.crt', { data: null })
      await s.pause(2000)
    },
  },
  'roles-of-roles': {
    async act(s) {
      const [label, other] = [`${s.ns}/one`, `${s.ns}/two`]
      await role(
        s,
        'top',
        {},
        {
          aggregationRule: {
            clusterRoleSelectors: [
              { matchLabels: { [label]: 'y' } },
              { matchExpressions: [{ key: other, operator: 'In', values: ['p', 'q'] }] },
            ],
          },
        },
      )
      await role(
        s,
        'mid',
        { [label]: 'y' },
        {
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [other]: 'p' } }] },
          rules: [rule('pods', 'get')],
        },
      )
      await role(
        s,
        'leaf',
        { [other]: 'p' },
        { rules: [rule('pods', 'list'), rule('pods', 'list'), rule('secrets', 'get')] },
      )
      await role(
        s,
        'both',
        { [label]: 'y', [other]: 'q' },
        { rules: [rule('secrets', 'get'), { nonResourceURLs: ['/x'], verbs: ['get'] }] },
      )
      await s.pause(3000)
      for (const name of ['top', 'mid']) await rulesOf(s, name)
      await s.patch('clusterroles', `${s.ns}-leaf`, { metadata: { labels: { [other]: null } } })
      await s.pause(2500)
      for (const name of ['top', 'mid']) await rulesOf(s, name)
      await s.patch('clusterroles', `${s.ns}-top`, { rules: [rule('nodes', 'get')] })
      await s.pause(2000)
      await rulesOf(s, 'top')
      await s.del('clusterroles', `${s.ns}-both`)
      await s.pause(2000)
      await rulesOf(s, 'top')
      await s.patch('clusterroles', `${s.ns}-mid`, { aggregationRule: null })
      await s.pause(2000)
    },
    clean: rm(['clusterroles', 'top'], ['clusterroles', 'mid'], ['clusterroles', 'leaf'], ['clusterroles', 'both']),
  },
  'csr-denied-after-approval': {
    async act(s) {
      await csrObj(s, 'r', { signerName: 'x.y/z', request: csr('u', ['o']), usages: USAGES })
      await approve(s, 'r')
      await approve(s, 'r', 'Denied').catch((error) => s.note(String(error.message)))
      await s.pause(2000)
    },
    clean: rm(['certificatesigningrequests', 'r']),
  },
  'csr-usages-not-for-the-signer': {
    async act(s) {
      await csrObj(s, 'r', { signerName: CLIENT, request: csr('u', ['o']), usages: ['server auth'] })
      await approve(s, 'r')
      await s.pause(3000)
      await csrObj(s, 'm', { signerName: CLIENT, request: csr('u', ['system:masters']), usages: USAGES }).catch(
        (error) => s.note(String(error.message)),
      )
      await csrObj(s, 'k', {
        signerName: 'kubernetes.io/kubelet-serving',
        request: csr('system:node:n', ['system:nodes']),
        usages: ['digital signature', 'server auth'],
      })
      await approve(s, 'k')
      await s.pause(2500)
    },
    clean: rm(
      ['certificatesigningrequests', 'r'],
      ['certificatesigningrequests', 'm'],
      ['certificatesigningrequests', 'k'],
    ),
  },
  'csr-kubelet-client-fails': {
    async act(s) {
      const spec = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: USAGES }
      await csrObj(s, 'r', { ...spec, request: csr('nobody', ['system:nodes']) })
      await csrObj(s, 'n', { ...spec, request: csr('system:node:n', ['system:nodes'], 'DNS:x.example.com') })
      await s.pause(1500)
      await approve(s, 'r')
      await approve(s, 'n')
      await s.pause(2500)
    },
    clean: rm(['certificatesigningrequests', 'r'], ['certificatesigningrequests', 'n']),
  },
  'csr-time-of-its-own': {
    async act(s) {
      await csrObj(s, 'r', { signerName: CLIENT, request: csr('u', ['o']), usages: USAGES, expirationSeconds: 3600 })
      await approve(s, 'r')
      await s.pause(2500)
      await csrObj(s, 'q', { signerName: CLIENT, request: csr('u', ['o']), usages: [...USAGES, 'key encipherment'] })
      await approve(s, 'q')
      await s.pause(2500)
      await csrObj(s, 'l', {
        signerName: 'kubernetes.io/legacy-unknown',
        request: csr('u', ['o']),
        usages: USAGES,
      }).catch((error) => s.note(String(error.message)))
    },
    clean: rm(['certificatesigningrequests', 'r'], ['certificatesigningrequests', 'q']),
  },
  'policy-types-field-unknown': typed({
    ...matching(['apps', 'v1', 'deployments']),
    validations: [
      { expression: 'object.spec.replics > 1' },
      { expression: 'object.spec.replicas > 1', messageExpression: 'string(object.nothing)' },
    ],
  }),
  'policy-types-several-kinds': typed({
    ...matching(['apps', 'v1', '*'], ['', 'v1', 'pods']),
    validations: [{ expression: 'object.spec.replicas > 1' }],
  }),
  'policy-types-mended': typed(
    { ...matching(['apps', 'v1', 'deployments']), validations: [{ expression: 'object.spec.replicas == "x"' }] },
    { validations: [{ expression: 'object.spec.replicas == 1' }] },
  ),
  'policy-types-variables': typed({
    ...matching(['', 'v1', 'configmaps']),
    variables: [
      { name: 'a', expression: 'object.data.size()' },
      { name: 'b', expression: 'object.date' },
    ],
    validations: [{ expression: 'variables.a > 1 && variables.b == 2' }, { expression: 'variables.b > 3' }],
    matchConditions: [{ name: 'm', expression: 'object.metadata.nam == "x"' }],
    auditAnnotations: [{ key: 'k', valueExpression: 'string(object.spec.x)' }],
  }),
  'policy-types-kind-unknown': typed({
    ...matching(['none.example.com', 'v1', 'things'], ['apps', '*', 'deployments']),
    validations: [{ expression: 'object.spec.x > 1' }],
  }),
  'policy-types-params': typed({
    ...matching(['', 'v1', 'pods']),
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [{ expression: 'object.spec.nodeName in params.data && params.dat.x == "y"' }],
  }),
} satisfies Readonly<Record<string, Story>>
