/** Snapshots as a user has them: by the command, and in a program. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { KubeObject } from '../src/api/object.ts'
import { clusterDirectory } from '../src/cluster/directory.ts'
import { readSnapshot, startCluster } from '../src/cluster/index.ts'
import { restore, snapshotOf } from '../src/cluster/snapshot.ts'
import { skiff, startE2eCluster } from './e2e/cluster.ts'
import { kubectlFor, withoutKubectl } from './kubectl.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-snapshot-'))
after(() => rmSync(root, { recursive: true, force: true }))
const file = join(root, 'snapshot')
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }

test('saved while it works, restored elsewhere: the same objects under other keys', {
  skip: withoutKubectl,
}, async () => {
  await using cluster = await startE2eCluster('--components', 'apiserver', '--controls', 'snapshot')
  await cluster.kubectl('create', 'configmap', 'one', '--from-literal=a=1')
  const listed = await cluster.kubectl.json('get', 'configmaps', '-A')
  const saved = await skiff('snapshot', 'save', file, '--data-dir', cluster.dataDir)
  assert.equal(saved.code, 0, saved.err)
  assert.match(saved.out, /: \d+ objects at revision \d+\n$/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await cluster.kubectl('create', 'configmap', 'later')

  const dataDir = join(root, 'restored')
  const restored = await skiff('snapshot', 'restore', file, '--data-dir', dataDir)
  assert.equal(restored.code, 0, restored.err)
  const up = await skiff('up', '--detach', '--port', '0', '--components', 'apiserver', '--data-dir', dataDir)
  assert.equal(up.code, 0, up.err)
  try {
    const there = await kubectlFor(join(dataDir, 'kubeconfig')).json('get', 'configmaps', '-A')
    const data = ({ metadata, data }: { metadata: object; data: object }) => ({ metadata, data })
    const own = ({ metadata: { name } }: { metadata: { name: string } }) => name === 'one'
    assert.deepEqual(there.items.filter(own).map(data), listed.items.filter(own).map(data))
    assert.deepEqual(
      there.items.filter(({ metadata }: { metadata: { name: string } }) => metadata.name === 'later'),
      [],
    )
    const again = await skiff('snapshot', 'restore', file, '--data-dir', dataDir)
    assert.equal(again.code, 1)
    assert.match(again.err, /^skiff: a cluster already runs in [^\n]+\n$/)
    const foreign = readFileSync(cluster.kubeconfig, 'utf8').replace(
      /server: .*/,
      /server: .*/.exec(readFileSync(join(dataDir, 'kubeconfig'), 'utf8'))?.[0] ?? '',
    )
    writeFileSync(join(root, 'foreign'), foreign)
    assert.notEqual((await kubectlFor(join(root, 'foreign')).run(['get', 'ns', '--insecure-skip-tls-verify'])).code, 0)
  } finally {
    await skiff('down', '--data-dir', dataDir)
  }
  const over = await skiff('snapshot', 'restore', file, '--data-dir', dataDir)
  assert.match(over.err, /^skiff: there is a cluster in [^\n]+ already[^\n]+\n$/)
  const stopped = await skiff('snapshot', 'save', join(root, 'stopped'), '--data-dir', dataDir)
  assert.equal(stopped.code, 0, stopped.err)
  assert.ok(readSnapshot(join(root, 'stopped')).image.items.length > 0)

  const bytes = readFileSync(file)
  bytes[200] = (bytes[200] as number) ^ 1
  writeFileSync(join(root, 'damaged'), bytes)
  const damaged = await skiff('snapshot', 'restore', join(root, 'damaged'), '--data-dir', join(root, 'none'))
  assert.equal(damaged.code, 1)
  assert.match(damaged.err, /^skiff: [^\n]+ is damaged [^\n]+\n$/)
})

test('what no store can hold is told in one line, and leaves no store behind', async () => {
  const key = `/registry/configmaps/default/${'a'.repeat(5000)}`
  const item = { key, value: Buffer.from('{}'), modRevision: 3, createRevision: 3 }
  const directory = clusterDirectory(join(root, 'too-long'))
  await assert.rejects(
    restore(snapshotOf({ revision: 3, items: [item], expiries: [] }, 0, false), directory),
    ({ message }: Error) => /^the snapshot cannot be restored: [^\n]+$/.test(message),
  )
  assert.deepEqual(readdirSync(directory.path), [])
})

test('a cluster does not give snapshots unless it was told to', { skip: withoutKubectl }, async () => {
  await using cluster = await startE2eCluster('--components', 'apiserver')
  const { code, err } = await skiff('snapshot', 'save', file, '--data-dir', cluster.dataDir)
  assert.equal(code, 1)
  assert.match(err, /^skiff: [^\n]+--controls snapshot[^\n]+\n$/)
})

test('who may read every path, by a role, may not read every Secret by a snapshot', async () => {
  const cluster = await startCluster({ storage: 'memory', components: ['apiserver'], controls: ['snapshot', 'fork'] })
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
  const apiGroup = rbac.group
  await cluster.client.resource<KubeObject>({ ...rbac, resource: 'clusterroles' }).create({
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'all-paths' },
    rules: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
  })
  await cluster.client.resource<KubeObject>({ ...rbac, resource: 'clusterrolebindings' }).create({
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'all-paths' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'all-paths' },
    subjects: [{ apiGroup, kind: 'User', name: 'monitor' }],
  })
  const monitor = cluster.clientFor({ name: 'monitor', groups: ['system:authenticated'] })
  assert.equal((await monitor.raw('GET', '/metrics')).status, 200)
  for (const [method, name] of [
    ['GET', 'snapshot'],
    ['POST', 'fork'],
    ['GET', 'journal'],
  ] as const) {
    const { status, body } = await monitor.raw(method, `/skiff.dev/${name}`)
    assert.equal(status, 403)
    assert.match(body, /it is for system:masters alone/)
  }
  assert.equal((await monitor.raw('GET', '/skiff.dev/other')).status, 404)
  assert.equal((await cluster.client.raw('GET', '/skiff.dev/snapshot')).status, 200)
  await cluster.stop()
})

for (const storage of ['memory', 'lmdb'] as const) {
  test(`a program starts clusters from a snapshot (${storage}), at its time where the clock is manual`, async () => {
    const options = { storage, components: ['apiserver'], clock: 'manual' } as const
    const cluster = await startCluster(options)
    const configMaps = cluster.client.resource(CONFIG_MAPS).namespace('default')
    const made = await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    await cluster.clock.advance('1000h')
    const snapshot = cluster.snapshot()
    await configMaps.delete('a')
    snapshot.save(join(root, storage))
    const { now } = cluster.clock
    await cluster.stop()
    for (const from of [snapshot, join(root, storage)]) {
      const second = await startCluster({ ...options, from })
      assert.deepEqual(await second.client.resource(CONFIG_MAPS).namespace('default').get('a'), made)
      assert.equal(second.clock.now.getTime(), now.getTime())
      await second.stop()
    }
  })
}
