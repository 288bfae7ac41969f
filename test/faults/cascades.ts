/**
 * A deployment with dependents of its own in each of four namespaces, which go in four ways; what a store says of how far each
 * has come, and what must be left when it has ended.
 */
import assert from 'node:assert/strict'
import type { KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Client, GroupVersionResource, ResourceClient } from '../../src/client/client.ts'
import { openStorage } from '../../src/storage/open.ts'
import { follow } from './follow.ts'

export const policies = ['Foreground', 'Background', 'Orphan', 'namespace'] as const
export type Policy = (typeof policies)[number]

const PODS = 4
/** So many that a cascade takes longer than a kill does to arrive. */
const MAPS = 100
const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
const apps = (resource: string): GroupVersionResource => ({ group: 'apps', version: 'v1', resource })
const namespaces = core('namespaces')
const maps = core('configmaps')
const pods = core('pods')
const deployments = apps('deployments')
const replicaSets = apps('replicasets')

/** Its pods take a second to go. */
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: PODS,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, annotations: { 'sim.skiff.dev/stop-delay': '1s' } },
      spec: { terminationGracePeriodSeconds: 2, containers: [{ name: 'c', image: 'i' }] },
    },
  },
}

export const namespaceOf = (policy: Policy, round: number): string => `${policy.toLowerCase()}-${round}`

/** Made and available. */
export async function prepare(client: Client, namespace: string): Promise<void> {
  const own = (resource: GroupVersionResource) => client.resource(resource).namespace(namespace)
  await client.resource(namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const accounts = await follow(own(core('serviceaccounts')))
  await accounts.until('the default account', (all) => all.has('default'))
  const { metadata } = await own(deployments).create(deployment)
  const { name = '', uid = '' } = metadata
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid, blockOwnerDeletion: true }]
  const of = (index: number) => ({ name: `m${index}`, labels: { app: 'web' }, ownerReferences })
  await Promise.all(
    Array.from({ length: MAPS }, (_, index) =>
      own(maps).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: of(index) }),
    ),
  )
  const made = await follow(own(deployments))
  await made.until('the pods', (all) => all.get('web')?.['status']?.readyReplicas === PODS)
}

export interface Begun {
  /** Resolves when no more than so many of a hundred ConfigMaps have their owner yet. */
  until(owned: number): Promise<void>
}

/** Asks for the deletion and is answered. */
export async function begin(client: Client, policy: Policy, namespace: string): Promise<Begun> {
  const followed = await follow(client.resource(maps).namespace(namespace))
  if (policy === 'namespace') await client.resource(namespaces).delete(namespace)
  else await client.resource(deployments).namespace(namespace).delete('web', { propagationPolicy: policy })
  return {
    until: (owned) =>
      followed.until(`${policy} has come to ${owned} of its dependents`, (all) => ownedIn([...all.values()]) <= owned),
  }
}

const isOwned = ({ metadata }: KubeObject): boolean => metadata.ownerReferences !== undefined
const isMarked = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
const ownedIn = (objects: readonly KubeObject[]): number =>
  objects.filter((object) => object.kind === 'ConfigMap' && isOwned(object)).length

export type Progress = 'not begun' | 'under way' | 'ended'

/**
 * How far each namespace's deletion, which was answered, has come by what the store of a dead cluster holds. Under way is one of
 * whose dependents some have gone, or lost their owner, and not all has been done.
 * @throws AssertionError where the store does not hold the answered deletion, or an owner went before its dependents
 */
export async function progressIn(store: string, round: number): Promise<ReadonlyMap<Policy, Progress>> {
  const storage = await openStorage({ runtime: liveRuntime(), driver: 'lmdb', dir: store })
  try {
    const { items } = await storage.range('/registry/', '/registry0')
    const objectsOf = (policy: Policy): readonly KubeObject[] =>
      items
        .filter(({ key }) => key.split('/').includes(namespaceOf(policy, round)))
        .map(({ value }) => JSON.parse(Buffer.from(value).toString()))
    return new Map(policies.map((policy) => [policy, progressOf(policy, objectsOf(policy))]))
  } finally {
    await storage.close()
  }
}

function progressOf(policy: Policy, objects: readonly KubeObject[]): Progress {
  const owned = ownedIn(objects)
  const asked = objects.find(({ kind }) => kind === (policy === 'namespace' ? 'Namespace' : 'Deployment'))
  if (policy === 'Background') assert.equal(asked, undefined, 'Background: the answered deletion is not in the store')
  else if (owned > 0) assert.ok(asked, `${policy}: gone before ${owned} of its dependents`)
  assert.ok(asked === undefined || isMarked(asked), `${policy}: the answered deletion is not in the store`)
  if (owned === MAPS) return 'not begun'
  return owned > 0 || objects.some(isMarked) ? 'under way' : 'ended'
}

/** Resolves when the deletion has come to its end. @throws AssertionError where something is left half deleted */
export async function ends(client: Client, policy: Policy, namespace: string): Promise<void> {
  const own = (resource: GroupVersionResource) => client.resource(resource).namespace(namespace)
  const gone = async (resource: ResourceClient, isOf: (object: KubeObject) => boolean) =>
    (await follow(resource)).until(
      `the end of ${policy}: ${resource.gvr.resource}`,
      (all) => ![...all.values()].some(isOf),
    )
  const any = () => true
  if (policy === 'namespace') await gone(client.resource(namespaces), ({ metadata }) => metadata.name === namespace)
  await gone(own(deployments), any)
  if (policy === 'Orphan') {
    const left = [
      ...(await own(replicaSets).list()).items,
      ...(await own(pods).list()).items,
      ...(await own(maps).list({ labelSelector: 'app=web' })).items,
    ]
    assert.equal(left.length, 1 + PODS + MAPS)
    for (const { kind, metadata } of left) {
      const what = `${kind} ${metadata.name}`
      assert.equal(metadata.deletionTimestamp, undefined, what)
      assert.equal(metadata.finalizers, undefined, what)
      assert.equal(metadata.ownerReferences?.some((owner) => owner.kind === 'Deployment') ?? false, false, what)
    }
    return
  }
  for (const resource of [replicaSets, pods, maps])
    await gone(own(resource), ({ metadata }) => metadata.labels?.['app'] === 'web')
}
