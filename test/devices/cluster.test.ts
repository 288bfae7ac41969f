/** Devices in a whole cluster, with its authorization and a simulated node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../src/api/generated/types.ts'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { claimsResource, type ResourceClaim, reservedFor } from '../../src/api/objects/resource-claims.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { createInformerFactory, type Informer } from '../../src/client/informer.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { createClient } from '../../src/client/transport.ts'
import { startCluster } from '../../src/cluster/cluster.ts'
import { device, deviceClass, pod, slice, taintRule, template } from './forms.ts'

/** Resolves when what the informer shows is so. */
async function until<T extends KubeObject>(
  informer: Informer<T>,
  isSo: (all: readonly T[]) => boolean,
): Promise<readonly T[]> {
  const done = Promise.withResolvers<readonly T[]>()
  const look = () => {
    const all = informer.store.list()
    if (isSo(all)) done.resolve(all)
  }
  const stop = informer.addHandlers({ added: look, updated: look, deleted: look })
  look()
  const all = await done.promise
  stop()
  return all
}

test('a pod gets the device of its template’s claim, and gives it back when a taint rule drives it away', async () => {
  const cluster = await startCluster({ storage: 'memory', port: 0 })
  const stopping = new AbortController()
  const access = kubeconfigTransport(liveRuntime(), cluster.kubeconfigFile)
  try {
    const client = createClient(liveRuntime(), access.transport, { userAgent: 'test' })
    const informers = createInformerFactory(liveRuntime(), client, stopping.signal)
    const pods = informers.informer<Pod>({ group: '', version: 'v1', resource: 'pods' })
    const claims = informers.informer<ResourceClaim>(claimsResource)
    informers.start()
    const make = (resource: string, object: Fields, namespace = '') => {
      const group = resource === 'pods' ? '' : 'resource.k8s.io'
      return client
        .resource({ group, version: 'v1', resource })
        .namespace(namespace)
        .create(object as KubeObject)
    }
    await make('deviceclasses', deviceClass())
    await make('resourceslices', slice('s1', 'skiff-1', [device('d0')]))
    await make('resourceclaimtemplates', template('t'), 'default')
    await make('pods', pod('p', { gpu: 'template:t' }), 'default')
    await until(pods, (all) => all.some(({ status }) => status?.phase === 'Running'))
    const [claim] = await until(claims, (all) => all.some((one) => reservedFor(one).length > 0))
    assert.deepEqual(
      reservedFor(claim as ResourceClaim).map(({ name }) => name),
      ['p'],
    )

    await make(
      'devicetaintrules',
      taintRule('rule', { deviceSelector: { device: 'd0' }, taint: { key: 'k', effect: 'NoExecute' } }),
    )
    await until(pods, (all) => all.length === 0)
    await until(claims, (all) => all.length === 0)
  } finally {
    stopping.abort()
    access.transport.close()
    await cluster.stop()
  }
})
