/** What goes, and what keeps it: owners of several kinds, namespaces, migrations, accounts. */
import type { Fields } from '../../../src/api/object.ts'
import { BLOCKS, crd, dep, done, force, going, map, ownedBy, pod, rm, rs, running } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const left = async (s: Scene, resource = 'configmaps') =>
  s.note(
    (await s.list(resource))
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== 'kube-root-ca.crt')
      .toSorted()
      .join(' '),
  )
/** A custom resource of the story's own group. */
async function custom(s: Scene): Promise<(name: string, more?: Fields) => Promise<Seen>> {
  await s.create('customresourcedefinitions', crd(s))
  const path = `/apis/${s.ns}.example.com/v1/namespaces/${s.ns}/ws`
  await s.until('served', async () => (await s.raw('GET', path)).status === 200)
  await s.pause(1000)
  return async (name, more = {}) => {
    const body = { apiVersion: `${s.ns}.example.com/v1`, kind: 'W', metadata: { name, ...more } }
    return JSON.parse((await s.raw('POST', path, body)).body) as Seen
  }
}
const dropCrd = async (s: Scene) => {
  await s.del('customresourcedefinitions', `ws.${s.ns}.example.com`).catch(() => {})
}
const instance = (s: Scene, name: string) => `/apis/${s.ns}.example.com/v1/namespaces/${s.ns}/ws/${name}`

export const endingsStories = {
  'gc-custom-owner-foreground': {
    async act(s) {
      const make = await custom(s)
      const owner = await make('o')
      await s.pause(40_000)
      await s.create('configmaps', map('blocks', { ...ownedBy([owner, BLOCKS]), finalizers: ['x.y/z'] }))
      await s.create('configmaps', map('not', ownedBy([owner])))
      await s.pause(1500)
      await s.raw('DELETE', instance(s, 'o'), {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Foreground',
      })
      await s.pause(2500)
      await left(s)
      await s.patch('configmaps', 'blocks', { metadata: { finalizers: null } })
      await s.until('gone', async () => (await s.raw('GET', instance(s, 'o'))).status === 404)
      await s.pause(1500)
      await left(s)
    },
    clean: dropCrd,
  },
  'gc-two-owners-mixed': {
    async act(s) {
      const a = await s.create('configmaps', map('a'))
      const b = await s.create('configmaps', map('b'))
      const both = await s.create('configmaps', map('both', ownedBy([a, BLOCKS], [b, BLOCKS])))
      await s.create('configmaps', map('below', ownedBy([both, BLOCKS])))
      await s.pause(1000)
      await s.del('configmaps', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(2000)
      await left(s)
      await s.del('configmaps', 'b', { propagationPolicy: 'Orphan' })
      await s.pause(2000)
      await left(s)
      await s.del('configmaps', 'both', { propagationPolicy: 'Foreground' })
      await s.pause(2000)
      await left(s)
    },
  },
  'gc-finalizers-of-both-kinds': {
    async act(s) {
      const a = await s.create('configmaps', map('a', { finalizers: ['x.y/z'] }))
      await s.create('configmaps', map('c', ownedBy([a, BLOCKS])))
      await s.pause(1000)
      await s.del('configmaps', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(1500)
      await s.del('configmaps', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(1500)
      await left(s)
      await s.patch('configmaps', 'a', { metadata: { finalizers: null } })
      await s.pause(2000)
      await left(s)
    },
  },
  'gc-owner-made-again': {
    async act(s) {
      const a = await s.create('configmaps', map('a'))
      await s.create('configmaps', map('c', { ...ownedBy([a]), finalizers: ['x.y/z'] }))
      await s.pause(1000)
      await s.del('configmaps', 'a')
      await s.create('configmaps', map('a'))
      await s.pause(2500)
      await left(s)
      await s.patch('configmaps', 'c', { metadata: { finalizers: null } })
      await s.pause(1500)
      const again = await s.get('configmaps', 'a')
      await s.create('configmaps', map('d', ownedBy([{ ...a, kind: 'Secret' }])))
      await s.create('configmaps', map('e', ownedBy([again], [a])))
      await s.pause(2500)
      await left(s)
    },
  },
  'gc-workload-held-by-pod': {
    async act(s) {
      await s.create('deployments', {
        ...dep('a', {
          replicas: 2,
          template: {
            metadata: { labels: { app: 'a' }, finalizers: ['x.y/stay'] },
            spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
          },
        }),
      })
      await s.untilObj('deployments', 'a', done)
      const ps = await s.untilPods(2, running)
      await s.patch('pods', ps[0].metadata.name, { metadata: { labels: { app: 'other' } } })
      await s.untilPods(3, running)
      await s.del('deployments', 'a', { propagationPolicy: 'Foreground' })
      await s.untilPods(2, going)
      await s.pause(2000)
      for (const one of await s.list('pods'))
        await s.patch('pods', one.metadata.name, { metadata: { finalizers: null } })
      await s.gone('deployments', 'a')
      await s.pause(1500)
    },
  },
  'gc-reference-added-later': {
    async act(s) {
      const a = await s.create('configmaps', map('a', { finalizers: ['x.y/z'] }))
      const free = await s.create('configmaps', map('free'))
      await s.pause(500)
      await s.del('configmaps', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(1500)
      await s.patch('configmaps', free.metadata.name, { metadata: ownedBy([a, BLOCKS]) })
      await s.pause(2500)
      await left(s)
      await s.patch('configmaps', 'a', { metadata: { finalizers: null } })
      await s.pause(2500)
      await left(s)
    },
  },
  'ns-pods-with-grace': {
    async act(s) {
      const other = `${s.ns}-x`
      await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } })
      await s.until('account', () => s.api('serviceaccounts', other).get('default'))
      await s
        .api('replicasets', other)
        .create(rs('a', { replicas: 2 }, { nodeName: 'idle', terminationGracePeriodSeconds: 3 }))
      await s
        .api('secrets', other)
        .create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'held', finalizers: ['x.y/z'] } })
      await s.until('pods', async () => (await s.api('pods', other).list()).items.length === 2)
      await s.del('namespaces', other)
      await s.pause(1500)
      await s
        .api('configmaps', other)
        .create({ ...map('late') })
        .catch((error) => s.note(error.message))
      for (const { metadata } of (await s.api('pods', other).list()).items)
        await s.api('pods', other).delete(metadata.name ?? '', { gracePeriodSeconds: 0 })
      await s.pause(7000)
      await s.api('secrets', other).patch('held', 'merge', { metadata: { finalizers: null } })
      await s.gone('namespaces', other)
    },
    clean: rm(['namespaces', 'x']),
  },
  'ns-custom-instances': {
    async act(s) {
      const other = `${s.ns}-x`
      await custom(s)
      await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } })
      await s.pause(1000)
      const path = `/apis/${s.ns}.example.com/v1/namespaces/${other}/ws`
      await s.raw('POST', path, {
        apiVersion: `${s.ns}.example.com/v1`,
        kind: 'W',
        metadata: { name: 'held', finalizers: ['x.y/z'] },
      })
      await s.raw('POST', path, { apiVersion: `${s.ns}.example.com/v1`, kind: 'W', metadata: { name: 'free' } })
      await s.del('namespaces', other)
      await s.pause(2500)
      await s.del('customresourcedefinitions', `ws.${s.ns}.example.com`)
      await s.pause(2500)
      await s.raw('DELETE', `${path}/held`)
      const current = JSON.parse((await s.raw('GET', `${path}/held`)).body) as Seen
      s.note(`deleting ${current.metadata?.deletionTimestamp !== undefined}`)
      const { finalizers: _, ...metadata } = current.metadata
      await s.raw('PUT', `${path}/held`, { ...current, metadata })
      await s.gone('namespaces', other)
      await s.gone('customresourcedefinitions', `ws.${s.ns}.example.com`)
    },
    clean: rm(['namespaces', 'x']),
  },
  'migration-of-instances': {
    async act(s) {
      const make = await custom(s)
      for (const name of ['a', 'b', 'c']) await make(name)
      const migrate = (name: string, resource: Fields) =>
        s.create('storageversionmigrations', {
          apiVersion: 'storagemigration.k8s.io/v1',
          kind: 'StorageVersionMigration',
          metadata: { name: `${s.ns}-${name}` },
          spec: { resource },
        })
      await migrate('m', { group: `${s.ns}.example.com`, resource: 'ws' })
      await s.untilObj(
        'storageversionmigrations',
        `${s.ns}-m`,
        ({ status }) => status?.conditions?.some(({ type }: Fields) => type === 'Succeeded'),
        200_000,
      )
      await migrate('n', { group: 'none.example.com', resource: 'nones' })
      await s.pause(12_000)
    },
    clean: async (s) => {
      await rm(['storageversionmigrations', 'm'], ['storageversionmigrations', 'n'])(s)
      await dropCrd(s)
    },
  },
  'pod-deleted-with-finalizer-and-grace': {
    async act(s) {
      await s.create(
        'pods',
        pod('p', { nodeName: 'idle', terminationGracePeriodSeconds: 60 }, { finalizers: ['x.y/z'] }),
      )
      await s.running({ metadata: { name: 'p' } })
      await s.del('pods', 'p')
      await s.pause(1000)
      await s.del('pods', 'p', { gracePeriodSeconds: 5 })
      await s.del('pods', 'p', { gracePeriodSeconds: 20 })
      await s.pause(1000)
      await force(s, await s.get('pods', 'p'))
      await s.pause(1000)
      await s.patch('pods', 'p', { metadata: { finalizers: null } })
      await s.gone('pods', 'p', 5000)
    },
  },
  'sa-tokens-of-two-accounts': {
    async act(s) {
      const account = (name: string) =>
        s.create('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })
      const secret = (name: string, of: string, more: Fields = {}) =>
        s.create('secrets', {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name, annotations: { 'kubernetes.io/service-account.name': of, ...more } },
          type: 'kubernetes.io/service-account-token',
        })
      const first = await account('x')
      await account('y')
      await secret('tx', 'x', { 'kubernetes.io/service-account.uid': String(first.metadata.uid) })
      await secret('ty', 'y')
      await s.pause(1500)
      await s
        .patch('secrets', 'ty', { metadata: { annotations: { 'kubernetes.io/service-account.name': 'x' } } })
        .catch((error) => s.note(error.message))
      await s.pause(1500)
      await s.del('serviceaccounts', 'x')
      await account('x')
      await s.pause(2500)
      await s.patch('secrets', 'ty', { data: { namespace: null } }).catch((error) => s.note(error.message))
      await s.pause(2000)
    },
  },
} satisfies Readonly<Record<string, Story>>
