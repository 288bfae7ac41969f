import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from '../../../test/harness.ts'
import type { AdmissionPlugin } from '../admission/plugin.ts'

const MERGE = { 'content-type': 'application/merge-patch+json' }
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}
const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'c' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
}
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }

test('what is stored without a default that reads add is written by the first patch that changes nothing, and by no second', async () => {
  const api = await startTestApi()
  await api.namespace('n')
  for (const [path, body, expected] of [
    ['/api/v1/namespaces/n/persistentvolumeclaims', claim, 'new same'],
    ['/apis/batch/v1/namespaces/n/jobs', job, 'new same'],
    ['/api/v1/namespaces/n/configmaps', map, 'same same'],
  ] as const) {
    let { resourceVersion: before } = (await api.request('POST', path, body)).body.metadata
    const told: string[] = []
    for (let time = 0; time < 2; time++) {
      const { resourceVersion } = (await api.request('PATCH', `${path}/c`, {}, MERGE)).body.metadata
      told.push(resourceVersion === before ? 'same' : 'new')
      before = resourceVersion
    }
    assert.equal(told.join(' '), expected, path)
  }
  await api.stop()
})

test('validating admission sees an object without the defaults that reads add; the answer has them', async () => {
  const seen: unknown[] = []
  const told: AdmissionPlugin = {
    name: 'Told',
    handles: () => true,
    validate: ({ object }) => void seen.push(object?.['status']),
  }
  const api = await startTestApi(undefined, { admission: { plugins: { Told: () => told } } })
  await api.namespace('n')
  const made = await api.request('POST', '/api/v1/namespaces/n/persistentvolumeclaims', claim)
  assert.deepEqual(made.body.status, { phase: 'Pending' })
  assert.deepEqual(seen.at(-1), {})
  const tried = await api.request('POST', '/api/v1/namespaces/n/persistentvolumeclaims?dryRun=All', {
    ...claim,
    metadata: { name: 'd' },
  })
  assert.deepEqual(tried.body.status, { phase: 'Pending' })
  await api.stop()
})
