/**
 * Random walks: a few requests with random options on one object, every answer kept, and the watch over it all at the end.
 * They find what single questions do not: deletes upon deletes, finalizers edited while terminating, preconditions gone stale.
 */
import type { Case, Step } from '../recording.ts'
import type { Chance } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of objects of several kinds
type Any = any

const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec }
const workload = (replicas: number, more: Any = {}): Any => ({
  spec: { ...more, replicas, selector: { matchLabels: { a: 'b' } }, template },
})

const kinds: Readonly<Record<string, { apiVersion: string; kind: string; rest: Any }>> = {
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap', rest: {} },
  pods: { apiVersion: 'v1', kind: 'Pod', rest: { spec: podSpec } },
  replicasets: { apiVersion: 'apps/v1', kind: 'ReplicaSet', rest: workload(1) },
  replicationcontrollers: {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    rest: { spec: { replicas: 0, selector: { a: 'b' }, template } },
  },
  secrets: { apiVersion: 'v1', kind: 'Secret', rest: {} },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment', rest: workload(1) },
  services: { apiVersion: 'v1', kind: 'Service', rest: { spec: { clusterIP: 'None', ports: [{ port: 80 }] } } },
  statefulsets: { apiVersion: 'apps/v1', kind: 'StatefulSet', rest: workload(0, { serviceName: 's' }) },
}

const finalizerSets: readonly (readonly string[] | null | undefined)[] = [
  undefined,
  [],
  null,
  ['example.com/f'],
  ['example.com/f', 'example.com/g'],
  ['orphan'],
  ['foregroundDeletion'],
  ['example.com/f', 'foregroundDeletion'],
]

const mergePatch = { 'content-type': 'application/merge-patch+json' }
const applyPatch = { 'content-type': 'application/apply-patch+yaml' }
const ownUid = '{{0.metadata.uid}}'
const firstVersion = '{{0.metadata.resourceVersion}}'

function walk(rand: Chance, resource: string): readonly Step[] {
  const { apiVersion, kind, rest } = kinds[resource]!
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const path = `${base}/namespaces/$NS/${resource}`
  const body = JSON.stringify
  const newObject = (meta: Any = {}): Any => {
    const object: Any = {
      apiVersion,
      kind,
      metadata: { name: 'o', ...(rand.float() < 0.5 ? { finalizers: rand.pick(finalizerSets) } : {}), ...meta },
      ...structuredClone(rest),
    }
    if (kind === 'Pod' && rand.float() < 0.6) object.spec.nodeName = 'nowhere'
    if (kind === 'Pod' && rand.float() < 0.4) object.spec.terminationGracePeriodSeconds = rand.pick([0, 1, 30, 90])
    if (rand.float() < 0.3) object.metadata.labels = { l: rand.pick(['1', '2']) }
    return object
  }
  const status = (): Any => {
    if (kind === 'Pod') return { phase: rand.pick(['Running', 'Succeeded', 'Failed']) }
    if (kind === 'Service') return { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }
    return { replicas: 1, observedGeneration: 1 }
  }
  const requests: Readonly<Record<string, (dryRun: string) => Step | undefined>> = {
    delete: (dryRun) => ({
      m: 'DELETE',
      p: `${path}/o${dryRun}`,
      b:
        rand.float() < 0.15
          ? undefined
          : body({
              apiVersion: 'v1',
              kind: 'DeleteOptions',
              gracePeriodSeconds: rand.maybe(0.5, rand.pick([0, 1, 5, 60, -1])),
              propagationPolicy: rand.maybe(0.5, rand.pick(['Orphan', 'Background', 'Foreground', 'Foreground'])),
              orphanDependents: rand.maybe(0.08, rand.float() < 0.5),
              preconditions: rand.maybe(
                0.15,
                rand.pick<Any>([
                  { uid: ownUid },
                  { resourceVersion: firstVersion },
                  { uid: '99999999-2222-4333-8444-555555555555' },
                ]),
              ),
            }),
    }),
    merge: (dryRun) => ({
      m: 'PATCH',
      p: `${path}/o${dryRun}`,
      b: body({
        metadata: rand.pick<Any>([
          { finalizers: rand.pick(finalizerSets) ?? null },
          { labels: { l: rand.pick(['1', '2', null]) } },
          { deletionTimestamp: null },
          { deletionGracePeriodSeconds: rand.pick([0, 7]) },
          { resourceVersion: firstVersion, labels: { x: '1' } },
          { generation: 5 },
          { annotations: { a: 'b' } },
        ]),
        ...(rand.float() < 0.3 && rest.spec
          ? {
              spec: rand.pick<Any>([
                { replicas: 2 },
                { bogus: 1 },
                { terminationGracePeriodSeconds: 3 },
                { template: null },
              ]),
            }
          : {}),
      }),
      h: mergePatch,
    }),
    put: (dryRun) => ({
      m: 'PUT',
      p: `${path}/o${dryRun}`,
      b: body(newObject(rand.pick<Any>([{}, { resourceVersion: firstVersion }, { uid: ownUid }]))),
    }),
    create: (dryRun) => ({ m: 'POST', p: `${path}${dryRun}`, b: body(newObject()) }),
    get: () => ({ m: 'GET', p: `${path}/o` }),
    collection: () => ({
      m: 'DELETE',
      p: `${path}?labelSelector=l%3D1${rand.float() < 0.5 ? '&propagationPolicy=Foreground' : ''}`,
    }),
    status: () =>
      rest.spec && {
        m: 'PATCH',
        p: `${path}/o/status`,
        b: body({
          metadata: { labels: { s: '1' }, finalizers: rand.pick(finalizerSets) ?? null },
          status: status(),
        }),
        h: mergePatch,
      },
    apply: () => ({
      m: 'PATCH',
      p: `${path}/o?fieldManager=${rand.pick(['m1', 'm2'])}${rand.float() < 0.5 ? '&force=true' : ''}`,
      b: body({
        apiVersion,
        kind,
        metadata: {
          name: 'o',
          labels: { l: rand.pick(['1', '2', '3']) },
          finalizers: rand.maybe(0.3, ['example.com/h']),
        },
        ...(rand.float() < 0.5 ? structuredClone(rest) : {}),
      }),
      h: applyPatch,
    }),
  }
  // Deletes and finalizer edits are what a walk is for: they come more often.
  const mix = ['delete', 'delete', 'delete', 'merge', 'merge', 'put', 'create', 'get', 'collection', 'status', 'apply']
  const steps: Step[] = [{ m: 'POST', p: path, b: body(newObject()) }]
  for (let i = 0; i < 7; i++) {
    const dryRun = rand.float() < 0.1 ? '?dryRun=All' : ''
    const step = requests[rand.pick(mix)]?.(dryRun)
    if (step) steps.push(step)
  }
  steps.push(
    { m: 'GET', p: `${path}/o` },
    { m: 'GET', p: `${path}?watch=1&timeoutSeconds=1&resourceVersion=${firstVersion}` },
  )
  return steps
}

export function walks(rand: Chance, count: number): readonly Case[] {
  return Array.from({ length: count }, (_, index) => {
    const resource = rand.pick(Object.keys(kinds))
    return { name: `walk ${index} ${resource}`, steps: walk(rand, resource) }
  })
}
