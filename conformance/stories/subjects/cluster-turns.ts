/** What the cluster keeps for all: owners across scopes and versions, namespaces that end with things held in them, quotas, accounts, roles, budgets. */
import type { Fields } from '../../../src/api/object.ts'
import {
  BLOCKS,
  claim,
  cond,
  crd,
  dep,
  done,
  evict,
  force,
  fresh,
  going,
  job,
  map,
  ownedBy,
  pdb,
  pod,
  quota,
  res,
  rm,
  rs,
  running,
  sts,
  svc,
  tried,
} from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const left = async (s: Scene, ms = 2500) => {
  await s.pause(ms)
  s.note(
    (await s.list('configmaps'))
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
      .map(
        (one) =>
          `${one.metadata.name}${going(one) ? ' going' : ''} ${(one.metadata.ownerReferences ?? []).map(({ name, blockOwnerDeletion }) => `${name} ${blockOwnerDeletion ?? '-'}`)} ${one.metadata.finalizers ?? ''}`,
      )
      .toSorted()
      .join(' | '),
  )
}
const used = async (s: Scene, name = 'q', ms = 2000) => {
  await s.pause(ms)
  const { status } = await s.get('resourcequotas', name)
  s.note(`${name} ${JSON.stringify(status.used ?? null)} of ${JSON.stringify(status.hard ?? null)}`)
}
const foreground = { propagationPolicy: 'Foreground' } as const
const orphan = { propagationPolicy: 'Orphan' } as const
const role = (s: Scene, name: string, metadata: Fields = {}, more: Fields = {}) =>
  s.create('clusterroles', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${s.ns}-${name}`, ...metadata },
    ...more,
  })
const rule = (resource: string, ...verbs: readonly string[]) => ({ apiGroups: [''], resources: [resource], verbs })
const gathered = async (s: Scene, name: string, ms = 2000) => {
  await s.pause(ms)
  s.note(JSON.stringify((await s.get('clusterroles', `${s.ns}-${name}`)).rules ?? null))
}

export const clusterTurnsStories = {
  'gc-chain-of-three-policies': {
    async act(s) {
      const a = await s.create('configmaps', map('a'))
      const b = await s.create('configmaps', map('b', ownedBy([a, BLOCKS])))
      const c = await s.create('configmaps', map('c', { ...ownedBy([b, BLOCKS]), finalizers: ['x.y/z'] }))
      await s.create('configmaps', map('d', ownedBy([c, BLOCKS])))
      await s.pause(1500)
      await s.del('configmaps', 'c', orphan)
      await left(s)
      await s.del('configmaps', 'a', foreground)
      await left(s)
      await s.patch('configmaps', 'c', { metadata: { finalizers: null } })
      await left(s)
    },
  },
  'gc-blocking-reference-to-a-second-owner': {
    async act(s) {
      const [a, b] = [await s.create('configmaps', map('a')), await s.create('configmaps', map('b'))]
      await s.create('configmaps', map('both', { ...ownedBy([a, BLOCKS], [b, BLOCKS]) }))
      await s.create('configmaps', map('first', { ...ownedBy([a, BLOCKS], [b]), finalizers: ['x.y/z'] }))
      await s.pause(1500)
      await s.del('configmaps', 'a', foreground)
      await left(s)
      await s.del('configmaps', 'b', foreground)
      await left(s)
      await s.patch('configmaps', 'first', { metadata: { finalizers: null } })
      await left(s)
    },
  },
  'gc-cycle-entered-by-foreground': {
    async act(s) {
      const a = await s.create('configmaps', map('a'))
      const b = await s.create('configmaps', map('b', ownedBy([a, BLOCKS])))
      await s.patch('configmaps', 'a', { metadata: ownedBy([b, BLOCKS]) })
      await s.create('configmaps', map('tail', ownedBy([b, BLOCKS])))
      await s.pause(1500)
      await s.del('configmaps', 'a', foreground)
      await left(s, 3500)
    },
  },
  'gc-owner-by-another-version': {
    async act(s) {
      const owner = await s.create('horizontalpodautoscalers', {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'h' },
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'none', apiVersion: 'apps/v1' }, maxReplicas: 2 },
      })
      const reference = (apiVersion: string, more: Fields = {}) => ({
        apiVersion,
        kind: 'HorizontalPodAutoscaler',
        name: 'h',
        uid: owner.metadata.uid,
        ...more,
      })
      await s.create('configmaps', map('v1', { ownerReferences: [reference('autoscaling/v1', BLOCKS)] }))
      await s.create('configmaps', map('v2', { ownerReferences: [reference('autoscaling/v2', BLOCKS)] }))
      await s.create(
        'configmaps',
        map('other-name', { ownerReferences: [reference('autoscaling/v2', { name: 'else' })] }),
      )
      await left(s, 3500)
      await s.del('horizontalpodautoscalers', 'h', foreground)
      await left(s)
    },
  },
  'gc-orphaned-with-finalizers-of-both-kinds-set-by-user': {
    async act(s) {
      const a = await s.create('configmaps', map('a', { finalizers: ['orphan', 'foregroundDeletion'] }))
      await s.create('configmaps', map('b', ownedBy([a, BLOCKS])))
      await s.pause(1500)
      await tried(s, 'delete', s.del('configmaps', 'a'))
      await left(s)
      await s.create('configmaps', map('c', { finalizers: ['foregroundDeletion'] }))
      await s.pause(1000)
      await s.del('configmaps', 'c', orphan)
      await left(s)
    },
  },
  'gc-dependents-deleted-before-and-made-again': {
    async act(s) {
      const a = await s.create('configmaps', map('a', { finalizers: ['x.y/z'] }))
      await s.create('configmaps', map('b', ownedBy([a, BLOCKS])))
      await s.pause(1500)
      await s.del('configmaps', 'a', foreground)
      await left(s)
      await s.create('configmaps', map('b', ownedBy([a, BLOCKS])))
      await left(s)
      await s.patch('configmaps', 'a', { metadata: { finalizers: null } })
      await left(s)
      await s.create('configmaps', map('c', ownedBy([a, BLOCKS])))
      await left(s, 4000)
    },
  },
  'gc-deployment-owned-by-a-map': {
    async act(s) {
      const a = await s.create('configmaps', map('a'))
      await s.create('deployments', { ...dep('a', { replicas: 2 }), metadata: { name: 'a', ...ownedBy([a, BLOCKS]) } })
      await s.create('services', { ...svc('a'), metadata: { name: 'a', ...ownedBy([a]) } })
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await s.del('configmaps', 'a', foreground)
      await s.gone('configmaps', 'a')
      await s.pause(1500)
      s.note(`pods ${(await s.list('pods')).length}, sets ${(await s.list('replicasets')).length}`)
    },
  },
  'gc-owner-of-a-definition-deleted': {
    async act(s) {
      await s.create('customresourcedefinitions', crd(s))
      const path = `/apis/${s.ns}.example.com/v1/namespaces/${s.ns}/ws`
      await s.until('served', async () => (await s.raw('GET', path)).status === 200)
      await s.pause(40_000)
      const body = { apiVersion: `${s.ns}.example.com/v1`, kind: 'W', metadata: { name: 'o', finalizers: ['x.y/z'] } }
      const owner = JSON.parse((await s.raw('POST', path, body)).body) as Seen
      await s.create('configmaps', map('a', ownedBy([owner, BLOCKS])))
      await s.create('configmaps', map('b', { ...ownedBy([owner]), finalizers: ['x.y/z'] }))
      await s.pause(1500)
      await s.del('customresourcedefinitions', `ws.${s.ns}.example.com`)
      await left(s)
      await s.raw('PATCH', `${path}/o`, undefined).catch(() => undefined)
      const held = JSON.parse((await s.raw('GET', `${path}/o`)).body) as Seen
      await s.raw('PUT', `${path}/o`, { ...held, metadata: { ...held.metadata, finalizers: [] } } as Fields)
      await s.gone('customresourcedefinitions', `ws.${s.ns}.example.com`)
      await left(s)
      await s.patch('configmaps', 'b', { metadata: { finalizers: null } })
      await left(s)
    },
    clean: (s) => s.del('customresourcedefinitions', `ws.${s.ns}.example.com`).catch(() => {}),
  },
  'ns-ends-with-a-deployment-and-a-budget': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.create('services', svc('a'))
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 2, selector: { matchLabels: { app: 'a' } } }))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await s.del('namespaces', s.ns)
      await s.gone('namespaces', s.ns)
    },
  },
  'ns-ends-with-jobs-and-held-pods': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 2, completions: 2 }))
      for (const one of await s.untilPods(2, fresh)) await s.running(one)
      await s.untilObj('jobs', 'j', ({ status }) => status.ready === 2)
      await s.del('namespaces', s.ns)
      await s.pause(4000)
      await tried(s, 'create', s.create('configmaps', map('late')))
      for (const one of await s.list('pods')) await force(s, one).catch(() => {})
      await s.gone('namespaces', s.ns)
    },
  },
  'ns-ends-with-map-held-by-two-finalizers': {
    async act(s) {
      await s.create('configmaps', map('a', { finalizers: ['x.y/a', 'x.y/b'] }))
      await s.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't', finalizers: ['x.y/a'] } })
      await s.del('namespaces', s.ns)
      await s.untilObj('namespaces', s.ns, cond('NamespaceFinalizersRemaining'))
      await s.pause(1500)
      const { status } = await s.get('namespaces', s.ns)
      s.note(status.conditions.map((one: Fields) => `${one['type']} ${one['status']} ${one['message']}`).join(' | '))
      await s.patch('secrets', 't', { metadata: { finalizers: null } })
      await s.patch('configmaps', 'a', { metadata: { finalizers: ['x.y/b'] } })
      await s.pause(6000)
      await s.patch('configmaps', 'a', { metadata: { finalizers: null } })
      await s.gone('namespaces', s.ns, 60_000)
    },
  },
  'quota-shrunk-below-use-and-rollout': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '4', 'requests.cpu': '1' }))
      await s.pause(1000)
      await s.create('deployments', dep('a', { replicas: 3 }, res('100m')))
      await s.untilObj('deployments', 'a', done)
      await used(s)
      await s.patch('resourcequotas', 'q', { spec: { hard: { pods: '2' } } })
      await used(s)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { v: '2' } } } } })
      await s.pause(3000)
      await used(s)
      await s.patch('resourcequotas', 'q', { spec: { hard: { pods: '5' } } })
      await s.pause(20_000)
      await used(s)
    },
    restMs: 60_000,
  },
  'quota-two-of-one-kind-and-scoped': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { configmaps: '3', 'count/services': '2', services: '1' }))
      await s.create('resourcequotas', quota('r', { configmaps: '2' }))
      await used(s)
      await tried(s, 'first', s.create('configmaps', map('a')))
      await tried(s, 'second', s.create('configmaps', map('b')))
      await tried(s, 'service', s.create('services', svc('a')))
      await tried(s, 'service too', s.create('services', svc('b')))
      await used(s)
      await used(s, 'r', 0)
      await s.del('configmaps', 'a')
      await used(s)
      await s.del('resourcequotas', 'r')
      await tried(s, 'third', s.create('configmaps', map('c')))
      await used(s)
    },
  },
  'quota-status-edited-by-user': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { configmaps: '5', secrets: '2' }))
      await used(s)
      await s.status('resourcequotas', 'q', { used: { configmaps: '0', secrets: '2' } })
      await tried(s, 'secret', s.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't' } }))
      await used(s, 'q', 4000)
      await s.patch('resourcequotas', 'q', { metadata: { labels: { l: 'm' } } })
      await used(s)
      await s.patch('resourcequotas', 'q', { spec: { hard: { secrets: null, pods: '1' } } })
      await used(s)
    },
  },
  'sa-deleted-under-pods-and-tokens': {
    async act(s) {
      await s.create('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } })
      await s.create('secrets', {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/service-account-token',
        metadata: { name: 't', annotations: { 'kubernetes.io/service-account.name': 'a' }, finalizers: ['x.y/z'] },
      })
      await s.create('replicasets', rs('a', { replicas: 1 }, { serviceAccountName: 'a', nodeName: 'idle' }))
      await s.untilPods(1)
      await s.pause(2000)
      await s.del('serviceaccounts', 'a')
      await s.pause(2500)
      s.note(`secrets ${(await s.list('secrets')).map((one) => `${one.metadata.name} ${going(one)}`)}`)
      await s.patch('replicasets', 'a', { spec: { replicas: 2 } })
      await s.pause(2500)
      s.note(`pods ${(await s.list('pods')).length}`)
      await s.create('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } })
      await s.pause(4000)
      await s.patch('secrets', 't', { metadata: { finalizers: null } })
      await s.pause(1500)
      s.note(`secrets ${(await s.list('secrets')).length}`)
    },
  },
  'sa-default-and-authority-of-a-namespace-that-ends': {
    async act(s) {
      await s.create('configmaps', map('a', { finalizers: ['x.y/z'] }))
      await s.del('namespaces', s.ns)
      await s.pause(3000)
      s.note(`accounts ${(await s.list('serviceaccounts')).length}`)
      await left(s, 500)
      await s.patch('configmaps', 'a', { metadata: { finalizers: null } })
      await s.gone('namespaces', s.ns, 60_000)
    },
  },
  'roles-aggregated-by-changing-labels': {
    async act(s) {
      const label = `${s.ns}/to`
      await role(
        s,
        'all',
        {},
        {
          aggregationRule: {
            clusterRoleSelectors: [
              { matchLabels: { [label]: 'all' } },
              { matchExpressions: [{ key: label, operator: 'In', values: ['more'] }] },
            ],
          },
          rules: [rule('pods', 'delete')],
        },
      )
      await gathered(s, 'all')
      await role(s, 'b', { labels: { [label]: 'more' } }, { rules: [rule('secrets', 'get')] })
      await role(s, 'a', { labels: { [label]: 'all' } }, { rules: [rule('pods', 'get'), rule('pods', 'list')] })
      await gathered(s, 'all')
      await s.patch('clusterroles', `${s.ns}-b`, { metadata: { labels: { [label]: 'none' } } })
      await gathered(s, 'all')
      await s.patch('clusterroles', `${s.ns}-all`, { rules: [] })
      await gathered(s, 'all')
      await s.patch('clusterroles', `${s.ns}-all`, { aggregationRule: null })
      await s.del('clusterroles', `${s.ns}-a`)
      await gathered(s, 'all')
    },
    clean: rm(['clusterroles', 'all'], ['clusterroles', 'a'], ['clusterroles', 'b']),
  },
  'pdb-of-a-set-scaled-and-unready': {
    async act(s) {
      await s.create(
        'poddisruptionbudgets',
        pdb('b', { maxUnavailable: '34%', selector: { matchLabels: { app: 'a' } } }),
      )
      await s.create('statefulsets', sts('a', { replicas: 3, podManagementPolicy: 'Parallel' }, { nodeName: 'idle' }))
      for (const one of await s.untilPods(3, fresh)) await s.running(one)
      await s.untilObj('statefulsets', 'a', done)
      const budget = async () => {
        await s.pause(2000)
        const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = (
          await s.get('poddisruptionbudgets', 'b')
        ).status
        s.note(`${currentHealthy} of ${desiredHealthy}, ${expectedPods} expected, ${disruptionsAllowed} allowed`)
      }
      await budget()
      await s.status('pods', 'a-0', { conditions: [{ type: 'Ready', status: 'False' }] })
      await budget()
      await evict(s, 'a-1')
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 6 } })
      for (const one of await s.untilPods(3, fresh)) await s.running(one)
      await budget()
      await evict(s, 'a-1')
      await budget()
      await force(s, await s.get('pods', 'a-1'))
      await budget()
    },
  },
  'pdb-two-of-one-pod': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }, { nodeName: 'idle' }))
      for (const one of await s.untilPods(2, fresh)) await s.running(one)
      for (const n of ['b', 'c'])
        await s.create('poddisruptionbudgets', pdb(n, { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } }))
      await s.pause(2500)
      const [first] = await s.list('pods')
      await evict(s, first.metadata.name)
      await s.del('poddisruptionbudgets', 'c')
      await s.pause(1500)
      await evict(s, first.metadata.name, { dryRun: ['All'] })
      await s.pause(1500)
      s.note(`allowed ${(await s.get('poddisruptionbudgets', 'b')).status.disruptionsAllowed}`)
    },
  },
  'pods-finished-of-many-owners-cleaned': {
    async act(s) {
      const owner = await s.create('configmaps', map('o', { finalizers: ['x.y/z'] }))
      await s.create('pods', pod('p', {}, ownedBy([owner, BLOCKS])))
      await s.create(
        'pods',
        pod('q', { terminationGracePeriodSeconds: 0 }, { ...ownedBy([owner]), finalizers: ['x.y/z'] }),
      )
      await s.create('persistentvolumeclaims', { ...claim('c'), metadata: { name: 'c', ...ownedBy([owner, BLOCKS]) } })
      await s.untilObj('pods', 'p', running)
      await s.pause(1500)
      await s.del('configmaps', 'o', foreground)
      await left(s)
      s.note(`pods ${(await s.list('pods')).map((one) => `${one.metadata.name} ${going(one)}`).toSorted()}`)
      await s.patch('pods', 'q', { metadata: { finalizers: null } })
      await s.patch('configmaps', 'o', { metadata: { finalizers: null } })
      await s.pause(2000)
      s.note(`pods ${(await s.list('pods')).length}, claims ${(await s.list('persistentvolumeclaims')).length}`)
    },
  },
} satisfies Readonly<Record<string, Story>>
