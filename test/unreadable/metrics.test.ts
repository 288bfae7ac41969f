/** An APIService that cannot be read: metrics pass over it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-unreadable-'))
const SERVICE = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.acme.test' },
  spec: { group: 'acme.test', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true },
}

let cluster: Cluster
after(async () => {
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Without `fill` nothing is encrypted, and what was not stays readable. */
function start(fill?: number): Promise<Cluster> {
  const file = join(folder, 'encryption.yaml')
  const secret = Buffer.alloc(32, fill).toString('base64')
  const provider = fill === undefined ? '' : `  - aesgcm: {keys: [{name: one, secret: ${secret}}]}\n`
  writeFileSync(
    file,
    `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [apiservices.apiregistration.k8s.io]\n  providers:\n${provider}  - identity: {}\n`,
  )
  return startCluster({
    dataDir: join(folder, 'data'),
    components: ['apiserver'],
    security: { encryptionProviderConfig: file },
  })
}

test('the server tells its metrics', async () => {
  cluster = await start()
  await cluster.stop()
  cluster = await start(1)
  const spec = { ...SERVICE.spec, service: { namespace: 'default', name: 'a' } }
  const made = await cluster.client.raw('POST', '/apis/apiregistration.k8s.io/v1/apiservices', { ...SERVICE, spec })
  assert.equal(made.status, 201, made.body)
  await cluster.stop()
  cluster = await start(2)
  assert.equal(
    (await cluster.client.raw('GET', '/apis/apiregistration.k8s.io/v1/apiservices/v1.acme.test')).status,
    500,
  )
  const { status, body } = await cluster.client.raw('GET', '/metrics')
  assert.equal(status, 200, body)
  assert.match(body, /^apiserver_resource_objects\{/m)
})
