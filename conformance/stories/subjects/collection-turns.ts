/** The garbage collector and namespaces, where what they go by changes midway. */
import type { Fields } from '../../../src/api/object.ts'
import { BLOCKS, claim, crd, dep, done, force, map, pod, rs, running, sts, svc } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const owner = ({ apiVersion, kind, metadata }: Seen, more: Fields = {}) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...more,
})
const held = { finalizers: ['x.y/z'] }
const left = async (s: Scene, resource = 'configmaps') =>
  s.note(
    (await s.list(resource))
      .map(
        ({ metadata }) =>
          `${metadata.name}${metadata.deletionTimestamp === undefined ? '' : ' going'}${metadata.finalizers === undefined ? '' : ` [${metadata.finalizers}]`}${metadata.ownerReferences === undefined ? '' : ` of ${metadata.ownerReferences.length}`}`,
      )
      .filter((name) => !name.startsWith('kube-root-ca.crt'))
      .toSorted()
      .join(', '),
  )
const release = (s: Scene, name: string, resource = 'configmaps') =>
  s.patch(resource, name, { metadata: { finalizers: null } })
const make = (s: Scene, name: string, metadata: Fields = {}) => s.create('configmaps', map(name, metadata))
const remove = (s: Scene, name: string, propagationPolicy: 'Foreground' | 'Background' | 'Orphan') =>
  s.del('configmaps', name, { propagationPolicy })

/** The namespace goes and is made again. */
async function again(s: Scene): Promise<void> {
  await s.gone('namespaces', s.ns, 60_000)
  await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: s.ns } })
  await s.until('account', () => s.get('serviceaccounts', 'default'))
  await s.until('authority', () => s.get('configmaps', 'kube-root-ca.crt'))
}

const releaseAll = async (s: Scene) => {
  for (const { metadata } of await s.list('configmaps'))
    if (metadata.finalizers !== undefined) await release(s, metadata.name).catch(() => {})
}

export const collectionTurnsStories = {
  'gc-block-lifted-midway': {
    clean: releaseAll,
    async act(s) {
      const o = await make(s, 'o')
      await make(s, 'd', { ownerReferences: [owner(o, BLOCKS)], ...held })
      await make(s, 'e', { ownerReferences: [owner(o, BLOCKS)], ...held })
      await s.pause(1000)
      await remove(s, 'o', 'Foreground')
      await s.pause(2000)
      await s.patch('configmaps', 'd', { metadata: { ownerReferences: [owner(o)] } })
      await s.pause(2000)
      await left(s)
      await release(s, 'e')
      await s.pause(2500)
      await left(s)
    },
  },
  'gc-block-set-midway': {
    clean: releaseAll,
    async act(s) {
      const o = await make(s, 'o')
      await make(s, 'd', { ownerReferences: [owner(o)], ...held })
      await make(s, 'e', { ownerReferences: [owner(o, BLOCKS)], ...held })
      await s.pause(1000)
      await remove(s, 'o', 'Foreground')
      await s.pause(2000)
      await s.patch('configmaps', 'd', { metadata: { ownerReferences: [owner(o, BLOCKS)] } })
      await release(s, 'e')
      await s.pause(2500)
      await left(s)
    },
  },
  'gc-orphan-after-foreground': {
    clean: releaseAll,
    async act(s) {
      const o = await make(s, 'o')
      const d = await make(s, 'd', { ownerReferences: [owner(o, BLOCKS)], ...held })
      await make(s, 'dd', { ownerReferences: [owner(d, BLOCKS)] })
      await s.pause(1000)
      await remove(s, 'o', 'Foreground')
      await s.pause(2000)
      await left(s)
      await remove(s, 'o', 'Orphan')
      await s.pause(2500)
      await left(s)
    },
  },
  'gc-foreground-after-orphan-held': {
    clean: releaseAll,
    async act(s) {
      const o = await make(s, 'o', held)
      await make(s, 'd', { ownerReferences: [owner(o, BLOCKS)] })
      await s.pause(1000)
      await remove(s, 'o', 'Orphan')
      await s.pause(2000)
      await left(s)
      await make(s, 'late', { ownerReferences: [owner(o, BLOCKS)] })
      await s.pause(1000)
      await remove(s, 'o', 'Foreground')
      await s.pause(2500)
      await left(s)
      await release(s, 'o').catch(() => {})
      await s.pause(1500)
    },
  },
  'gc-cycle-of-three-with-tail': {
    clean: releaseAll,
    async act(s) {
      const a = await make(s, 'a')
      const b = await make(s, 'b', { ownerReferences: [owner(a, BLOCKS)] })
      const c = await make(s, 'c', { ownerReferences: [owner(b, BLOCKS)] })
      await s.patch('configmaps', 'a', { metadata: { ownerReferences: [owner(c, BLOCKS)] } })
      await make(s, 'tail', { ownerReferences: [owner(c, BLOCKS)], ...held })
      await s.pause(1000)
      await remove(s, 'b', 'Foreground')
      await s.pause(3000)
      await left(s)
      await release(s, 'tail')
      await s.pause(3000)
      await left(s)
    },
  },
  'gc-self-owned': {
    clean: releaseAll,
    async act(s) {
      const a = await make(s, 'a')
      await s.patch('configmaps', 'a', { metadata: { ownerReferences: [owner(a, BLOCKS)] } })
      const b = await make(s, 'b', held)
      await s.patch('configmaps', 'b', { metadata: { ownerReferences: [owner(b)] } })
      await s.pause(1000)
      await remove(s, 'a', 'Foreground')
      await remove(s, 'b', 'Orphan')
      await s.pause(2500)
      await left(s)
      await release(s, 'b').catch(() => {})
      await s.pause(1500)
    },
  },
  'gc-three-owners-three-policies': {
    clean: releaseAll,
    async act(s) {
      const [f, b, o] = [await make(s, 'f'), await make(s, 'b'), await make(s, 'o')]
      await make(s, 'd', { ownerReferences: [owner(f, BLOCKS), owner(b), owner(o, BLOCKS)] })
      await s.pause(1000)
      await remove(s, 'f', 'Foreground')
      await s.pause(1500)
      await left(s)
      await remove(s, 'b', 'Background')
      await s.pause(1500)
      await left(s)
      await remove(s, 'o', 'Orphan')
      await s.pause(2000)
      await left(s)
    },
  },
  'gc-finalizer-added-midway': {
    clean: releaseAll,
    async act(s) {
      const o = await make(s, 'o')
      await make(s, 'd', { ownerReferences: [owner(o, BLOCKS)], ...held })
      await s.pause(1000)
      await remove(s, 'o', 'Foreground')
      await s.pause(1500)
      await s
        .patch('configmaps', 'o', { metadata: { finalizers: ['foregroundDeletion', 'x.y/late'] } })
        .catch((error) => s.note(error.message))
      await s.patch('configmaps', 'd', { metadata: { finalizers: ['x.y/z', 'x.y/w'] } }).catch((e) => s.note(e.message))
      await s.patch('configmaps', 'o', { metadata: { finalizers: [] } }).catch((error) => s.note(error.message))
      await s.pause(2000)
      await left(s)
      await release(s, 'd')
      await s.pause(1000)
    },
  },
  'gc-missing-kind-and-wrong-version': {
    clean: releaseAll,
    async act(s) {
      const o = await make(s, 'o')
      await make(s, 'kind', {
        ownerReferences: [{ apiVersion: 'none.example.com/v1', kind: 'None', name: 'n', uid: o.metadata.uid }],
      })
      await make(s, 'version', { ownerReferences: [owner(o, { apiVersion: 'v2' })] })
      await make(s, 'name', { ownerReferences: [owner(o, { name: 'other' })] })
      await make(s, 'both', {
        ownerReferences: [
          owner(o),
          { apiVersion: 'v1', kind: 'Secret', name: 'none', uid: '11111111-2222-3333-4444-555555555555' },
        ],
      })
      await s.pause(3000)
      await left(s)
      await remove(s, 'o', 'Background')
      await s.pause(4000)
      await left(s)
    },
  },
  'gc-pod-with-grace-in-foreground': {
    clean: releaseAll,
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }, { nodeName: 'idle' }))
      const [one, two] = await s.untilPods(2)
      await s.running(one)
      await s.running(two)
      await s.patch('pods', one.metadata.name, { metadata: { finalizers: ['x.y/z'] } })
      await s.pause(1000)
      await s.del('replicasets', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(2000)
      await force(s, two)
      await s.pause(1000)
      await s.del('replicasets', 'a', { propagationPolicy: 'Background' })
      await s.pause(2000)
      await left(s, 'replicasets')
      await force(s, one)
      await s.pause(500)
      await release(s, one.metadata.name, 'pods').catch(() => {})
      await s.pause(2500)
      await left(s, 'replicasets')
    },
  },
  'gc-deployment-orphaned-midway': {
    clean: releaseAll,
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { metadata: { finalizers: ['x.y/z'] } })
      await s.del('deployments', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(3000)
      await left(s, 'deployments')
      await s.del('deployments', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2000)
      await left(s, 'deployments')
      await release(s, 'a', 'deployments').catch(() => {})
      await s.pause(1500)
    },
  },
  'gc-service-and-slices-orphaned': {
    clean: releaseAll,
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', pod('p', {}, { labels: { app: 'a' } }))
      await s.untilPods(1, running)
      await s.pause(1500)
      await s.del('services', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(3000)
      await left(s, 'endpointslices')
      await s.create('services', svc('a'))
      await s.pause(3000)
      s.note(`${[...(await s.list('endpointslices'))].length} slices`)
    },
  },
  'gc-definition-goes-with-owners': {
    clean: releaseAll,
    async act(s) {
      await s.create('customresourcedefinitions', crd(s))
      const path = `/apis/${s.ns}.example.com/v1/namespaces/${s.ns}/ws`
      await s.until('served', async () => (await s.raw('GET', path)).status === 200)
      await s.pause(35_000)
      const body = { apiVersion: `${s.ns}.example.com/v1`, kind: 'W', metadata: { name: 'w' } }
      const w = JSON.parse((await s.raw('POST', path, body)).body) as Seen
      const d = await make(s, 'd', { ownerReferences: [owner(w, BLOCKS)] })
      await make(s, 'dd', { ownerReferences: [owner(d, BLOCKS)], ...held })
      await s.pause(1500)
      await s.del('customresourcedefinitions', `ws.${s.ns}.example.com`)
      await s.gone('customresourcedefinitions', `ws.${s.ns}.example.com`)
      await s.pause(5000)
      await left(s)
    },
    exclusive: true,
  },
  'ns-deleted-with-claims-and-set': {
    clean: releaseAll,
    async act(s) {
      await s.create('persistentvolumeclaims', claim('c'))
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilPods(2, running)
      await s.create('configmaps', map('held', held))
      await s.create('pods', pod('p', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }))
      await s.pause(1500)
      await s.del('namespaces', s.ns)
      await s.pause(9000)
      await left(s)
      const { status } = await s.get('namespaces', s.ns)
      s.note(JSON.stringify(status.conditions?.map((c: Fields) => [c['type'], c['status'], c['reason'], c['message']])))
      await release(s, 'held')
      await again(s)
    },
  },
  'ns-finalize-by-hand': {
    clean: releaseAll,
    async act(s) {
      await s.create('configmaps', map('held', held))
      await s.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } })
      await s.del('namespaces', s.ns)
      await s.pause(7000)
      const all = await s.get('namespaces', s.ns)
      s.note(
        JSON.stringify(all.status.conditions?.map((c: Fields) => [c['type'], c['status'], c['reason'], c['message']])),
      )
      const { status, body } = await s.raw('PUT', `/api/v1/namespaces/${s.ns}/finalize`, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: s.ns },
        spec: { finalizers: [] },
      })
      s.note(`${status} ${(JSON.parse(body) as Seen).metadata.name ?? body}`)
      await again(s)
      await s.pause(1500)
      await left(s)
      await release(s, 'held')
      await s.pause(1500)
      await left(s)
    },
  },
} satisfies Readonly<Record<string, Story>>
