/** Two whole clusters in one process, with different settings and at the same time: neither sees anything of the other. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cluster, type KubeObject, startCluster } from '../src/cluster/index.ts'

/** The same name, kind and version, another schema. */
const definition = (field: string, schema: object): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.t.org' },
  spec: {
    group: 't.org',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { [field]: schema } } },
      },
    ],
  },
})

const labels = { app: 'web' }
const deployment = (replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example.org/web:1' }] } },
  },
})
const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: labels, ports: [{ port: 80 }] },
}
const widget: KubeObject = { apiVersion: 't.org/v1', kind: 'Widget', metadata: { name: 'a' } }
const tolerating = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' }

let still: Cluster
let moving: Cluster
before(async () => {
  const both = await Promise.all([
    startCluster({
      storage: 'memory',
      clock: 'manual',
      crds: [definition('color', { type: 'string', default: 'red' })],
      security: { serviceClusterIpRange: '10.101.0.0/16' },
    }),
    startCluster({
      storage: 'memory',
      clock: 'real',
      nodes: 2,
      crds: [definition('size', { type: 'integer', default: 7 })],
      security: { serviceClusterIpRange: '10.202.0.0/16' },
      disableAdmissionPlugins: ['DefaultTolerationSeconds', 'NamespaceLifecycle'],
      enableAdmissionPlugins: ['AlwaysPullImages'],
    }),
  ])
  ;[still, moving] = both
})
after(async () => {
  await Promise.all([still, moving].map((cluster) => cluster?.stop()))
})

const readyReplicas = async ({ client }: Cluster): Promise<number> =>
  (await client.apps.deployments('default').get('web')).status?.readyReplicas ?? 0

/** By the machine's clock: looked at whenever a Deployment changes. */
async function untilReady(cluster: Cluster, replicas: number): Promise<void> {
  const watching = new AbortController()
  try {
    const { metadata } = await cluster.client.apps.deployments('default').list()
    const changes = await cluster.client.apps
      .deployments('default')
      .watch({ resourceVersion: metadata.resourceVersion ?? '' }, watching.signal)
    while ((await readyReplicas(cluster)) < replicas) await changes.next()
  } finally {
    watching.abort()
  }
}

test('definitions of one name have each cluster’s own schema', async () => {
  const widgets = [still, moving].map(({ client }) => client.custom('t.org/v1', 'widgets'))
  const [one, other] = await Promise.all(widgets.map((resource) => resource.create(widget)))
  const fields = (object: KubeObject | undefined) => [object?.['color'], object?.['size']]
  assert.deepEqual(
    [fields(one), fields(other)],
    [
      ['red', undefined],
      [undefined, 7],
    ],
  )
})

test('pods of both start at once, each by its own clock, on its own nodes and by its own rules', async () => {
  await Promise.all(
    [still, moving].flatMap(({ client }, at) => [
      client.apps.deployments('default').create(deployment(2 + at) as never),
      client.core.services('default').create(service as never),
    ]),
  )
  await Promise.all([still.clock.runUntil(async () => (await readyReplicas(still)) === 2), untilReady(moving, 3)])
  const podsOf = async ({ client }: Cluster) => (await client.core.pods('default').list()).items
  const [ofStill, ofMoving] = await Promise.all([podsOf(still), podsOf(moving)])
  assert.deepEqual([ofStill.length, ofMoving.length], [2, 3])

  const nodesOf = async ({ client }: Cluster) =>
    (await client.core.nodes().list()).items.map(({ metadata }) => metadata.name)
  assert.deepEqual([(await nodesOf(still)).length, (await nodesOf(moving)).length], [1, 2])
  const used = new Set(ofStill.map(({ spec }) => spec?.nodeName))
  assert.deepEqual([...used], await nodesOf(still))

  const policies = (pods: typeof ofStill) => new Set(pods.map(({ spec }) => spec?.containers[0]?.imagePullPolicy))
  assert.deepEqual([policies(ofStill), policies(ofMoving)], [new Set(['IfNotPresent']), new Set(['Always'])])
  const tolerates = (pods: typeof ofStill) =>
    pods.every(({ spec }) => spec?.tolerations?.some(({ key }) => key === tolerating.key) === true)
  assert.deepEqual([tolerates(ofStill), tolerates(ofMoving)], [true, false])
})

test('addresses of Services come from each cluster’s own range, and lead to its own pods', async () => {
  const addressOf = async ({ client }: Cluster) => (await client.core.services('default').get('web')).spec?.clusterIP
  assert.match(String(await addressOf(still)), /^10\.101\./)
  assert.match(String(await addressOf(moving)), /^10\.202\./)
  const endpointsOf = async ({ client }: Cluster) => {
    const { items } = await client.discovery.endpointSlices('default').list({
      labelSelector: 'kubernetes.io/service-name=web',
    })
    const pods = await client.core.pods('default').list()
    const uids = new Set(pods.items.map(({ metadata }) => metadata.uid))
    const targets = items.flatMap(({ endpoints }) => (endpoints ?? []).map(({ targetRef }) => targetRef?.uid))
    return [targets.length, targets.every((uid) => uids.has(uid))]
  }
  await still.clock.runUntil(async () => (await endpointsOf(still))[0] === 2)
  assert.deepEqual(await endpointsOf(still), [2, true])
})

test('time that is moved in one cluster stands where it was in the other', async () => {
  const madeAt = async ({ client }: Cluster, name: string) => {
    const made = await client.core
      .configMaps('default')
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    return Date.parse(made.metadata.creationTimestamp ?? '')
  }
  const before = [await madeAt(still, 'before'), await madeAt(moving, 'before')] as const
  await still.clock.advance('5h')
  assert.equal((await madeAt(still, 'after')) - before[0], 5 * 3_600_000)
  assert.ok((await madeAt(moving, 'after')) - before[1] < 3_600_000)
})

test('what admission refuses in one cluster, the other takes', async () => {
  const inNowhere = ({ client }: Cluster) =>
    client.core.configMaps('nowhere').create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } })
  await assert.rejects(inNowhere(still), { code: 404 })
  assert.equal((await inNowhere(moving)).metadata.namespace, 'nowhere')
})

test('when one cluster stops the other goes on', async () => {
  await still.stop()
  await moving.client.apps.deployments('default').patch('web', 'merge', { spec: { replicas: 5 } })
  await untilReady(moving, 5)
  const widgets = await moving.client.custom('t.org/v1', 'widgets').list()
  assert.deepEqual(
    widgets.items.map(({ size }) => size),
    [7],
  )
})
