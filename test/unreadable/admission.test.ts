/** Admission's own configuration when it cannot be read: requests are refused, not let through unjudged, until it is gone. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-unreadable-'))
const GROUP = '/apis/admissionregistration.k8s.io/v1'
const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'
const MAPS = '/api/v1/namespaces/default/configmaps'
const rules = [{ operations: ['CREATE'], apiGroups: ['acme.test'], apiVersions: ['v1'], resources: ['foos'] }]
const CONFIGURATION = {
  validatingadmissionpolicies: {
    kind: 'ValidatingAdmissionPolicy',
    spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'false' }] },
  },
  mutatingadmissionpolicies: {
    kind: 'MutatingAdmissionPolicy',
    spec: {
      matchConstraints: { resourceRules: rules },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/spec"}]' } }],
    },
  },
  validatingwebhookconfigurations: { kind: 'ValidatingWebhookConfiguration', webhooks: [] },
  mutatingwebhookconfigurations: { kind: 'MutatingWebhookConfiguration', webhooks: [] },
}

let cluster: Cluster
after(async () => {
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The keys of one resource by another secret. */
function start(other = ''): Promise<Cluster> {
  const file = join(folder, 'encryption.yaml')
  const resources = Object.keys(CONFIGURATION).map((resource) => {
    const secret = Buffer.alloc(32, resource === other ? 2 : 1).toString('base64')
    return `- resources: [${resource}.admissionregistration.k8s.io]\n  providers:\n  - aesgcm: {keys: [{name: one, secret: ${secret}}]}\n`
  })
  writeFileSync(
    file,
    `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n${resources.join('')}`,
  )
  return startCluster({
    dataDir: join(folder, 'data'),
    components: ['apiserver'],
    security: { encryptionProviderConfig: file },
  })
}

test('no write goes by while a policy or a webhook configuration cannot be read', async () => {
  cluster = await start()
  for (const [resource, object] of Object.entries(CONFIGURATION)) {
    const made = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'a' }, ...object }
    const { status, body } = await cluster.client.raw('POST', `${GROUP}/${resource}`, made)
    assert.equal(status, 201, body)
  }
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'm-' } }
  const write = async () => (await cluster.client.raw('POST', MAPS, map)).status
  for (const resource of Object.keys(CONFIGURATION)) {
    await cluster.stop()
    cluster = await start(resource)
    for (let i = 0; i < 3; i++) assert.equal(await write(), 500, resource)
    const { status, body } = await cluster.client.raw('DELETE', `${GROUP}/${resource}/a?${UNSAFE}`)
    assert.equal(status, 200, body)
    assert.equal(await write(), 201, resource)
  }
})
