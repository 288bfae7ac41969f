/**
 * npm run bench:forks: how long a fork takes to its first answer, what a hundred of them hold, and how long moved time takes. In one
 * process, with clusters that keep nothing on disk; the month also with the store.
 */
import type { KubeObject } from '../src/api/object.ts'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { type Cluster, type Fork, startCluster } from '../src/cluster/index.ts'
import { createHttpsClient } from '../src/http/client.ts'

const DEFINITIONS = 50
const OBJECTS = 1000
const FORKS = 100

const say = (name: string, value: string) => process.stdout.write(`${name.padEnd(64)}${value}\n`)
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const rss = () => process.memoryUsage.rss() / 2 ** 20

function definition(index: number): KubeObject {
  const plural = `w${index}s`
  const properties = { spec: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, singular: `w${index}`, kind: `W${index}` },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
      ],
    },
  }
}

async function fill(cluster: Cluster): Promise<void> {
  const definitions = cluster.client.resource<KubeObject>({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    resource: 'customresourcedefinitions',
  })
  for (let i = 0; i < DEFINITIONS; i++) await definitions.create(definition(i))
  const maps = cluster.client
    .resource<KubeObject>({ group: '', version: 'v1', resource: 'configmaps' })
    .namespace('default')
  for (let i = DEFINITIONS; i < OBJECTS; i++)
    await maps.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `c${i}` },
      data: { k: 'v'.repeat(200) },
    })
}

async function firstGet(fork: Fork): Promise<void> {
  const client = createHttpsClient(endpointFromKubeconfig(fork.kubeconfig))
  const { status } = await client.send({ method: 'GET', path: `/api/v1/namespaces/default/configmaps/c${OBJECTS - 1}` })
  if (status !== 200) throw new Error(`a fork answered ${status}`)
  client.close()
}

async function forks(): Promise<void> {
  const cluster = await startCluster({ storage: 'memory' })
  await fill(cluster)
  const before = rss()
  const open: Fork[] = []
  const inProcess: number[] = []
  const overHttps: number[] = []
  for (let i = 0; i < FORKS; i++) {
    const began = performance.now()
    const fork = await cluster.fork()
    await fork.client
      .resource({ group: '', version: 'v1', resource: 'configmaps' })
      .namespace('default')
      .get(`c${OBJECTS - 1}`)
    inProcess.push(performance.now() - began)
    await firstGet(fork)
    overHttps.push(performance.now() - began)
    await fork.running
    open.push(fork)
  }
  say(`fork of ${OBJECTS} objects, ${DEFINITIONS} definitions, to its first GET`, `${median(inProcess).toFixed(1)} ms`)
  say('the same, the GET over a new TLS connection', `${median(overHttps).toFixed(1)} ms`)
  say(`${FORKS} forks with all controllers, each`, `${((rss() - before) / FORKS).toFixed(1)} MiB`)
  say('the process with all of them', `${rss().toFixed(0)} MiB`)
  await cluster.stop()
}

async function moved(storage: 'memory' | 'lmdb'): Promise<void> {
  const cluster = await startCluster({ storage, clock: 'manual' })
  const { clock, client } = cluster
  const timed = async (name: string, by: string) => {
    const began = performance.now()
    await clock.advance(by)
    say(`${name} (${storage})`, `${(performance.now() - began).toFixed(0)} ms`)
  }
  await client.resource<KubeObject>({ group: '', version: 'v1', resource: 'nodes' }).create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'silent' },
  })
  await clock.advance('20s')
  await timed('40 s of silence of a node', '40s')
  await client.resource<KubeObject>({ group: '', version: 'v1', resource: 'nodes' }).delete('silent')
  const container = { name: 'c', image: 'i', command: ['sleep', '5'] }
  await client
    .resource<KubeObject>({ group: 'batch', version: 'v1', resource: 'cronjobs' })
    .namespace('default')
    .create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'daily' },
      spec: {
        schedule: '0 3 * * *',
        jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } },
      },
    })
  await timed('a month of a daily CronJob', '720h')
  await cluster.stop()
}

await moved('memory')
await moved('lmdb')
await forks()
