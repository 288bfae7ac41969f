/** The pods of a scale run: Deployments of at most a thousand pods each in one namespace. */
import { type BenchClient, expectOk, json } from '../client.ts'
import { timed, until } from '../load.ts'
import { makeNamespace, podsPath } from '../pods.ts'

const PER_DEPLOYMENT = 1000
const WITHIN_MS = 3_600_000

interface Pods {
  readonly items: readonly { readonly spec: { readonly nodeName?: string } }[]
}

interface Deployments {
  readonly items: readonly { readonly status?: { readonly readyReplicas?: number } }[]
}

/** Seconds from the first request until every pod is ready. */
export async function createWorkload(client: BenchClient, namespace: string, pods: number): Promise<number> {
  await makeNamespace(client, namespace)
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
  const begin = performance.now()
  for (let made = 0, index = 0; made < pods; made += PER_DEPLOYMENT, index++)
    expectOk(await client.request('POST', path, deployment(`d${index}`, Math.min(PER_DEPLOYMENT, pods - made))))
  await untilReady(client, namespace, pods, 200)
  return timed(1, begin).seconds
}

const untilReady = (client: BenchClient, namespace: string, pods: number, everyMs: number) =>
  until(`${pods} ready pods`, WITHIN_MS, everyMs, async () => {
    const { items } = await read<Deployments>(client, `/apis/apps/v1/namespaces/${namespace}/deployments`)
    return items.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0) >= pods
  })

function deployment(name: string, replicas: number) {
  const labels = { app: name }
  return json({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'c', image: 'nginx:1', resources: { requests: { cpu: '10m', memory: '16Mi' } } }],
        },
      },
    },
  })
}

/** Seconds from the request until the namespace, and so every object in it, is gone. */
export async function deleteWorkload(client: BenchClient, namespace: string): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}`
  const begin = performance.now()
  expectOk(await client.request('DELETE', path))
  await until(`${namespace} gone`, WITHIN_MS, 200, async () => (await client.request('GET', path)).code === 404)
  return timed(1, begin).seconds
}

/**
 * A node dies: seconds from the taint that drives its pods away until none is there and as many as before are ready. The
 * minutes before it, in which a node is silent and its pods are borne with, are the same on every cluster.
 */
export async function replaceNode(client: BenchClient, namespace: string, pods: number): Promise<number> {
  const first = await read<Pods>(client, `${podsPath(namespace)}?limit=1`)
  const node = first.items[0]?.spec.nodeName ?? ''
  const ofNode = `${podsPath(namespace)}?fieldSelector=spec.nodeName%3D${node}`
  const taints = async (taint: readonly object[]) => {
    const contentType = 'application/merge-patch+json'
    const { bytes } = json({ spec: { taints: taint } })
    expectOk(await client.request('PATCH', `/api/v1/nodes/${node}`, { bytes, contentType }))
  }
  const begin = performance.now()
  await taints([{ key: 'bench', value: 'dead', effect: 'NoExecute' }])
  await until(`no pods on ${node}`, WITHIN_MS, 50, async () => (await read<Pods>(client, ofNode)).items.length === 0)
  await untilReady(client, namespace, pods, 50)
  const { seconds } = timed(1, begin)
  await taints([])
  return seconds
}

/** Seconds for the list of all pods of the namespace, and for that of one node's. */
export async function listWorkload(client: BenchClient, namespace: string) {
  const all = await timedRequest(client, podsPath(namespace))
  const nodes = await read<{ items: readonly { metadata: { name: string } }[] }>(client, '/api/v1/nodes?limit=1')
  const node = nodes.items[0]?.metadata.name ?? ''
  const ofNode = await timedRequest(client, `/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`)
  return { all, ofNode }
}

async function timedRequest(client: BenchClient, path: string) {
  const begin = performance.now()
  const { body } = expectOk(await client.request('GET', path))
  return { seconds: timed(1, begin).seconds, bytes: body.length }
}

async function read<T>(client: BenchClient, path: string): Promise<T> {
  return JSON.parse(expectOk(await client.request('GET', path)).body.toString()) as T
}
