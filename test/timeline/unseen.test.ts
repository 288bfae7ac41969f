/** skiff timeline --record on a cluster of which nothing may be seen: it stays as long as it was told to, and says so. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { skiff } from '../e2e/cluster.ts'

const CONFIG_MAPS = {
  resource: 'configmaps',
  responseKind: { group: '', version: 'v1', kind: 'ConfigMap' },
  scope: 'Namespaced',
  singularResource: 'configmap',
  shortNames: ['cm'],
  verbs: ['list', 'watch'],
}

const served = (path: string) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  items: path === '/api' ? [{ metadata: {}, versions: [{ version: 'v1', resources: [CONFIG_MAPS] }] }] : [],
})

const directory = mkdtempSync(join(tmpdir(), 'unseen-'))
const server = createServer(({ url = '' }, response) => {
  const [path = ''] = url.split('?')
  const isDiscovery = path === '/api' || path === '/apis'
  const refusal = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403, message: 'no' }
  response.writeHead(isDiscovery ? 200 : 403, {
    'Content-Type': isDiscovery
      ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
      : 'application/json',
    Connection: 'close',
  })
  response.end(JSON.stringify(isDiscovery ? served(path) : refusal))
})
after(() => {
  server.close()
  rmSync(directory, { recursive: true })
})

test('it waits for as long as it was told to, and then says what could not be watched', async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const kubeconfig = join(directory, 'kubeconfig')
  const cluster = { name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }
  const context = { name: 'c', context: { cluster: 'c', user: 'u' } }
  const users = [{ name: 'u', user: {} }]
  writeFileSync(kubeconfig, JSON.stringify({ clusters: [cluster], contexts: [context], users, 'current-context': 'c' }))
  const { code, out, err } = await skiff('timeline', 'cm/a', '--record', '--for', '1s', '--kubeconfig', kubeconfig)
  assert.deepEqual([code, out], [1, ''])
  assert.deepEqual(err.split('\n').slice(0, 2), [
    'watching namespace default until cm/a, which is not there yet, has gone; Ctrl-C ends it',
    'could not be watched: configmaps',
  ])
  assert.match(err, /\nskiff: the recording tells nothing of configmaps\/a in namespace default: it is empty\n$/)
})
