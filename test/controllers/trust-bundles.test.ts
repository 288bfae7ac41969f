/** The ClusterTrustBundle of the API server's certificate, as a kube-controller-manager v1.37.1 was seen to publish it on 2026-11-26. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterTrustBundle } from '../../src/api/generated/types.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import {
  bundleName,
  createClusterTrustBundlePublisher,
} from '../../src/controllers/clustertrustbundle-publisher/clustertrustbundle-publisher.ts'
import { AUTHORITY } from '../authority.ts'
import { ADMIN, startTestApi } from '../harness.ts'

const SIGNER = 'kubernetes.io/kube-apiserver-serving'
const bundle = (name: string, signerName?: string): ClusterTrustBundle => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'ClusterTrustBundle',
  metadata: { name },
  spec: { ...(signerName === undefined ? {} : { signerName }), trustBundle: AUTHORITY },
})

test('there is one bundle of the signer, named by its hash: it comes back, others of the signer go, all else stays', async () => {
  const runtime = simulatedRuntime(1)
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const api = await done(startTestApi(runtime))
  const user = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const bundles = user.resource<ClusterTrustBundle>({
    group: 'certificates.k8s.io',
    version: 'v1',
    resource: 'clustertrustbundles',
  })
  const names = async () => (await done(bundles.list())).items.map(({ metadata }) => metadata.name)
  await done(bundles.create(bundle('kubernetes.io:kube-apiserver-serving:former', SIGNER)))
  await done(bundles.create(bundle('example.com:signer:a', 'example.com/signer')))
  await done(bundles.create(bundle('plain')))
  const stop = new AbortController()
  const { signal } = stop
  const informers = createInformerFactory(runtime, user, signal)
  const publisher = createClusterTrustBundlePublisher({ runtime, client: user, informers, signal }, AUTHORITY)
  informers.start()
  await done(publisher.start())
  await runtime.advance(100)
  const own = bundleName(AUTHORITY)
  assert.match(own, /^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/)
  const wanted = ['example.com:signer:a', own, 'plain']
  assert.deepEqual(await names(), wanted)
  assert.equal((await done(bundles.get(own))).spec.trustBundle, AUTHORITY)
  await done(bundles.delete(own))
  await done(bundles.create(bundle('kubernetes.io:kube-apiserver-serving:mine', SIGNER)))
  await runtime.advance(1000)
  assert.deepEqual(await names(), wanted)
  stop.abort()
  await done(api.stop())
})
