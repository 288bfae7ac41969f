/** Forks: clusters that begin with the objects of another and go their own way. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { KubeObject } from '../src/api/object.ts'
import { StatusError } from '../src/api/status.ts'
import { seededInts } from '../src/base/random.ts'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { type Cluster, type Fork, startCluster } from '../src/cluster/index.ts'
import { createHttpsClient } from '../src/http/client.ts'
import { skiff, startE2eCluster } from './e2e/cluster.ts'
import { kubectlPath, withoutKubectl } from './kubectl.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const WIDGETS = { group: 'example.com', version: 'v1', resource: 'widgets' }

const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

const in_ = (cluster: Cluster, gvr: typeof WIDGETS) => cluster.client.resource<KubeObject>(gvr).namespace('default')
const configMap = (name: string, value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value },
})

/** All that a user has made. */
async function shown(cluster: Cluster): Promise<unknown> {
  const all = await Promise.all([core('configmaps'), WIDGETS].map((gvr) => in_(cluster, gvr).list()))
  return all.map(({ items }) =>
    items
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
      .map((item) => JSON.parse(JSON.stringify(item))),
  )
}

describe('forks', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster({ storage: 'memory' })
    await cluster.client
      .resource({ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' })
      .create(definition)
    for (let i = 0; i < 20; i++) {
      await in_(cluster, core('configmaps')).create(configMap(`c${i}`, 'first'))
      await in_(cluster, WIDGETS).create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${i}` } })
    }
  })
  after(() => cluster.stop())

  test('begin with the very same objects, custom ones too', async () => {
    const fork = await cluster.fork()
    assert.deepEqual(await shown(fork), await shown(cluster))
    await fork.running
    await fork.stop()
  })

  test('a thousand random operations on two forks never show in the other, nor in the cluster', async () => {
    const original = await shown(cluster)
    const forks = [await cluster.fork(), await cluster.fork()]
    const ints = seededInts(7)
    /** What each should have, by kind and name. */
    const expected = forks.map(() => new Map<string, string>())
    for (const known of expected)
      for (let i = 0; i < 20; i++) {
        known.set(`configmaps c${i}`, 'first')
        known.set(`widgets w${i}`, 'undefined')
      }
    for (let step = 0; step < 1000; step++) {
      const which = ints() % 2
      const fork = forks[which] as Fork
      const known = expected[which] as Map<string, string>
      const isWidget = ints() % 2 === 0
      const gvr = isWidget ? WIDGETS : core('configmaps')
      const name = `${isWidget ? 'w' : 'c'}${ints() % 40}`
      const key = `${gvr.resource} ${name}`
      const value = `${which} ${step}`
      const object = isWidget
        ? { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, data: { value } }
        : configMap(name, value)
      const resource = in_(fork, gvr)
      const isThere = known.has(key)
      const acts = {
        create: () => resource.create(object),
        patch: () => resource.patch(name, 'merge', { data: { value } }),
        delete: () => resource.delete(name),
      }
      const act = (['create', 'patch', 'delete'] as const)[ints() % 3] ?? 'patch'
      const error = await acts[act]().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      const isMeant = act === 'create' ? !isThere : isThere
      assert.equal(error === undefined, isMeant, `${act} ${key}: ${error}`)
      if (!isMeant) assert.ok(error instanceof StatusError)
      else if (act === 'delete') known.delete(key)
      else known.set(key, value)
    }
    for (const [at, fork] of forks.entries()) {
      const found = new Map<string, string>()
      for (const gvr of [core('configmaps'), WIDGETS])
        for (const { metadata, data } of (await in_(fork, gvr).list()).items as (KubeObject & {
          data?: { value: string }
        })[])
          if (metadata.name !== 'kube-root-ca.crt') found.set(`${gvr.resource} ${metadata.name}`, String(data?.value))
      assert.deepEqual([...found].sort(), [...(expected[at] ?? [])].sort())
      await fork.stop()
    }
    assert.deepEqual(await shown(cluster), original)
  })

  test('what certifies a user of one, by certificate or token, is worth nothing in another', async () => {
    const fork = await cluster.fork()
    const other = await cluster.fork()
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
    const token = String(JSON.parse((await fork.client.raw('POST', path, review)).body).status.token)
    const own = endpointFromKubeconfig(fork.kubeconfig)
    const foreign = endpointFromKubeconfig(other.kubeconfig)
    const status = async (at: typeof own, options: { cert?: typeof own; token?: string }) => {
      const { cert, key } = options.cert ?? {}
      const client = createHttpsClient({
        server: at.server,
        ...(at.ca === undefined ? {} : { ca: at.ca }),
        ...(cert === undefined || key === undefined ? {} : { cert, key }),
      })
      try {
        const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
        return (await client.send({ method: 'GET', path: '/api/v1/namespaces/default/configmaps/c0', headers })).status
      } finally {
        client.close()
      }
    }
    assert.equal(await status(own, { cert: own }), 200)
    assert.equal(await status(foreign, { cert: own }), 401)
    assert.equal(await status(own, { token }), 403)
    assert.equal(await status(foreign, { token }), 401)
    await Promise.all([fork.stop(), other.stop()])
  })

  test('a fork of a cluster that is written to shows one revision', async () => {
    const maps = in_(cluster, core('configmaps'))
    let isOver = false
    const writing = (async () => {
      for (let n = 1; !isOver; n++) {
        await maps.patch('c0', 'merge', { data: { value: `${n}` } })
        await maps.patch('c1', 'merge', { data: { value: `${n}` } })
        // Without a disk a write takes no turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const value = (map: KubeObject) => Number((map as KubeObject & { data: { value: string } }).data.value) || 0
    for (let i = 0; i < 10; i++) {
      const fork = await cluster.fork()
      const [first, second] = await Promise.all(['c0', 'c1'].map((name) => in_(fork, core('configmaps')).get(name)))
      const ahead = value(first as KubeObject) - value(second as KubeObject)
      assert.ok(ahead === 0 || ahead === 1, `${ahead}`)
      await fork.stop()
    }
    isOver = true
    await writing
  })

  test('its controllers work: a pod runs there and not here', async () => {
    const fork = await cluster.fork()
    await fork.running
    const pods = in_(fork, core('pods'))
    const watching = new AbortController()
    await pods.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    const events = await pods.watch({ resourceVersion: '0' }, watching.signal)
    for (let event = await events.next(); event !== undefined; event = await events.next())
      if ((event.object as KubeObject & { status?: { phase: string } }).status?.phase === 'Running') break
    watching.abort()
    assert.equal((await in_(cluster, core('pods')).list()).items.length, 0)
    await fork.stop()
  })

  test('it ends after its time to live, when it is stopped while it starts, and with the cluster it is of', async () => {
    const brief = await cluster.fork({ ttl: '1ms' })
    await brief.running
    const base = await startCluster({ storage: 'memory', components: ['apiserver'] })
    const fork = await base.fork()
    const fast = await base.fork()
    await fast.stop()
    await base.stop()
    for (const ended of [brief, fork]) {
      const client = createHttpsClient(endpointFromKubeconfig(ended.kubeconfig))
      await assert.rejects(client.send({ method: 'GET', path: '/version' }))
      client.close()
    }
    await assert.rejects(base.fork(), /the cluster has stopped|the store is closed/)
    await brief.ended
    await assert.rejects(cluster.fork({ ttl: '-1s' }), RangeError)
    for (const ttl of ['0s', 0]) await assert.rejects(cluster.fork({ ttl }), /ttl 0s? would be gone at once/)
    const misspelt = { tll: '1m' } as object
    await assert.rejects(cluster.fork(misspelt), /there is no option "tll"/)
  })

  test('one that is asked for while its cluster stops is refused, not handed over when it has ended', async () => {
    const base = await startCluster({ storage: 'memory', components: ['apiserver'] })
    const refused = assert.rejects(base.fork(), /the cluster has stopped/)
    await base.stop()
    await refused
  })

  test('of a manual clock, each has its own', async () => {
    const base = await startCluster({ storage: 'memory', clock: 'manual' })
    const fork = await base.fork()
    const { now } = base.clock
    await fork.running
    await fork.clock.advance('1h')
    assert.equal(fork.clock.now.getTime(), now.getTime() + 3_600_000)
    assert.equal(base.clock.now.getTime(), now.getTime())
    await base.stop()
  })
})

test('skiff fork: a cluster for the time of a command', { skip: withoutKubectl }, async () => {
  await using cluster = await startE2eCluster('--components', 'apiserver', '--controls', 'fork')
  await cluster.kubectl('create', 'configmap', 'one')
  const fork = (...command: string[]) => skiff('fork', '--data-dir', cluster.dataDir, '--', ...command)
  const made = await fork(kubectlPath, 'create', 'configmap', 'two')
  assert.equal(made.code, 0, made.err)
  assert.match((await fork(kubectlPath, 'get', 'configmap', 'one', '-o', 'name')).out, /configmap\/one/)
  assert.equal((await fork(kubectlPath, 'get', 'configmap', 'two')).code, 1)
  assert.equal((await cluster.kubectl.run(['get', 'configmap', 'two'])).code, 1)
  const held = await skiff('fork', '--data-dir', cluster.dataDir, '--ttl', '1ms')
  assert.match(held.out, /^forked at /)
  assert.match((await skiff('fork', '--data-dir', cluster.dataDir, '--ttl', '0')).err, /ttl 0 would be gone at once/)
  const unknown = await fork('/no/such/command')
  assert.equal(unknown.code, 1)
  assert.match(unknown.err, /^skiff: cannot run \/no\/such\/command: [^\n]+\n$/)
  const absent = await skiff('fork', '--data-dir', `${cluster.dataDir}/none`)
  assert.match(absent.err, /^skiff: no cluster runs in [^\n]+\n$/)
})
