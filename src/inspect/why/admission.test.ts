import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { notFound, type StatusError } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createClusterReader } from '../cluster-reader.ts'
import { removalLinks } from './admission.ts'
import type { Look } from './look.ts'

const OBJECT = {
  kind: 'Thing',
  apiVersion: 'acme.test/v1',
  metadata: { name: 'a', namespace: 'n', uid: 'u', finalizers: ['f'], deletionTimestamp: '2026-01-01T00:00:00Z' },
}
const REF = { group: 'acme.test', version: 'v1', resource: 'things', kind: 'Thing', namespace: 'n', name: 'a' }

/** How often the finalizer's removal is tried where the group's APIService is so. */
async function tries(apiService: object | StatusError): Promise<number> {
  let patches = 0
  const transport = {
    inProcess: false,
    async send({ method, path }: ApiRequest): Promise<ApiResponse> {
      if (method === 'PATCH') patches++
      const isService = path.includes('/apiservices/')
      if (path.includes('/customresourcedefinitions/')) throw notFound({ group: '', resource: '' }, 'things')
      if (isService && apiService instanceof Error) throw apiService
      const answer = isService ? apiService : method === 'PATCH' ? OBJECT : { kind: 'List', metadata: {}, items: [] }
      const bytes = [Buffer.from(JSON.stringify(answer))]
      return { kind: 'bytes', status: 200, contentType: 'application/json', bytes }
    },
  }
  const reader = createClusterReader(simulatedRuntime(1).clock, transport, {
    budget: 200,
    requestMs: 1000,
    totalMs: 10_000,
    userAgent: 'test',
  })
  const kinds = { resources: [], everyVersion: [], stale: [], ofResource: () => undefined, ofKind: () => undefined }
  await removalLinks({ reader, kinds, dryRun: true } as unknown as Look, REF, OBJECT, 'f', [])
  return patches
}

test('a dry run is tried where the API server itself answers, and never at an aggregated one, which may not know what that is', async () => {
  const service = (spec: object) => ({
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: {},
    spec,
  })
  assert.equal(await tries(service({ group: 'acme.test' })), 1)
  assert.equal(await tries(service({ group: 'acme.test', service: { name: 's', namespace: 'n' } })), 0)
  const at = { group: 'apiregistration.k8s.io', resource: 'apiservices' }
  assert.equal(await tries(notFound(at, 'v1.acme.test')), 0)
})
