/** Tokens of the old kind that nothing uses, over some simulated days. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { isNotFound } from '../../src/api/status.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { createLegacyTokenCleaner } from '../../src/controllers/serviceaccount/legacy-token-cleaner.ts'
import { ADMIN, startTestApi } from '../harness.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const namespace = 'n'
const DAY_MS = 24 * 3_600_000

test('a token that its account lists and nothing uses is marked after the period, and gone after another', async () => {
  const runtime = simulatedRuntime(1)
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const api = await done(startTestApi(runtime))
  await done(api.namespace(namespace))
  await done(api.namespace('kube-system').catch(() => undefined))
  const user = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const secrets = user.resource(core('secrets')).namespace(namespace)
  const accounts = user.resource(core('serviceaccounts')).namespace(namespace)
  await done(
    user
      .resource(core('configmaps'))
      .namespace('kube-system')
      .create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking' },
        data: { since: new Date(runtime.clock.now()).toISOString().slice(0, 10) },
      } as KubeObject)
      .catch(() => {}),
  )
  const listed = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'old' }, secrets: [{ name: 'listed' }] }
  await done(accounts.create(listed as KubeObject))
  for (const name of ['listed', 'own'])
    await done(
      secrets.create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, annotations: { 'kubernetes.io/service-account.name': 'old' } },
        type: 'kubernetes.io/service-account-token',
      } as KubeObject),
    )
  const mark = async (name: string) =>
    done(secrets.get(name)).then(
      ({ metadata }) => metadata.labels?.['kubernetes.io/legacy-token-invalid-since'] !== undefined,
      (error) => (isNotFound(error) ? 'gone' : error),
    )
  const stop = new AbortController()
  const { signal } = stop
  const informers = createInformerFactory(runtime, user, signal)
  const cleaner = createLegacyTokenCleaner({ runtime, client: user, informers, signal }, 2 * DAY_MS)
  informers.start()
  await done(cleaner.start())
  await runtime.advance(DAY_MS + 1000)
  assert.deepEqual([await mark('listed'), await mark('own')], [false, false])
  await runtime.advance(2 * DAY_MS)
  assert.deepEqual([await mark('listed'), await mark('own')], [true, false])
  await runtime.advance(3 * DAY_MS)
  assert.deepEqual([await mark('listed'), await mark('own')], ['gone', false])
  stop.abort()
})
