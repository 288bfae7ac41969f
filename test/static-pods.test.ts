/** Static pods of a whole cluster: the folder of manifests, from its option and from the cluster's own directory. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pod } from '../src/api/generated/types.ts'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { createInformerFactory } from '../src/client/informer.ts'
import { kubeconfigTransport } from '../src/client/kubeconfig-transport.ts'
import { createClient } from '../src/client/transport.ts'
import { startCluster } from '../src/cluster/cluster.ts'

const manifest = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: i}]}\n'

/** Resolves when mirror pods of these names run, and nothing else does. */
async function untilRunning(options: Parameters<typeof startCluster>[0], names: readonly string[]): Promise<void> {
  const cluster = await startCluster({ storage: 'memory', port: 0, ...options })
  const stopping = new AbortController()
  const access = kubeconfigTransport(liveRuntime(), cluster.kubeconfigFile)
  try {
    const client = createClient(liveRuntime(), access.transport, { userAgent: 'test' })
    const informers = createInformerFactory(liveRuntime(), client, stopping.signal)
    const pods = informers.informer<Pod>({ group: '', version: 'v1', resource: 'pods' })
    const done = Promise.withResolvers<void>()
    const look = () => {
      const running = [...pods.store.list()].filter(({ status }) => status?.phase === 'Running')
      if (running.length === names.length) done.resolve()
    }
    pods.addHandlers({ added: look, updated: look })
    informers.start()
    await done.promise
    const all = [...pods.store.list()]
    assert.deepEqual(all.map(({ metadata }) => metadata.name).sort(), names)
    for (const { metadata, spec } of all) {
      assert.equal(metadata.name, `web-${spec?.nodeName}`)
      assert.equal(metadata.annotations?.['kubernetes.io/config.source'], 'file')
    }
  } finally {
    stopping.abort()
    access.transport.close()
    await cluster.stop()
  }
}

test('every node runs the pods of the folder that is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-static-'))
  writeFileSync(join(folder, 'web.yaml'), manifest)
  await untilRunning({ nodes: 2, podManifestPath: folder }, ['web-skiff-1', 'web-skiff-2'])
  rmSync(folder, { recursive: true })
})

test('a folder of manifests in the cluster’s own directory is found', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-static-'))
  mkdirSync(join(dataDir, 'manifests'))
  writeFileSync(join(dataDir, 'manifests', 'web.yaml'), manifest)
  await untilRunning({ dataDir }, ['web-skiff-1'])
  rmSync(dataDir, { recursive: true })
})
