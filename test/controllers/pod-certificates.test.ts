/** PodCertificateRequests are taken away a quarter of an hour after they were made, whatever became of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCertificateRequest } from '../../src/api/generated/types.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { createPodCertificateCleaner } from '../../src/controllers/certificates/expired-request-cleaner.ts'
import { ADMIN, startTestApi } from '../harness.ts'

const namespace = 'n'
const MINUTE_MS = 60_000

function requestOf(name: string): PodCertificateRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { name },
    spec: {
      signerName: 'example.com/signer',
      podName: 'p',
      podUID: '8d6d2a30-0000-4000-8000-000000000001',
      serviceAccountName: 'a',
      serviceAccountUID: '8d6d2a30-0000-4000-8000-000000000002',
      nodeName: 'node',
      nodeUID: '8d6d2a30-0000-4000-8000-000000000003',
      stubPKCS10Request:
        'MH8wMwIBADAAMCowBQYDK2VwAyEAP4zLqJ0MLv+EI8jpOmWtM9cWtLprcmtthZ0+7lW+eQigADAFBgMrZXADQQDydFyeKU726xickffvIy/DVSC1ZHNA/Gg8VEZ3gF0bRy4rGEsztYQn/ZPVoTRRlY8vLmUlOsyNmIzOGHZjBcUN',
    },
  }
}

test('each is there for a quarter of an hour, and gone at the next look, every five minutes', async () => {
  const runtime = simulatedRuntime(1)
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const api = await done(startTestApi(runtime))
  await done(api.namespace(namespace))
  const user = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const requests = user
    .resource<PodCertificateRequest>({
      group: 'certificates.k8s.io',
      version: 'v1',
      resource: 'podcertificaterequests',
    })
    .namespace(namespace)
  const names = async () => (await done(requests.list())).items.map(({ metadata }) => metadata.name)
  const stop = new AbortController()
  const { signal } = stop
  const informers = createInformerFactory(runtime, user, signal)
  const cleaner = createPodCertificateCleaner({ runtime, client: user, informers, signal })
  informers.start()
  await done(cleaner.start())
  const { spec } = await done(requests.create(requestOf('first')))
  assert.equal(spec?.maxExpirationSeconds, 86_400)
  await runtime.advance(6 * MINUTE_MS)
  await done(requests.create(requestOf('second')))
  await runtime.advance(8 * MINUTE_MS)
  assert.deepEqual(await names(), ['first', 'second'])
  await runtime.advance(7 * MINUTE_MS)
  assert.deepEqual(await names(), ['second'])
  await runtime.advance(5 * MINUTE_MS)
  assert.deepEqual(await names(), [])
  stop.abort()
})
