/** Bootstrap tokens and the signatures of cluster-info, with all controllers on the simulated clock; the signatures are a real cluster's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { isNotFound } from '../../src/api/status.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { startStage } from '../scenarios/stage.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })

async function stageOf() {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  for (const name of ['kube-public', 'kube-system'])
    await done(
      stage.user
        .resource(core('namespaces'))
        .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as KubeObject)
        .catch(() => {}),
    )
  const infos = stage.user.resource(core('configmaps')).namespace('kube-public')
  const secrets = stage.user.resource(core('secrets')).namespace('kube-system')
  return {
    runtime,
    done,
    infos,
    secrets,
    stop: () => stage.stop(),
    info: (data: Readonly<Record<string, string>>) =>
      ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cluster-info' }, data }) as KubeObject,
    token: (name: string, fields: Readonly<Record<string, string>>) =>
      done(
        secrets.create({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: `bootstrap-token-${name}` },
          type: 'bootstrap.kubernetes.io/token',
          stringData: { 'token-id': name, 'token-secret': '0123456789abcdef', ...fields },
        } as KubeObject),
      ),
    data: async () => {
      await runtime.advance(1000)
      return (await done(infos.get('cluster-info')))['data']
    },
    isGone: (name: string) =>
      done(
        secrets.get(`bootstrap-token-${name}`).then(
          () => false,
          (error) => isNotFound(error),
        ),
      ),
  }
}

const signs = { 'usage-bootstrap-signing': 'true' }

test('cluster-info is signed with each token that may sign, in the very words of a real cluster', async () => {
  const { done, infos, secrets, info, token, data, stop } = await stageOf()
  const kubeconfig = 'apiVersion: v1\nkind: Config\n'
  await done(infos.create(info({ kubeconfig, 'jws-kubeconfig-zzzzzz': 'bad', 'jws-kubeconfig-': 'q', other: 'stay' })))
  await token('abcdef', signs)
  await token('bbbbbb', {})
  await token('eeeeee', { ...signs, 'token-id': 'ffffff' })
  await token('gggggg', { 'usage-bootstrap-signing': 'yes' })
  const head = 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9'
  assert.deepEqual(await data(), {
    kubeconfig,
    other: 'stay',
    'jws-kubeconfig-abcdef': `${head}..vH_kT4yiol-nrAWgjfCYqvum5wsKETXe0S7OOp1VgnE`,
  })
  await done(infos.patch('cluster-info', 'merge', { data: { kubeconfig: 'x' } }))
  assert.equal((await data())['jws-kubeconfig-abcdef'], `${head}..0TaMGHmkUmrmJzX2IZH40z8KPjHdxhjPikTkoySmxlA`)
  await done(secrets.delete('bootstrap-token-abcdef', {}))
  assert.deepEqual(await data(), { kubeconfig: 'x', other: 'stay' })
  await stop()
})

test('a token goes when it expires, and its signature with it; one that says no time is expired', async () => {
  const { runtime, done, infos, info, token, data, isGone, stop } = await stageOf()
  await done(infos.create(info({ kubeconfig: 'x' })))
  const inSeconds = (seconds: number) => `${new Date(runtime.clock.now() + seconds * 1000).toISOString().slice(0, 19)}Z`
  await token('hhhhhh', { ...signs, expiration: inSeconds(60) })
  await token('cccccc', { ...signs, expiration: '2020-01-01T00:00:00Z' })
  await token('dddddd', { ...signs, expiration: 'nonsense' })
  assert.deepEqual(Object.keys(await data()), ['jws-kubeconfig-hhhhhh', 'kubeconfig'])
  assert.deepEqual([await isGone('hhhhhh'), await isGone('cccccc'), await isGone('dddddd')], [false, true, true])
  await runtime.advance(55_000)
  assert.equal(await isGone('hhhhhh'), false)
  await runtime.advance(5_000)
  assert.equal(await isGone('hhhhhh'), true)
  assert.deepEqual(await data(), { kubeconfig: 'x' })
  await stop()
})
