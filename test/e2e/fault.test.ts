/** skiff up --fault and skiff fault, and what the real kubectl makes of the faults. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, skiff, startE2eCluster } from './cluster.ts'

describe('skiff fault', { skip: withoutKubectl }, () => {
  let cluster: E2eCluster
  before(async () => {
    const fault = [
      '--fault',
      'watch delay 30s 100% on configmaps by kubectl',
      '--fault',
      'refuse 429 first 1 on create',
    ]
    cluster = await startE2eCluster('--components', 'apiserver', '--clock', 'manual', '--seed', '7', ...fault)
  })
  after(() => cluster.stop())

  const ask = (...args: string[]) => skiff('fault', ...args, '--data-dir', cluster.dataDir)
  async function fault(...args: string[]): Promise<string> {
    const { code, out, err } = await ask(...args)
    assert.equal(code, 0, err)
    return out
  }

  test('tells the seed and the faults, which come by the time of the cluster, and what they struck', async () => {
    const { kubectl } = cluster
    assert.match(await fault('list'), /^seed 7\nwatch delay 30s 100% on configmaps by kubectl +struck 0 of 0\n/)
    await kubectl('create', 'namespace', 'late')
    using watch = kubectl.watch('configmaps', '-n', 'late')
    // Answered behind the 429 that client-go waits for.
    await kubectl.send('create', configMap('a', { namespace: 'late' }))
    let seen = await fault('list')
    for (; !seen.includes('watch delay 30s 100% on configmaps by kubectl: '); seen = await fault('list'));
    assert.match(seen, /\n {2}\S+Z refuse 429 first 1 on create: kubectl create namespaces, number 1\n/)
    assert.equal(watch.seen.length, 0)
    await skiff('clock', 'advance', '30s', '--data-dir', cluster.dataDir)
    await watch.until(({ type, object }) => type === 'ADDED' && object.metadata.name === 'a')
  })

  test('adds and clears them while clients are at work', async () => {
    const { kubectl } = cluster
    await kubectl.send('create', configMap('b'))
    assert.match(await fault('clear'), /^seed 7\nno faults\n$/)
    await fault('add', 'refuse', '409', 'first', '1', 'on', 'patch')
    const patch = ['patch', 'configmap', 'b', '-p', '{"data":{"x":"2"}}']
    assert.match((await kubectl.run(patch)).err, /^Error from server \(Conflict\): .*has been modified/)
    await kubectl(...patch)
    const told = JSON.parse(await fault('list', '-o', 'json'))
    assert.deepEqual(told.faults, [{ fault: 'refuse 409 first 1 on patch', met: 2, struck: 1 }])
    await fault('add', 'cut after first 1 on create')
    assert.match((await kubectl.run(['create', 'configmap', 'c'])).err, /stream error|EOF/)
    assert.equal((await kubectl.run(['create', 'configmap', 'c'])).code, 1, 'it is there')
    await fault('clear', 'cut after first 1 on create')
    assert.match(await fault('clear', '--seed', '8'), /^seed 8\nno faults\n$/)
  })

  test('says in one line what is wrong', async () => {
    for (const [args, says] of [
      [['add', 'watch', 'lose', '5%'], /fault "watch lose 5%": "lose" is none of drop, expire, reorder, delay/],
      [['clear', 'watch drop 5%'], /there is no fault "watch drop 5%"/],
      [['clear', 'watch drop 5%', '--seed', '1'], /--seed is for all faults/],
    ] as const) {
      const { code, err } = await ask(...args)
      assert.equal(code, 1)
      assert.match(err, /^skiff: [^\n]+\n$/)
      assert.match(err, says)
    }
    const { code, err } = await skiff('up', '--fault', 'watch drop 0%')
    assert.equal(code, 2)
    assert.match(err, /^skiff: option '--fault <fault>' argument 'watch drop 0%' is invalid[^\n]+\n$/)
  })
})
