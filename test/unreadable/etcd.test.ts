/** What others have left in an etcd and is no object, while the server runs and when it starts (KEP-3926). */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { JsonObject } from '../../src/api/object.ts'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import { startEtcd } from '../etcd/member.ts'
import { lacks } from '../machine.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-garbled-'))
const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'
const MAPS = '/api/v1/namespaces/default/configmaps'
const FOOS = '/apis/acme.test/v1/namespaces/default/foos'
const undo: (() => Promise<unknown>)[] = []
after(async () => {
  for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  rmSync(folder, { recursive: true, force: true })
})

async function ask({ client }: Cluster, method: string, path: string, object?: JsonObject) {
  const { status, body } = await client.raw(method, path, object)
  return { status, body: JSON.parse(body) as JsonObject }
}

const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'foos.acme.test' },
  spec: {
    group: 'acme.test',
    scope: 'Namespaced',
    names: { plural: 'foos', kind: 'Foo' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

test('a value that is no object ends watches, and is told of until it is gone', { skip: lacks.etcd() }, async () => {
  const etcd = await startEtcd()
  undo.push(etcd.stop)
  const start = (name: string) =>
    startCluster({
      dataDir: join(folder, name),
      components: ['apiserver'],
      etcd: { servers: etcd.servers },
      crds: [DEFINITION],
    })
  let cluster = await start('one')
  undo.push(() => cluster.stop())
  const put = (key: string, value: string) =>
    spawnSync('etcdctl', ['--endpoints', etcd.servers, 'put', key, '--', value], {
      env: { ...process.env, ETCDCTL_API: '3' },
    })
  for (const name of ['a', 'b', 'c']) assert.equal((await ask(cluster, 'POST', MAPS, map(name))).status, 201)
  const maps = cluster.client.resource({ group: '', version: 'v1', resource: 'configmaps' }).namespace('default')
  const { metadata } = await maps.list()
  const watch = await maps.watch({ resourceVersion: metadata.resourceVersion }, AbortSignal.timeout(20_000))
  assert.equal(put('/registry/configmaps/default/b', '{broken').status, 0)
  assert.equal(await watch.next(), undefined)

  const expected =
    /^Internal error occurred: StorageError: corrupt object, Code: 7, Key: \/configmaps\/default\/b, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=\d+: couldn't get version\/kind; json parse error: invalid character 'b' looking for beginning of object key string$/
  for (const at of ['running', 'started again']) {
    const read = await ask(cluster, 'GET', `${MAPS}/b`)
    assert.equal(read.status, 500, at)
    assert.match(String(read.body['message']), expected, at)
    const written = await ask(cluster, 'PUT', `${MAPS}/b`, map('b'))
    assert.deepEqual([written.status, written.body['reason']], [500, undefined], at)
    assert.match(String(written.body['message']), /^object not decodable revision=/)
    assert.equal((await ask(cluster, 'GET', `${MAPS}/a`)).status, 200, at)
    assert.equal((await ask(cluster, 'GET', MAPS)).body['reason'], 'StorageReadError', at)
    assert.equal((await ask(cluster, 'GET', '/api/v1/namespaces/kube-system/configmaps')).status, 200, at)
    // As it was before.
    const old = `${MAPS}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
    assert.equal((await ask(cluster, 'GET', old)).status, 200, at)
    if (at !== 'running') break
    await cluster.stop()
    cluster = await start('one')
  }
  // Written anew by others it is there again.
  put('/registry/configmaps/default/b', JSON.stringify({ ...map('b'), data: { k: 'v' } }))
  assert.deepEqual((await ask(cluster, 'GET', `${MAPS}/b`)).body['data'], { k: 'v' })
  put('/registry/configmaps/default/b', 'nonsense')
  assert.equal((await ask(cluster, 'GET', `${MAPS}/b`)).status, 500)
  assert.equal((await ask(cluster, 'DELETE', `${MAPS}/b?${UNSAFE}`)).status, 200)
  const left = (await ask(cluster, 'GET', `${MAPS}?labelSelector=!x`)).body['items'] as readonly JsonObject[]
  assert.ok(!JSON.stringify(left).includes('"name":"b"'))

  // Of a custom resource: its definition waits.
  for (const name of ['x', 'y'])
    await ask(cluster, 'POST', FOOS, { apiVersion: 'acme.test/v1', kind: 'Foo', metadata: { name } })
  put('/registry/acme.test/foos/default/y', '{broken')
  assert.equal((await ask(cluster, 'GET', `${FOOS}/y`)).status, 500)
  const definitions = cluster.client.resource({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    resource: 'customresourcedefinitions',
  })
  const events = await definitions.watch({ fieldSelector: 'metadata.name=foos.acme.test' }, AbortSignal.timeout(60_000))
  await definitions.delete('foos.acme.test')
  assert.equal((await ask(cluster, 'GET', `${FOOS}/x`)).status, 200)
  assert.equal((await ask(cluster, 'DELETE', `${FOOS}/y?${UNSAFE}`)).status, 200)
  let last = ''
  while (last !== 'DELETED') last = (await events.next())?.type ?? 'ended'
  assert.equal(last, 'DELETED')
})
