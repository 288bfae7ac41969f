/** The client over HTTPS against our own server: the same answers, errors and events as in-process. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient } from '../../src/client/transport.ts'
import { loadPki } from '../../src/cluster/pki.ts'
import { startHttpServer } from '../../src/http/server.ts'
import { ADMIN, startTestApi } from '../harness.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const map = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

async function served() {
  const runtime = liveRuntime()
  const directory = mkdtempSync(join(tmpdir(), 'skiff-https-'))
  const pki = loadPki(runtime, directory, '127.0.0.1', ['10.96.0.1'])
  const api = await startTestApi(runtime)
  await api.namespace('n')
  const server = await startHttpServer(runtime, {
    handler: (request) => api.handler({ ...request, user: ADMIN }),
    host: '127.0.0.1',
    port: 0,
    tls: { cert: pki.serving.cert, key: pki.serving.key, clientCas: [pki.ca.cert] },
  })
  const url = `https://127.0.0.1:${server.port}`
  const transport = httpsTransport({ server: url, ca: pki.ca.cert, cert: pki.admin.cert, key: pki.admin.key })
  const client = createClient(runtime, transport, { userAgent: 'test' })
  const stopped = new AbortController()
  return {
    runtime,
    client,
    url,
    signal: stopped.signal,
    async stop() {
      stopped.abort()
      transport.close()
      await server.stop(1000)
      await api.stop()
      rmSync(directory, { recursive: true })
    },
  }
}

test('requests over HTTPS are answered with objects, and refusals are StatusErrors', async () => {
  const { client, stop } = await served()
  const maps = client.resource(configMaps).namespace('n')
  const made = await maps.create(map('a'))
  assert.ok(made.metadata.uid)
  assert.equal((await maps.get('a')).metadata.uid, made.metadata.uid)
  await assert.rejects(maps.create(map('a')), { code: 409, reason: 'AlreadyExists' })
  await assert.rejects(maps.get('b'), { code: 404, reason: 'NotFound' })
  const patched = await maps.patch('a', 'merge', { data: { key: 'ä' } })
  assert.deepEqual(patched['data'], { key: 'ä' })
  const list = await maps.list()
  assert.deepEqual([list.items.length, list.items[0]?.kind], [1, 'ConfigMap'])
  const partial = await maps.list({ metadataOnly: true })
  assert.deepEqual([partial.items[0]?.metadata.name, partial.items[0]?.['data']], ['a', undefined])
  await maps.delete('a', { preconditions: { uid: made.metadata.uid as string } })
  assert.deepEqual((await maps.list()).items, [])
  assert.ok((await client.discover()).resources.some(({ kind }) => kind === 'Deployment'))
  await stop()
})

test('an informer over HTTPS follows what others write', async () => {
  const { runtime, client, signal, stop } = await served()
  const maps = client.resource(configMaps).namespace('n')
  await maps.create(map('before'))
  const informers = createInformerFactory(runtime, client, signal)
  const informer = informers.informer(configMaps, { namespace: 'n' })
  const seen: string[] = []
  let done: () => void
  const three = new Promise<void>((resolve) => {
    done = resolve
  })
  const note = (text: string) => {
    seen.push(text)
    if (seen.length === 4) done()
  }
  informer.addHandlers({
    added: ({ metadata }) => note(`added ${metadata.name}`),
    updated: (_, { metadata }) => note(`updated ${metadata.name}`),
    deleted: ({ metadata }) => note(`deleted ${metadata.name}`),
  })
  informers.start()
  await informer.whenSynced(signal)
  await maps.create(map('after'))
  await maps.patch('after', 'merge', { data: { a: 'b' } })
  await maps.delete('before')
  await three
  assert.deepEqual(seen, ['added before', 'added after', 'updated after', 'deleted before'])
  await stop()
})

test('a watch brings events as they happen, and ends when it is closed', async () => {
  const { client, stop } = await served()
  const maps = client.resource(configMaps).namespace('n')
  const { metadata } = await maps.list()
  const closing = new AbortController()
  const events = await maps.watch({ resourceVersion: metadata.resourceVersion }, closing.signal)
  await maps.create(map('x'))
  assert.equal((await events.next())?.object.metadata.name, 'x')
  closing.abort()
  assert.equal(await events.next(), undefined)
  await stop()
})
