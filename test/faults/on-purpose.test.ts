/** Faults that a cluster makes on purpose (docs/faults.md), as clients over HTTP/1.1 and HTTP/2 meet them. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import { createHttpsClient, type HttpsClient } from '../../src/http/client.ts'
import type { Any } from '../kubectl.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const POLICY = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n'

describe('faults on purpose', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-faults-'))
  const auditLog = join(folder, 'audit.log')
  let cluster: Cluster
  let client: HttpsClient
  let serial = 0
  const fresh = () => `m${++serial}`

  before(async () => {
    const policy = join(folder, 'policy.yaml')
    writeFileSync(policy, POLICY)
    cluster = await startCluster({
      storage: 'memory',
      nodes: 2,
      seed: 7,
      faults: [],
      keepRequests: 100,
      security: { auditPolicyFile: policy, auditLogPath: auditLog },
    })
    client = createHttpsClient(endpointFromKubeconfig(cluster.kubeconfig))
  })
  beforeEach(() => cluster.faults.set([], 7))
  after(async () => {
    client.close()
    await cluster.stop()
    rmSync(folder, { recursive: true })
  })

  async function ask(method: string, path: string, body?: object, agent = 'op/v1'): Promise<Any> {
    const answer = await client.send({
      method,
      path,
      headers: { 'user-agent': agent, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = Buffer.from(await answer.bytes()).toString()
    const isJson = answer.headers['content-type'] === 'application/json'
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }
  const map = (name: string, value = '1') => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name },
    data: { value },
  })
  const make = (name: string) => ask('POST', MAPS, map(name))
  const isThere = async (name: string) => (await ask('GET', `${MAPS}/${name}`)).status === 200

  test('requests are refused as a server refuses them that is overtaken, overloaded or without its store', async () => {
    const name = fresh()
    await make(name)
    cluster.faults.set(['refuse 409 first 1', 'refuse 429 first 1 on get', 'refuse 500 first 1 on list'])
    const conflict = await ask('PUT', `${MAPS}/${name}`, map(name, '2'))
    assert.deepEqual(conflict.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
      reason: 'Conflict',
      details: { name, kind: 'configmaps' },
      code: 409,
    })
    const crowded = await ask('GET', `${MAPS}/${name}`)
    assert.deepEqual(
      [crowded.status, crowded.text, crowded.headers['retry-after']],
      [429, 'Too many requests, please try again later.\n', '1'],
    )
    const broken = await ask('GET', MAPS)
    assert.deepEqual([broken.status, broken.body.message], [500, 'etcdserver: request timed out'])
    assert.equal((await ask('PUT', `${MAPS}/${name}`, map(name, '2'))).status, 200)
    assert.equal((await ask('GET', `${MAPS}/${name}`)).body.data.value, '2')
    assert.match(
      await cluster.report('default'),
      /faults, seed 7:\n {2}refuse 409 first 1: 1 of 2\n(.*\n)+.*op update configmaps default\//,
    )
  })

  test('a connection is cut before the write, or behind it', async () => {
    const [before, behind] = [fresh(), fresh()]
    cluster.faults.set(['cut before first 1 on create'])
    await assert.rejects(make(before), { code: 'ECONNRESET' })
    assert.ok(!(await isThere(before)))
    cluster.faults.set(['cut after first 1 on create'])
    await assert.rejects(make(behind), { code: 'ECONNRESET' })
    assert.ok(await isThere(behind))
    assert.equal((await make(behind)).body.reason, 'AlreadyExists')
  })

  test('over HTTP/2 its stream is reset, and the others of the connection go on', async () => {
    const name = fresh()
    const { server, ca, cert, key } = endpointFromKubeconfig(cluster.kubeconfig)
    const session = connect(server, { ca: ca as string, cert: cert as string, key: key as string })
    const send = (method: string, path: string, body?: object) =>
      new Promise<number | string>((resolve) => {
        const stream = session.request({ ':method': method, ':path': path, 'content-type': 'application/json' })
        let status = 0
        stream.on('response', (headers) => {
          status = Number(headers[':status'])
        })
        stream.on('error', (error: NodeJS.ErrnoException) => resolve(error.message))
        stream.on('end', () => resolve(status))
        stream.resume()
        stream.end(body === undefined ? undefined : JSON.stringify(body))
      })
    cluster.faults.set(['cut after first 1 on create'])
    const [made, read] = await Promise.all([send('POST', MAPS, map(name)), send('GET', '/api/v1/nodes')])
    assert.match(String(made), /NGHTTP2_INTERNAL_ERROR/)
    assert.equal(read, 200)
    assert.equal(await send('GET', `${MAPS}/${name}`), 200)
    session.close()
  })

  /** The events of a watch, read until it ends, or until there are so many. */
  async function watched(version: string, most = Number.POSITIVE_INFINITY): Promise<{ lines: Any[]; end: string }> {
    const answer = await client.send({
      method: 'GET',
      path: `${MAPS}?watch=1&resourceVersion=${version}`,
      headers: { 'user-agent': 'op/v1' },
    })
    let text = ''
    const lines = () =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    try {
      for await (const chunk of answer.chunks()) {
        text += Buffer.from(chunk).toString()
        if (lines().length >= most) return { lines: lines(), end: 'left' }
      }
    } catch {
      return { lines: lines(), end: 'broken' }
    }
    return { lines: lines(), end: 'whole' }
  }
  const revision = async () => (await ask('GET', `${MAPS}?limit=1`)).body.metadata.resourceVersion as string
  const named = (lines: readonly Any[]) => lines.map(({ type, object }) => `${type} ${object.metadata.name}`)

  test('a watch breaks off behind an event, and goes on from there without loss', async () => {
    const from = await revision()
    const names = [fresh(), fresh(), fresh()]
    for (const name of names) await make(name)
    cluster.faults.set(['watch drop every 2'])
    const first = await watched(from)
    assert.deepEqual([named(first.lines), first.end], [names.slice(0, 2).map((name) => `ADDED ${name}`), 'broken'])
    const rest = await watched(first.lines.at(-1).object.metadata.resourceVersion, 1)
    assert.deepEqual(named(rest.lines), [`ADDED ${names[2]}`])
  })

  test('a watch expires as one from a version that is too old', async () => {
    const from = await revision()
    await make(fresh())
    cluster.faults.set(['watch expire first 1'])
    const { lines, end } = await watched(from)
    assert.equal(end, 'whole')
    assert.deepEqual(lines, [
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: `too old resource version: ${from} (${Number(from) + 1})`,
          reason: 'Expired',
          code: 410,
        },
      },
    ])
  })

  test('a read that any version will do shows an older one; one that asks for the newest does not', async () => {
    const names = [fresh(), fresh(), fresh()]
    for (const name of names) await make(name)
    const newest = await revision()
    cluster.faults.set(['stale 2 100%'])
    const list = async (query: string) => {
      const { body } = await ask('GET', `${MAPS}${query}`)
      const all: string[] = body.items.map((item: Any) => item.metadata.name)
      return { version: body.metadata.resourceVersion as string, has: names.map((name) => all.includes(name)) }
    }
    const stale = await list('?resourceVersion=0&limit=500')
    assert.deepEqual(stale.has, [true, false, false])
    assert.ok(Number(stale.version) < Number(newest))
    assert.deepEqual((await list('')).has, [true, true, true])
    assert.deepEqual((await list(`?resourceVersion=${newest}`)).has, [true, true, true], 'never older than asked for')
    assert.equal((await ask('GET', `${MAPS}/${names[2]}?resourceVersion=0`)).status, 404)
    assert.equal((await ask('GET', `${MAPS}/${names[0]}?resourceVersion=0`)).status, 200)
    assert.equal((await ask('GET', `${MAPS}/${names[2]}`)).status, 200)
    const { lines } = await watched(stale.version, 2)
    assert.deepEqual(
      named(lines),
      names.slice(1).map((name) => `ADDED ${name}`),
    )
  })

  test('the audit log tells of each', async () => {
    const name = fresh()
    cluster.faults.set(['cut after first 1 on create', 'refuse 409 first 1', 'watch drop every 1'])
    const from = await revision()
    await assert.rejects(make(name))
    await ask('PUT', `${MAPS}/${name}`, map(name))
    await watched(from)
    // What is read is told with the next write at the latest.
    await make(fresh())
    const told = readFileSync(auditLog, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ stage, annotations }) => stage === 'ResponseComplete' && annotations['skiff.dev/fault'] !== undefined)
      .slice(-3)
      .map(({ verb, responseStatus, annotations }) => [verb, responseStatus.code, annotations['skiff.dev/fault']])
    assert.deepEqual(told, [
      ['create', 201, 'cut after first 1 on create'],
      ['update', 409, 'refuse 409 first 1'],
      ['watch', 200, 'watch drop every 1'],
    ])
  })

  test("the cluster's own components are never struck, unless they are named", async () => {
    cluster.faults.set(['refuse 500 100%', 'refuse 409 100%', 'cut before 100%', 'watch drop 100%', 'stale 5 100%'])
    const { client: inside } = cluster
    const isRolledOut = (status: Any, generation: number) =>
      status?.observedGeneration === generation && status.updatedReplicas === 2 && status.readyReplicas === 2
    const made = await inside.apps.deployments('default').create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    })
    const rolledOut = async ({ metadata: { name, generation } }: Any) => {
      const watching = new AbortController()
      const deployments = inside.apps.deployments('default')
      const events = await deployments.watch({ fieldSelector: `metadata.name=${name}` }, watching.signal)
      for (let event = await events.next(); event !== undefined; event = await events.next())
        if (isRolledOut((event.object as Any).status, generation)) break
      watching.abort()
    }
    await rolledOut(made)
    assert.ok(cluster.faults.status().faults.every(({ met }) => met === 0))
    assert.equal((await ask('GET', MAPS)).status, 500)
    // Named, they are struck, and get over it.
    cluster.faults.set(['refuse 500 every 3 by kube-controller-manager', 'watch drop every 4 by kube-*'])
    const changed = await inside.apps.deployments('default').patch('web', 'merge', {
      spec: { template: { metadata: { labels: { v: '2' } } } },
    })
    await rolledOut(changed)
    assert.ok(cluster.faults.status().last.some(({ client }) => client === 'kube-controller-manager'))
  })

  test('the same seed brings the same faults to a fork that is asked the same, and another seed others', async () => {
    cluster.faults.set(['refuse 500 40% on get', 'cut before 30% on create'], 99)
    const met = async (at: Cluster): Promise<string> => {
      const own = createHttpsClient(endpointFromKubeconfig(at.kubeconfig))
      const send = async (method: string, path: string, body?: object) => {
        const sent = { method, path, headers: { 'user-agent': 'same/1', 'content-type': 'application/json' } }
        return own.send(body === undefined ? sent : { ...sent, body: JSON.stringify(body) }).then(
          async (answer) => {
            await answer.bytes()
            return answer.status
          },
          (error) => error.code,
        )
      }
      const answers: unknown[] = []
      for (let i = 0; i < 12; i++)
        answers.push(await send('POST', MAPS, map(`same${i}`)), await send('GET', '/api/v1/namespaces/default'))
      own.close()
      return answers.join()
    }
    const forks = [await cluster.fork(), await cluster.fork(), await cluster.fork()] as const
    forks[2].faults.set(
      forks[2].faults.status().faults.map(({ fault }) => fault),
      98,
    )
    const [first, second, other] = await Promise.all(forks.map(met))
    assert.equal(first, second)
    assert.match(first ?? '', /500.*201|201.*500/)
    assert.match(first ?? '', /ECONNRESET/)
    assert.notEqual(first, other)
    assert.equal(forks[0].faults.status().seed, 99)
    await Promise.all(forks.map((fork) => fork.stop()))
  })

  test('/skiff.dev/faults reads, sets and clears them, for system:masters alone', async () => {
    const set = await ask('POST', '/skiff.dev/faults', { set: ['refuse 500 100% on get'], seed: 3 })
    assert.deepEqual(
      [set.status, set.body],
      [200, { seed: 3, faults: [{ fault: 'refuse 500 100% on get', met: 0, struck: 0 }], last: [] }],
    )
    assert.equal((await ask('GET', `${MAPS}/none`)).status, 500)
    assert.equal((await ask('GET', '/skiff.dev/faults')).body.faults[0].struck, 1)
    assert.equal((await ask('POST', '/skiff.dev/faults', { add: ['watch drop 5%'] })).body.faults.length, 2)
    assert.equal((await ask('POST', '/skiff.dev/faults', { clear: ['watch drop 5%'] })).body.faults.length, 1)
    assert.deepEqual((await ask('POST', '/skiff.dev/faults', { clear: true })).body.faults, [])
    for (const [body, says] of [
      [{}, /one of set, add, clear must be given/],
      [{ add: [], set: [] }, /one of set, add, clear/],
      [{ add: 'watch drop 5%' }, /add must be a list/],
      [{ add: ['x'] }, /a fault is one of/],
      [{ add: [], seed: 1 }, /seed belongs to set/],
      [{ set: [], seed: -1 }, /seed -1/],
      [{ faults: [] }, /unknown field \\"faults\\"|unknown field "faults"/],
    ] as const) {
      const { status, body: told } = await ask('POST', '/skiff.dev/faults', body)
      assert.equal(status, 400)
      assert.match(told.message, says)
    }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
    const { token } = (await ask('POST', path, review)).body.status
    const { server, ca } = endpointFromKubeconfig(cluster.kubeconfig)
    const other = createHttpsClient({ server, ...(ca === undefined ? {} : { ca }), token })
    await cluster.client.rbac.clusterRoles().create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'everything' },
      rules: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
    })
    await cluster.client.rbac.clusterRoleBindings().create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'everything' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'everything' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    })
    const refused = await other.send({ method: 'GET', path: '/skiff.dev/faults' })
    assert.equal(refused.status, 403)
    assert.match(Buffer.from(await refused.bytes()).toString(), /for system:masters alone/)
    other.close()
  })
})

test('without being switched on there is no such control; a seed alone gives names their suffixes', async () => {
  const names: string[][] = []
  for (const seed of [5, 5, 6]) {
    const cluster = await startCluster({ storage: 'memory', components: ['apiserver'], seed })
    const maps = cluster.client.core.configMaps('default')
    await cluster.client.core.namespaces().create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    const made: string[] = []
    for (let i = 0; i < 3; i++)
      made.push(
        (await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' } })).metadata.name ??
          '',
      )
    const fork = await cluster.fork()
    const again = await fork.client.core
      .configMaps('default')
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' } })
    made.push(again.metadata.name ?? '')
    names.push(made)
    const { status } = await cluster.client.raw('GET', '/skiff.dev/faults')
    assert.equal(status, 404)
    assert.throws(() => cluster.faults.set([]), /the cluster makes no faults: start it with faults/)
    await cluster.stop()
  }
  assert.deepEqual(names[0], names[1])
  assert.notDeepEqual(names[0], names[2])
  assert.equal(new Set(names[0]).size, 4)
  await assert.rejects(
    startCluster({ storage: 'memory', faults: ['watch drop'] }),
    /^StartError: fault "watch drop" ends too early/,
  )
  await assert.rejects(
    startCluster({ storage: 'memory', seed: -1, faults: [] }),
    /seed must be a whole number from 0 to 9007199254740991, not -1/,
  )
})
