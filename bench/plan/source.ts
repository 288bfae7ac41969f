/**
 * A cluster to look into: an API server in a process of its own with as many copies of one namespace as it is told, that namespace as
 * skiff's controllers, scheduler and nodes made it. Nothing runs in it. Says where its kubeconfig is; ends with SIGTERM.
 */
import { parseArgs } from 'node:util'
import type { KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { startCluster, startFork } from '../../src/cluster/cluster.ts'
import { snapshotOf } from '../../src/cluster/snapshot.ts'
import { storedItem, twinImage } from '../../src/cluster/twin.ts'
import { type ReadCluster, readCluster } from '../../src/inspect/twin/read-cluster.ts'
import { HELD, namespaceOf } from './names.ts'

const { values } = parseArgs({
  options: { namespaces: { type: 'string', default: '1000' }, pods: { type: 'string', default: '20000' } },
})
const [namespaces, pods] = [Number(values.namespaces), Number(values.pods)]
const PODS_PER_NODE = 100
const UIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const read = await oneNamespace(Math.ceil(pods / namespaces))
const { image, entries } = twinImage(copied(read, namespaces, Math.ceil(pods / PODS_PER_NODE)))
const cluster = await startFork(
  { storage: 'memory', from: snapshotOf(image, Date.now(), false), components: ['apiserver'] },
  { entries, nodes: [] },
)
process.stdout.write(`${JSON.stringify({ kubeconfig: cluster.kubeconfigFile, objects: image.items.length })}\n`)
process.once('SIGTERM', () => void cluster.stop().then(() => process.exit(0)))

async function oneNamespace(replicas: number): Promise<ReadCluster> {
  const cluster = await startCluster({ storage: 'memory', clock: 'manual', nodes: 1 })
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, cluster.kubeconfigFile)
  const create = (object: KubeObject) => {
    const [group = '', version = ''] = object.apiVersion.includes('/')
      ? object.apiVersion.split('/')
      : ['', object.apiVersion]
    const gvr = { group, version, resource: `${object.kind.toLowerCase()}s` }
    return cluster.client.resource(gvr).create(object)
  }
  try {
    for (const object of contents(replicas)) await create(object)
    await cluster.clock.advance('2m')
    return await readCluster({ runtime, transport, userAgent: 'bench' }, { secrets: true })
  } finally {
    transport.close()
    await cluster.stop()
  }
}

function contents(replicas: number): KubeObject[] {
  const [namespace, labels] = [namespaceOf(0), { app: 'web' }]
  const text = 'b'.repeat(500)
  const container = { name: 'c', image: 'nginx:1', resources: { requests: { cpu: '10m', memory: '16Mi' } } }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace }, data: { text } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace }, stringData: { text } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { selector: labels, ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace },
      spec: { replicas, selector: { matchLabels: labels }, template },
    },
  ]
}

/** Everything in the namespace, and the namespace and the node themselves, so many times over; each copy with uids of its own. */
function copied({ resources }: ReadCluster, namespaces: number, nodes: number) {
  let pod = 0
  return resources.map(({ items: given, ...stored }) => {
    const items = given.map((item) => item.object())
    const isOf = (item: KubeObject) =>
      item.metadata.namespace === namespaceOf(0) ||
      (stored.kind === 'Namespace' && item.metadata.name === namespaceOf(0))
    const isNode = stored.kind === 'Node'
    const kept = items.filter((item) => !isOf(item) && !isNode)
    const own = items.filter(isOf).map((item) => JSON.stringify(item))
    const all = Array.from({ length: namespaces }, (_, index) => own.map((text) => copyOf(text, index))).flat()
    if (stored.kind === 'Pod')
      for (const one of all) (one['spec'] as { nodeName: string }).nodeName = `skiff-${(pod++ % nodes) + 1}`
    if (stored.kind === 'ConfigMap') all.push(...Array.from({ length: HELD }, (_, index) => held(index)))
    const ofNode = items.filter(() => isNode).map((item) => JSON.stringify(item))
    const machines = Array.from({ length: nodes }, (_, index) =>
      ofNode.map((text) => renamed(JSON.parse(text) as KubeObject, `skiff-${index + 1}`, index)),
    ).flat()
    return { ...stored, items: [...kept, ...all, ...machines].map(storedItem) }
  })
}

function copyOf(text: string, index: number): KubeObject {
  const copy = text
    .replaceAll(`"${namespaceOf(0)}"`, `"${namespaceOf(index)}"`)
    .replace(UIDS, (uid) => `${index.toString(16).padStart(8, '0')}${uid.slice(8)}`)
  return JSON.parse(copy) as KubeObject
}

function renamed(object: KubeObject, name: string, index: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, name, uid: `node-${index}` } }
}

/** Deleted, and held by a finalizer whose controller is nowhere. */
function held(index: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'held',
      namespace: namespaceOf(index),
      uid: `held-${index}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      finalizers: ['acme.test/cleanup'],
    },
  }
}
