/** Backups of a cluster over an etcd, by the command: taken while it works, and restored with its keys into a directory and into another etcd. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { skiff } from '../e2e/cluster.ts'
import { kubectlFor, withoutKubectl } from '../kubectl.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

type Etcd = Awaited<ReturnType<typeof startEtcd>>

describe('snapshots over etcd', { skip: lacks.etcd() || withoutKubectl }, () => {
  const root = mkdtempSync(join(tmpdir(), 'skiff-etcd-snapshot-'))
  const at = (name: string) => join(root, name)
  const started: string[] = []
  const etcds: Etcd[] = []
  let token = ''
  const etcd = async () => {
    const one = await startEtcd()
    etcds.push(one)
    return one.servers
  }
  const up = async (dataDir: string, ...args: readonly string[]) => {
    const flags = ['--detach', '--port', '0', '--components', 'apiserver', '--data-dir', dataDir]
    const { code, err } = await skiff('up', ...flags, ...args)
    assert.equal(code, 0, err)
    started.push(dataDir)
  }
  const well = async (...args: readonly string[]) => {
    const { code, out, err } = await skiff(...args)
    assert.equal(code, 0, err)
    return out
  }
  /** What the first cluster gave to its clients, at the address of another. */
  const oldClient = (dataDir: string) => {
    const own = readFileSync(join(dataDir, 'kubeconfig'), 'utf8')
    const old = readFileSync(join(at('first'), 'kubeconfig'), 'utf8')
    writeFileSync(at('old'), old.replace(/server: .*/, /server: .*/.exec(own)?.[0] ?? ''))
    return kubectlFor(at('old'))
  }
  const check = async (dataDir: string) => {
    const kubectl = oldClient(dataDir)
    const { data } = await kubectl.json('get', 'configmap', 'one')
    assert.deepEqual(data, { a: '1' })
    assert.notEqual((await kubectl.run(['get', 'configmap', 'later'])).code, 0)
    assert.equal((await kubectl.run(['--token', token, 'auth', 'whoami'])).code, 0)
    assert.match(await kubectl('get', 'events'), /Told/)
  }

  let servers = ''
  before(async () => {
    servers = await etcd()
    await up(at('first'), '--etcd-servers', servers)
    const kubectl = kubectlFor(join(at('first'), 'kubeconfig'))
    await kubectl('create', 'configmap', 'one', '--from-literal=a=1')
    await kubectl('create', 'serviceaccount', 'robot')
    token = (await kubectl('create', 'token', 'robot')).trim()
    await kubectl.send('create', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'told', namespace: 'default' },
      involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'one' },
      reason: 'Told',
    })
    const out = await well(
      'snapshot',
      'save',
      at('file'),
      '--keys',
      '--data-dir',
      at('first'),
      '--etcd-servers',
      servers,
    )
    assert.match(out, /: \d+ objects at revision \d+\n$/)
    await kubectl('create', 'configmap', 'later')
  })
  after(async () => {
    for (const dataDir of started) await skiff('down', '--data-dir', dataDir)
    for (const one of etcds) await one.stop()
    rmSync(root, { recursive: true, force: true })
  })

  test('into a directory: the same objects, kubeconfigs and tokens', async () => {
    assert.equal(statSync(at('file')).mode & 0o777, 0o600)
    await well('snapshot', 'restore', at('file'), '--data-dir', at('second'))
    assert.equal(statSync(join(at('second'), 'pki/ca.key')).mode & 0o777, 0o600)
    await up(at('second'))
    await check(at('second'))
  })

  test('into another etcd; into one that holds a cluster it is refused', async () => {
    const other = await etcd()
    await well('snapshot', 'restore', at('file'), '--data-dir', at('third'), '--etcd-servers', other)
    await up(at('third'), '--etcd-servers', other)
    await check(at('third'))
    const { code, err } = await skiff(
      'snapshot',
      'restore',
      at('file'),
      '--data-dir',
      at('no'),
      '--etcd-servers',
      other,
    )
    assert.equal(code, 1)
    assert.match(err, /^skiff: the target holds a cluster already[^\n]*\n$/)
    // The keys were written before the objects: they go again, so that a restore elsewhere finds room for them.
    assert.equal(existsSync(join(at('no'), 'pki')), false)
  })

  test('keys that are there are not written over; without keys the cluster gets others', async () => {
    const before = readFileSync(join(at('first'), 'pki/ca.key'), 'utf8')
    await well('snapshot', 'save', at('plain'), '--data-dir', at('first'), '--etcd-servers', servers)
    assert.doesNotMatch(readFileSync(at('plain'), 'utf8'), /"ca\.key"/)
    await well('snapshot', 'restore', at('plain'), '--data-dir', at('fourth'))
    assert.equal(existsSync(join(at('fourth'), 'pki')), false)
    await up(at('fourth'))
    const refused = await skiff('snapshot', 'restore', at('file'), '--data-dir', at('fourth'))
    assert.equal(refused.code, 1)
    rmSync(join(at('fourth'), 'store'), { recursive: true, force: true })
    await skiff('down', '--data-dir', at('fourth'))
    const { code, err } = await skiff('snapshot', 'restore', at('file'), '--data-dir', at('fourth'))
    assert.equal(code, 1, err)
    assert.equal(readFileSync(join(at('first'), 'pki/ca.key'), 'utf8'), before)
  })
})
