/** A cluster whose clock is moved by hand, as a user has it: the skiff command and kubectl. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { adminClient } from '../../src/cluster/admin-client.ts'
import { clusterDirectory } from '../../src/cluster/directory.ts'
import { type Any, withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, isReady, pod, skiff, startE2eCluster } from './cluster.ts'

const ms = (time: string) => Date.parse(time)

describe('a manual clock', { skip: withoutKubectl }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster('--clock', 'manual')
  })
  after(() => cluster.stop())

  async function clock(...args: string[]): Promise<string> {
    const { code, out, err } = await skiff('clock', args[0] ?? '', '--data-dir', cluster.dataDir, ...args.slice(1))
    assert.equal(code, 0, err)
    return out
  }
  const now = async () => ms((await clock('status')).split('\n')[0] ?? '')

  async function refused(...args: string[]): Promise<string> {
    const { code, err } = await skiff('clock', args[0] ?? '', '--data-dir', cluster.dataDir, ...args.slice(1))
    assert.equal(code, 1)
    assert.match(err, /^skiff: [^\n]+\n$/)
    return err
  }

  test('time stands still, and what takes none happens', async () => {
    const kubectl = await cluster.namespace('still')
    const before = await now()
    await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=3')
    await kubectl('rollout', 'status', 'deployment/web')
    const { items } = await kubectl.json('get', 'pods')
    for (const { metadata } of items) assert.ok(Math.abs(ms(metadata.creationTimestamp) - before) <= 1000)
    assert.equal(await now(), before)
  })

  test('S4: a container that ignores SIGTERM is killed when its grace period is over, and not before', async () => {
    const kubectl = await cluster.namespace('grace')
    await kubectl.send('create', pod('p', { 'sim.skiff.dev/ignore-sigterm': 'true' }))
    using watch = kubectl.watch('pods')
    await watch.until(({ object }) => isReady(object))
    await kubectl('delete', 'pod', 'p', '--wait=false')
    const marked = await watch.until(({ object }) => object.metadata.deletionTimestamp !== undefined)
    await clock('advance', '29s')
    const { status } = await kubectl.json('get', 'pod', 'p')
    assert.equal(status.phase, 'Running')
    await clock('advance', '1s')
    const gone = await watch.until(({ type }) => type === 'DELETED')
    const { terminated } = gone.object.status.containerStatuses[0].state
    assert.equal(terminated.exitCode, 137)
    assert.equal(terminated.finishedAt, marked.object.metadata.deletionTimestamp)
  })

  test('when advance returns, a watch has been told', async () => {
    const kubectl = await cluster.namespace('told')
    await kubectl.send(
      'create',
      pod(
        'p',
        { 'sim.skiff.dev/exit-after': '3m' },
        { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] } },
      ),
    )
    using watch = kubectl.watch('pods')
    await watch.until(({ object }) => isReady(object))
    await clock('advance', '3m')
    const last = await watch.until(({ object }) => object.status.phase === 'Succeeded')
    assert.ok(last !== undefined)
  })

  test("a node that falls silent becomes Unknown after its time, by the cluster's clock", async () => {
    const { kubectl } = cluster
    const renewTime = new Date(await now()).toISOString().replace('Z', '000Z')
    await kubectl.send(
      'create',
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'silent' } },
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'silent', namespace: 'kube-node-lease' },
        spec: { holderIdentity: 'silent', leaseDurationSeconds: 40, renewTime },
      },
    )
    const status = {
      conditions: [
        { type: 'Ready', status: 'True', lastHeartbeatTime: renewTime.replace(/\.\d+Z/, 'Z'), reason: 'KubeletReady' },
      ],
    }
    await kubectl('patch', 'node', 'silent', '--subresource=status', '-p', JSON.stringify({ status }))
    const ready = async (name: string) =>
      (await kubectl.json('get', 'node', name)).status.conditions.find(({ type }: Any) => type === 'Ready').status
    await clock('advance', '45s')
    assert.equal(await ready('silent'), 'True')
    await clock('advance', '15s')
    assert.equal(await ready('silent'), 'Unknown')
    await clock('advance', '24h')
    assert.equal(await ready('skiff-1'), 'True')
    await kubectl('delete', 'node', 'silent')
  })

  test('Events go after an hour', async () => {
    const kubectl = await cluster.namespace('events')
    await kubectl.send('create', pod('p'))
    using watch = kubectl.watch('pods')
    await watch.until(({ object }) => isReady(object))
    await clock('advance', '1s')
    const about = async () => (await kubectl.json('get', 'events')).items.length
    assert.notEqual(await about(), 0)
    await clock('advance', '59m')
    assert.notEqual(await about(), 0)
    await clock('advance', '62s')
    assert.equal(await about(), 0)
  })

  test("a token lives as long as the cluster's clock says", async () => {
    const kubectl = await cluster.namespace('tokens')
    const token = (await kubectl('create', 'token', 'default', '--duration=10m')).trim()
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    const isValid = async () => {
      const { out } = await kubectl.run(['create', '-f', '-', '-o', 'json'], JSON.stringify(review))
      return JSON.parse(out).status.authenticated === true
    }
    assert.equal(await isValid(), true)
    await clock('advance', '9m')
    assert.equal(await isValid(), true)
    await clock('advance', '2m')
    assert.equal(await isValid(), false)
  })

  test('until idle: what a Job takes and no more', async () => {
    const kubectl = await cluster.namespace('idle')
    await kubectl('create', 'job', 'sleeps', '--image=busybox', '--', 'sleep', '600')
    const before = await now()
    await clock('advance', '--until-idle')
    const { status } = await kubectl.json('get', 'job', 'sleeps')
    assert.equal(status.succeeded, 1)
    const took = ms(status.completionTime) - ms(status.startTime)
    assert.ok(took >= 600_000 && took <= 602_000, `${took}`)
    assert.ok((await now()) - before < 3_600_000)
    await kubectl('create', 'cronjob', 'never-idle', '--image=busybox', '--schedule=0 0 1 1 *', '--', 'true')
    assert.match(await refused('advance', '--until-idle', '--at-most', '1h'), /not idle after 1h.*next is/)
    await kubectl('delete', 'cronjob', 'never-idle')
  })

  test('certificates that the cluster has signed live by its clock', async () => {
    const before = await now()
    await clock('advance', '--to', new Date(before + 400 * 86_400_000).toISOString())
    await cluster.kubectl('get', 'nodes')
    assert.equal(await now(), before + 400 * 86_400_000)
  })

  test('what it is not told rightly it refuses in one line', async () => {
    const before = await now()
    assert.match(await refused('advance'), /say how far: a duration/)
    assert.match(
      await refused('advance', '30s', '--to', '2027-01-01T00:00:00Z'),
      /say how far in one way, not in several/,
    )
    assert.match(await refused('advance', '10'), /missing unit/)
    assert.match(await refused('advance', '--', '-10s'), /less than nothing/)
    assert.match(await refused('advance', '100000000h'), /invalid duration/)
    for (const to of ['tomorrow', '3000', '2030-01-01', '2030-02-31T00:00:00Z'])
      assert.match(await refused('advance', '--to', to), /is no time/)
    for (const to of [['--to', '2206-01-01T00:00:00Z'], ['87600h'], ['--until-idle', '--at-most', '87600h']])
      assert.match(await refused('advance', ...to), /goes no further than .* certificates end/)
    assert.match(await refused('advance', '--to', '2020-01-01T00:00:00Z'), /has passed/)
    assert.match(await refused('advance', '10s', '--until-idle'), /say how far/)
    assert.equal(await now(), before)
  })

  test('an advance ends where it is when the one who asked for it has gone', async () => {
    const { url } = JSON.parse(readFileSync(join(cluster.dataDir, 'state.json'), 'utf8'))
    const client = adminClient(clusterDirectory(cluster.dataDir), url)
    const gone = new AbortController()
    const before = await now()
    const days = 86_400_000
    const body = JSON.stringify({ to: new Date(before + 2000 * days).toISOString() })
    const headers = { 'content-type': 'application/json' }
    const asked = client.send({ method: 'POST', path: '/skiff.dev/clock', headers, body, signal: gone.signal })
    while ((await now()) === before);
    gone.abort()
    await assert.rejects(asked)
    client.close()
    await clock('advance', '0s')
    const ended = await now()
    assert.ok(ended < before + 1000 * days)
    await clock('advance', '--to', new Date(ended + 1000).toISOString())
  })

  test('its path answers system:masters only, and nonsense with 400', async () => {
    const ask = async (method: string, body?: string, user?: string) => {
      const client = adminClient(clusterDirectory(cluster.dataDir), (await state()).url)
      try {
        const headers = {
          'content-type': 'application/json',
          ...(user === undefined ? {} : { 'impersonate-user': user }),
        }
        const { status } = await client.send({
          method,
          path: '/skiff.dev/clock',
          headers,
          ...(body === undefined ? {} : { body }),
        })
        return status
      } finally {
        client.close()
      }
    }
    const state = async () => JSON.parse(readFileSync(join(cluster.dataDir, 'state.json'), 'utf8'))
    assert.equal(await ask('GET'), 200)
    assert.equal(await ask('GET', undefined, 'somebody'), 403)
    assert.equal(await ask('POST', '{"advance":"1s"}', 'somebody'), 403)
    for (const body of [
      '',
      '[]',
      '{',
      'null',
      '{"advance":1}',
      '{"advance":"1s","to":"2030-01-01T00:00:00Z"}',
      '{"ahead":"1s"}',
      '{"untilIdle":false}',
    ])
      assert.equal(await ask('POST', body), 400, body)
    assert.equal(await ask('PUT', '{"advance":"1s"}'), 405)
  })

  test('a restart goes on at its time, manual without being told, and real time is refused', async () => {
    const before = await now()
    await cluster.restart()
    assert.equal(await now(), before)
    await cluster.kubectl('get', 'nodes')
    assert.equal(statSync(join(cluster.dataDir, 'clock')).mode & 0o777, 0o600)
    await skiff('down', '--data-dir', cluster.dataDir)
    const up = (...args: string[]) => skiff('up', '--data-dir', cluster.dataDir, '--port', '0', ...args)
    const real = await up('--clock', 'real')
    assert.equal(real.code, 1)
    assert.match(real.err, /^skiff: .*has a clock of its own, which is at .*\n$/)
    const cri = await up('--runtime', 'cri')
    assert.match(cri.err, /^skiff: real containers live in real time.*\n$/)
    const file = join(cluster.dataDir, 'clock')
    const kept = readFileSync(file)
    writeFileSync(file, 'nonsense')
    const nonsense = await up()
    assert.match(nonsense.err, /^skiff: .*does not tell a time.*\n$/)
    writeFileSync(file, kept)
  })
})

test('a cluster in real time has no clock that could be moved', { skip: withoutKubectl }, async () => {
  await using cluster = await startE2eCluster('--components', 'apiserver')
  const { code, err } = await skiff('clock', 'advance', '1s', '--data-dir', cluster.dataDir)
  assert.equal(code, 1)
  assert.match(err, /^skiff: .*skiff up --clock manual\n$/)
  const { err: told } = await cluster.kubectl.run(['get', '--raw', '/skiff.dev/clock'])
  assert.match(told, /NotFound|not find/)
})
