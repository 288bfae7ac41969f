/** Random graphs of objects, as S8's simulation makes them, each in a namespace of its own, and what is to be deleted of each. */
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { seededRandom } from '../../src/base/random.ts'
import type { Client, GroupVersionResource } from '../../src/client/client.ts'
import type { DeleteRequest } from '../../src/inspect/plan/delete-deed.ts'
import { clusterScoped, dice, type Kind, kinds, make, ownersAmong } from '../simulation/cluster/workload.ts'
import { DEFINITIONS, definition, NAMESPACES } from './stage.ts'

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
  'PriorityClass',
]
const CASCADES = ['background', 'foreground', 'foreground', 'orphan'] as const
/** The group of the definition that all graphs share. */
export const SHARED_GROUP = 'acme.test'

/** One in ten has a definition of its own, which may be what is deleted. */
const hasOwnDefinition = (seed: number) => dice(seededRandom(seed).apart()).chance(0.1)
const groupOf = (seed: number, namespace: string) => (hasOwnDefinition(seed) ? `${namespace}.test` : SHARED_GROUP)
const shopsOf = (group: string): GroupVersionResource => ({ group, version: 'v1', resource: 'shops' })

/** The namespace, and the definition if it has one of its own: which must be served before the rest is made. */
export async function prepareGraph(client: Client, seed: number, namespace: string): Promise<void> {
  await client.resource(NAMESPACES).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  if (hasOwnDefinition(seed))
    await client
      .resource(DEFINITIONS)
      .create(definition({ strategy: 'None' }, groupOf(seed, namespace)) as unknown as KubeObject)
}

/** `node`: where pods are that name their node. The same seed makes the same graph. */
export async function makeGraph(client: Client, seed: number, namespace: string, node: string): Promise<Graph> {
  const random = seededRandom(seed)
  const die = dice(random)
  const group = groupOf(seed, namespace)
  const resourceOf = (kind: string) => (kind === 'Shop' ? shopsOf(group) : kinds[kind as Kind])
  const made: KubeObject[] = []
  const count = 2 + die.below(8)
  for (let at = 0; at < count; at++) {
    const kind = die.oneOf(KINDS)
    const owners = ownersAmong(die, random, made, 2)
    const shop = {
      apiVersion: `${group}/v1`,
      kind: 'Shop',
      metadata: {
        name: `o${at}`,
        namespace,
        ownerReferences: owners,
        ...(die.chance(0.3) ? { finalizers: ['acme.test/f'] } : {}),
      },
    }
    const name = clusterScoped.has(kind) ? `${namespace}-o${at}` : `o${at}`
    const other = onNode(make(die, kind, name, namespace, owners, `o${die.below(count)}`), node)
    const object = die.chance(group === SHARED_GROUP ? 0.15 : 0.4) ? shop : other
    const created = await client
      .resource(resourceOf(object.kind))
      .create(object)
      .catch(() => undefined)
    if (created !== undefined) made.push({ ...created, apiVersion: object.apiVersion, kind: object.kind })
  }
  await makeCycle(client, die, made, resourceOf)
  return { namespace, request: requestFor(die, namespace, made, group) }
}

/** Whether an object is of this graph. */
export function isOfGraph(
  { namespace, resource, name }: { readonly namespace: string; readonly resource: string; readonly name: string },
  graph: string,
): boolean {
  if (namespace !== '') return namespace === graph
  return (
    name === graph ||
    name.startsWith(`${graph}-`) ||
    (resource === DEFINITIONS.resource && name === `shops.${graph}.test`)
  )
}

/** A dependent becomes an owner of its owner, in some. */
async function makeCycle(
  client: Client,
  { chance, oneOf }: ReturnType<typeof dice>,
  made: readonly KubeObject[],
  resourceOf: (kind: string) => GroupVersionResource,
) {
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
  await client
    .resource(resourceOf(owner.kind))
    .namespace(owner.metadata.namespace ?? '')
    .patch(owner.metadata.name ?? '', 'merge', { metadata: { ownerReferences: [reference] } } as never)
    .catch(() => {})
}

function onNode(object: KubeObject, node: string): KubeObject {
  const spec: Fields = object['spec'] ?? {}
  const { nodeName, ttlSecondsAfterFinished: _, ...rest } = spec
  return object['spec'] === undefined
    ? object
    : { ...object, spec: { ...rest, ...(nodeName === undefined ? {} : { nodeName: node }) } }
}

function requestFor(
  die: ReturnType<typeof dice>,
  namespace: string,
  made: readonly KubeObject[],
  group: string,
): DeleteRequest {
  const cascade = die.oneOf(CASCADES)
  if (group !== SHARED_GROUP && die.chance(0.5))
    return { targets: [{ kind: DEFINITIONS.resource, namespace: '', name: `shops.${group}` }], cascade }
  if (made.length === 0 || die.chance(0.2))
    return { targets: [{ kind: 'namespaces', namespace: '', name: namespace }], cascade }
  const roots = made.filter(({ metadata }) => metadata.ownerReferences === undefined || die.chance(0.3))
  const first = die.oneOf(roots.length === 0 ? made : roots)
  const targets = die.chance(0.25) ? [first, die.oneOf(made)] : [first]
  const grace = die.chance(0.15) ? { gracePeriodSeconds: die.oneOf([0, 1, 7]) } : {}
  return { targets: [...new Set(targets)].map((object) => ({ object, namespace })), cascade, ...grace }
}
