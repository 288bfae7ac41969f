/** Quotas by scope, namespaces, accounts and tokens, roles that gather, ranges of addresses, certificates asked for. */
import type { Fields } from '../../../src/api/object.ts'
import { claim, crd, dep, done, job, pc, pod, quota, res, rm, svc, tried } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const used = async (s: Scene) =>
  s.note(
    (await s.list('resourcequotas'))
      .map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(Object.entries(status.used ?? {}).toSorted())}`)
      .toSorted()
      .join(' | '),
  )
const scope = (scopeName: string, operator: string, ...values: readonly string[]) => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values.length > 0 ? { values } : {}) }] },
})
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
const account = (name: string, more: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name },
  ...more,
})
const secret = (name: string, annotations: Fields, more: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name, annotations, ...more },
})
const limited = (cpu: string) => ({
  containers: [
    { name: 'c', image: 'i', resources: { requests: { cpu, memory: '1Mi' }, limits: { cpu, memory: '1Mi' } } },
  ],
})

export const clusterRulesStories = {
  'sa-token-secret-of-account-made-later': {
    async act(s) {
      await tried(s, 'before', s.create('secrets', secret('t', { 'kubernetes.io/service-account.name': 'later' })))
      await s.pause(1500)
      await s.create('serviceaccounts', account('later'))
      await s
        .create('secrets', secret('t2', { 'kubernetes.io/service-account.name': 'later' }))
        .catch((error) => s.note(error.message))
      await s.untilObj('secrets', 't2', (one) => (one as Fields)['data']?.token)
      await s.patch('secrets', 't2', { data: { token: null, 'ca.crt': 'eA==' } })
      await s.pause(2000)
      s.note(
        Object.keys(((await s.get('secrets', 't2')) as Fields)['data'])
          .toSorted()
          .join(),
      )
      await s.patch('serviceaccounts', 'later', { secrets: [{ name: 't2' }], imagePullSecrets: [{ name: 'p' }] })
      await s.del('secrets', 't2')
      await s.pause(2500)
      s.note(JSON.stringify(((await s.get('serviceaccounts', 'later')) as Fields)['secrets'] ?? null))
    },
  },
  'quota-of-every-scope': {
    async act(s) {
      await pc(s, 'high', 9)
      const hard = { pods: '2' }
      await s.create('resourcequotas', quota('best', hard, { scopes: ['BestEffort'] }))
      await s.create(
        'resourcequotas',
        quota('not-best', { ...hard, 'requests.cpu': '1', 'limits.memory': '1Gi' }, { scopes: ['NotBestEffort'] }),
      )
      await s.create('resourcequotas', quota('ends', { 'requests.cpu': '500m' }, { scopes: ['Terminating'] }))
      await s.create('resourcequotas', quota('lasts', { pods: '9' }, { scopes: ['NotTerminating'] }))
      await s.create('resourcequotas', quota('class', hard, scope('PriorityClass', 'Exists')))
      await s.create('resourcequotas', quota('not-class', hard, scope('PriorityClass', 'NotIn', `${s.ns}-high`)))
      await s.create('resourcequotas', quota('across', hard, scope('CrossNamespacePodAffinity', 'Exists')))
      await s.pause(1500)
      await tried(s, 'best', s.create('pods', pod('best', { nodeName: 'idle' })))
      await tried(s, 'limited', s.create('pods', pod('limited', { nodeName: 'idle', ...limited('200m') })))
      await tried(s, 'no memory limit', s.create('pods', pod('half', { nodeName: 'idle', ...res('100m') })))
      await tried(
        s,
        'ends',
        s.create('pods', pod('ends', { nodeName: 'idle', activeDeadlineSeconds: 500, ...limited('300m') })),
      )
      await tried(
        s,
        'ends too',
        s.create('pods', pod('ends2', { nodeName: 'idle', activeDeadlineSeconds: 500, ...limited('300m') })),
      )
      await tried(s, 'high', s.create('pods', pod('high', { nodeName: 'idle', priorityClassName: `${s.ns}-high` })))
      await tried(
        s,
        'high too',
        s.create('pods', pod('high2', { nodeName: 'idle', priorityClassName: `${s.ns}-high` })),
      )
      await s.pause(2000)
      await used(s)
    },
    clean: rm(['priorityclasses', 'high']),
  },
  'quota-of-counted-kinds': {
    async act(s) {
      await s.create('customresourcedefinitions', crd(s))
      await s.create(
        'resourcequotas',
        quota('q', {
          'count/deployments.apps': '1',
          'count/ws.none.example.com': '1',
          [`count/ws.${s.ns}.example.com`]: '1',
          'count/configmaps': '3',
          secrets: '1',
          'count/jobs.batch': '0',
          'services.nodeports': '1',
          'count/replicasets.apps': '1',
        }),
      )
      await s.pause(1500)
      await tried(s, 'first', s.create('deployments', dep('a', { replicas: 1 })))
      await tried(s, 'second', s.create('deployments', dep('b', { replicas: 1 })))
      await tried(s, 'job', s.create('jobs', job('j')))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { new: 'x' } } } } })
      await s.pause(2500)
      await used(s)
      await s.patch('resourcequotas', 'q', { spec: { hard: { 'count/replicasets.apps': '2' } } })
      await s.pause(16_000)
      await used(s)
    },
    clean: (s) => s.del('customresourcedefinitions', `ws.${s.ns}.example.com`).catch(() => {}),
    restMs: 30_000,
  },
  'quota-of-claims-that-grow': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { persistentvolumeclaims: '2', 'requests.storage': '3Gi' }))
      await s.pause(1200)
      await tried(s, 'one', s.create('persistentvolumeclaims', claim('a')))
      await tried(
        s,
        'too large',
        s.create('persistentvolumeclaims', claim('b', { resources: { requests: { storage: '3Gi' } } })),
      )
      await tried(s, 'two', s.create('persistentvolumeclaims', claim('b')))
      await tried(s, 'three', s.create('persistentvolumeclaims', claim('c')))
      await s.del('persistentvolumeclaims', 'a')
      await s.pause(2000)
      await used(s)
    },
  },
  'ns-deleted-with-quota-and-held-things': {
    exclusive: true,
    async act(s) {
      const name = `${s.ns}-n`
      await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      const inside = (resource: string) => s.api(resource, name)
      await s.until('account', () => inside('serviceaccounts').get('default'))
      await inside('configmaps').create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'held', finalizers: ['x.y/stay'] },
      } as never)
      await inside('secrets').create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'held', finalizers: ['x.y/stay', 'z.y/too'] },
      } as never)
      await inside('resourcequotas').create(quota('q', { pods: '1' }) as never)
      await s.del('namespaces', name)
      await s.pause(4000)
      await tried(
        s,
        'made',
        inside('configmaps').create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } } as never),
      )
      const { status } = await s.get('namespaces', name)
      s.note(
        JSON.stringify(
          (status.conditions as readonly Fields[]).map(({ type, status: is, reason, message }) => [
            type,
            is,
            reason,
            message,
          ]),
        ),
      )
      for (const resource of ['configmaps', 'secrets'])
        await inside(resource).patch('held', 'merge', { metadata: { finalizers: null } })
      await s.gone('namespaces', name)
    },
    restMs: 30_000,
  },
  'sa-pods-of-accounts-and-pull-secrets': {
    async act(s) {
      await s.create(
        'serviceaccounts',
        account('a', { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'p' }] }),
      )
      await tried(s, 'absent', s.create('pods', pod('none', { serviceAccountName: 'absent' })))
      await s.create(
        'pods',
        pod('x', { serviceAccountName: 'a', automountServiceAccountToken: undefined, nodeName: 'idle' }),
      )
      await s.create(
        'pods',
        pod('y', {
          serviceAccountName: 'a',
          automountServiceAccountToken: true,
          imagePullSecrets: [{ name: 'own' }],
          nodeName: 'idle',
        }),
      )
      await s.create('deployments', dep('d', { replicas: 1 }, { serviceAccountName: 'comes-later' }))
      await s.pause(2500)
      await s.create('serviceaccounts', account('comes-later'))
      await s.untilObj('deployments', 'd', done)
      await s.del('serviceaccounts', 'default')
      await s.untilObj('serviceaccounts', 'default', ({ metadata }) => metadata.name)
      await s.pause(1500)
    },
    restMs: 40_000,
  },
  'roles-gathered-by-several-selectors': {
    exclusive: true,
    async act(s) {
      await role(s, 'one', { team: s.ns, part: 'a' }, { rules: [rule('pods', 'get')] })
      await role(s, 'two', { team: s.ns, part: 'b' }, { rules: [rule('pods', 'get'), rule('secrets', 'list')] })
      await role(
        s,
        'all',
        {},
        {
          aggregationRule: {
            clusterRoleSelectors: [
              { matchLabels: { team: s.ns, part: 'b' } },
              {
                matchExpressions: [
                  { key: 'team', operator: 'In', values: [s.ns] },
                  { key: 'part', operator: 'Exists' },
                ],
              },
            ],
          },
          rules: [rule('nodes', 'delete')],
        },
      )
      await s.pause(2000)
      await rulesOf(s, 'all')
      await s.patch('clusterroles', `${s.ns}-one`, { rules: [] })
      await s.pause(2000)
      await rulesOf(s, 'all')
      await s.del('clusterroles', `${s.ns}-two`)
      await s.pause(2000)
      await rulesOf(s, 'all')
      await s.patch('clusterroles', `${s.ns}-all`, { rules: [rule('nodes', 'list')] })
      await s.pause(2000)
      await rulesOf(s, 'all')
    },
    clean: rm(['clusterroles', 'one'], ['clusterroles', 'two'], ['clusterroles', 'all']),
  },
  'servicecidr-held-by-its-addresses': {
    exclusive: true,
    async act(s) {
      await s.create('servicecidrs', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name: `${s.ns}-r` },
        spec: { cidrs: ['10.77.0.0/28'] },
      })
      await s.pause(1500)
      await s.create('services', svc('a', { clusterIP: '10.77.0.5' }))
      await tried(
        s,
        'overlap',
        s.create('servicecidrs', {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'ServiceCIDR',
          metadata: { name: `${s.ns}-o` },
          spec: { cidrs: ['10.77.0.0/24'] },
        }),
      )
      await s.pause(1500)
      await s.del('servicecidrs', `${s.ns}-r`)
      await s.pause(2500)
      await tried(s, 'another', s.create('services', svc('b', { clusterIP: '10.77.0.6' })))
      s.note(
        JSON.stringify(
          ((await s.get('servicecidrs', `${s.ns}-r`)).status.conditions as readonly Fields[]).map(
            ({ type, status, reason, message }) => [type, status, reason, message],
          ),
        ),
      )
      await s.del('servicecidrs', `${s.ns}-o`).catch(() => {})
      await s.del('services', 'a')
      await s.pause(3500)
    },
    clean: rm(['servicecidrs', 'r'], ['servicecidrs', 'o']),
    restMs: 30_000,
  },
} satisfies Readonly<Record<string, Story>>
