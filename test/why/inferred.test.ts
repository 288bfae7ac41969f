/**
 * What is inferred where no dry run is sent: of objects of built-in kinds that are in the store and would not be taken today, each update of
 * which is refused, that which ends them too; and of webhooks that a controller quotes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { startFork } from '../../src/cluster/cluster.ts'
import { snapshotOf } from '../../src/cluster/snapshot.ts'
import { type StoredObjects, storedItem, twinImage } from '../../src/cluster/twin.ts'
import { askWhy } from '../../src/inspect/why/ask.ts'

const deletionTimestamp = '2026-01-01T00:00:00Z'
const held = (name: string) => ({
  name,
  namespace: 'default',
  uid: `uid-of-${name}`,
  finalizers: ['acme.test/cleanup'],
  deletionTimestamp,
  deletionGracePeriodSeconds: 0,
})
const stored = (storagePrefix: string, ...items: readonly object[]): StoredObjects => {
  const [{ apiVersion, kind }] = items as [KubeObject]
  return { storagePrefix, apiVersion, kind, items: items.map((item) => storedItem(item as KubeObject)) }
}
const budget = (name: string, spec: object) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: held(name),
  spec: { minAvailable: 1, ...spec },
})

async function clusterOf(...objects: readonly StoredObjects[]) {
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', uid: 'uid-of-default' } }
  const { image, entries } = twinImage([stored('namespaces', space), ...objects])
  const options = { storage: 'memory', from: snapshotOf(image, Date.now(), false), components: ['apiserver'] } as const
  const cluster = await startFork(options, { entries, nodes: [] })
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, cluster.kubeconfigFile)
  return {
    async ask(kind: string, name: string, dryRun: boolean) {
      const asked = { clock: runtime.clock, transport, userAgent: 'test', dryRun, output: 'json' } as const
      const { text } = await askWhy(asked, { kind, name, namespace: 'default' })
      return JSON.parse(text)
    },
    async stop() {
      transport.close()
      await cluster.stop()
    },
  }
}

test('what a dry run says of it is what is inferred without one', async () => {
  const cluster = await clusterOf(
    stored('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: held('bad'), data: { 'a b': '' } }),
    stored('poddisruptionbudgets', budget('bad', { maxUnavailable: 1 }), budget('good', {})),
  )
  const told = async (kind: string, name: string, dryRun: boolean) => {
    const { verdict, inferred, cause } = await cluster.ask(kind, name, dryRun)
    return { verdict, inferred, by: cause.by, message: cause.message }
  }
  try {
    for (const kind of ['configmap', 'pdb']) {
      const tried = await told(kind, 'bad', true)
      assert.deepEqual([tried.verdict, tried.inferred, tried.by], ['refused', false, 'server'])
      assert.deepEqual(await told(kind, 'bad', false), { ...tried, inferred: true })
    }
    for (const dryRun of [true, false]) assert.equal((await told('pdb', 'good', dryRun)).verdict, 'nobody')
  } finally {
    await cluster.stop()
  }
})

test('a webhook that is asked about the update, and that a controller quotes, is what refuses', async () => {
  const uid = 'uid-of-quoted'
  const hook = {
    name: 'h.acme.test',
    clientConfig: { url: 'https://192.0.2.1/judge' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'quoted.1', namespace: 'default' },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'quoted', uid },
    type: 'Warning',
    reason: 'RemoveFinalizerFailed',
    message: 'admission webhook "h.acme.test" denied the request: not on a Friday',
    source: { component: 'acme-controller' },
    lastTimestamp: '2026-01-01T00:00:05Z',
  }
  const hooks = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }
  const cluster = await clusterOf(
    stored('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: held('quoted') }),
    stored('events', event),
    stored('validatingwebhookconfigurations', { ...hooks, metadata: { name: 'acme', uid: 'h' }, webhooks: [hook] }),
  )
  try {
    const { verdict, inferred, cause } = await cluster.ask('configmap', 'quoted', false)
    assert.deepEqual([verdict, inferred, cause.kind, cause.name], ['refused', true, 'admission-refuses', 'h.acme.test'])
    assert.match(cause.message, /not on a Friday/)
  } finally {
    await cluster.stop()
  }
})
