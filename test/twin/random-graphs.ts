/** Random graphs of objects, as S8's simulation makes them, each in a namespace of its own, and what is to be deleted of each. */
import type { Fields, KubeObject } from '../../src/api/object.ts'
import type { Random } from '../../src/base/random.ts'
import type { Client } from '../../src/client/client.ts'
import type { DeleteRequest } from '../../src/inspect/plan/delete-deed.ts'
import { dice, type Kind, kinds, make, ownersAmong } from '../simulation/cluster/workload.ts'
import { NAMESPACES } from './stage.ts'

export interface Graph {
  readonly namespace: string
  readonly request: DeleteRequest
}

/** Those whose end depends on nothing but what is done: CronJobs and times to live go by the clock. */
const KINDS: readonly Kind[] = [
  'ConfigMap',
  'ConfigMap',
  'ConfigMap',
  'Secret',
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'Pod',
  'Pod',
  'Job',
  'Service',
  'PersistentVolumeClaim',
  'PodDisruptionBudget',
]
const CASCADES = ['background', 'foreground', 'foreground', 'orphan'] as const
const SHOPS = { group: 'acme.test', version: 'v1', resource: 'shops' }

export async function makeGraph(client: Client, random: Random, namespace: string): Promise<Graph> {
  const die = dice(random)
  await client.resource(NAMESPACES).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const made: KubeObject[] = []
  const count = 2 + die.below(8)
  for (let at = 0; at < count; at++) {
    const kind = die.oneOf(KINDS)
    const owners = ownersAmong(die, random, made, 2)
    const shop = {
      apiVersion: 'acme.test/v1',
      kind: 'Shop',
      metadata: {
        name: `o${at}`,
        namespace,
        ownerReferences: owners,
        ...(die.chance(0.3) ? { finalizers: ['acme.test/f'] } : {}),
      },
    }
    const object = die.chance(0.15)
      ? shop
      : onOwnNodes(make(die, kind, `o${at}`, namespace, owners, `o${die.below(count)}`))
    const gvr = object.kind === 'Shop' ? SHOPS : kinds[kind]
    const created = await client
      .resource(gvr)
      .create(object)
      .catch(() => undefined)
    if (created !== undefined) made.push({ ...created, apiVersion: object.apiVersion, kind: object.kind })
  }
  await makeCycle(client, die, made)
  return { namespace, request: requestFor(die, namespace, made) }
}

/** A dependent becomes an owner of its owner, in some. */
async function makeCycle(client: Client, { chance, oneOf }: ReturnType<typeof dice>, made: readonly KubeObject[]) {
  const dependents = made.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => made.some((one) => one.metadata.uid === uid)),
  )
  if (dependents.length === 0 || !chance(0.25)) return
  const dependent = oneOf(dependents)
  const owner = made.find(({ metadata }) => metadata.uid === dependent.metadata.ownerReferences?.[0]?.uid)
  if (owner === undefined) return
  const { apiVersion, kind, metadata } = dependent
  const reference = {
    apiVersion,
    kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    blockOwnerDeletion: chance(0.7),
  }
  const gvr = owner.kind === 'Shop' ? SHOPS : kinds[owner.kind as Kind]
  await client
    .resource(gvr)
    .namespace(owner.metadata.namespace ?? '')
    .patch(owner.metadata.name ?? '', 'merge', { metadata: { ownerReferences: [reference] } } as never)
    .catch(() => {})
}

function onOwnNodes(object: KubeObject): KubeObject {
  const spec: Fields = object['spec'] ?? {}
  const { nodeName, ttlSecondsAfterFinished: _, ...rest } = spec
  return object['spec'] === undefined
    ? object
    : { ...object, spec: { ...rest, ...(nodeName === undefined ? {} : { nodeName: 'skiff-1' }) } }
}

function requestFor(die: ReturnType<typeof dice>, namespace: string, made: readonly KubeObject[]): DeleteRequest {
  const cascade = die.oneOf(CASCADES)
  if (made.length === 0 || die.chance(0.2))
    return { targets: [{ kind: 'namespaces', namespace: '', name: namespace }], cascade }
  const roots = made.filter(({ metadata }) => metadata.ownerReferences === undefined || die.chance(0.3))
  const first = die.oneOf(roots.length === 0 ? made : roots)
  const targets = die.chance(0.25) ? [first, die.oneOf(made)] : [first]
  const grace = die.chance(0.15) ? { gracePeriodSeconds: die.oneOf([0, 1, 7]) } : {}
  return { targets: [...new Set(targets)].map((object) => ({ object, namespace })), cascade, ...grace }
}
