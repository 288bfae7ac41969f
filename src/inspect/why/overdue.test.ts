/** A component of Kubernetes that is there, has nothing to wait for and does nothing is at work for some minutes, and no longer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { createClusterReader } from '../cluster-reader.ts'
import type { Look } from './look.ts'
import { explainObject } from './why.ts'

const DELETED = '2026-01-01T00:00:00Z'
const metadata = { name: 'c', namespace: 'n', uid: 'u', deletionTimestamp: DELETED, deletionGracePeriodSeconds: 0 }
const CLAIM = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { ...metadata, finalizers: ['kubernetes.io/pvc-protection'] },
  spec: {},
}
const RESOURCE: NamedResource = {
  group: '',
  version: 'v1',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
  verbs: ['get', 'list', 'delete'],
  singular: '',
  shortNames: [],
  categories: [],
}

async function verdictAfter(minutes: number) {
  const now = Date.parse(DELETED) + minutes * 60_000
  const lease = {
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
    spec: { holderIdentity: 'kcm', renewTime: new Date(now).toISOString() },
  }
  const transport = {
    inProcess: false,
    async send({ method, path }: ApiRequest): Promise<ApiResponse> {
      const items = path.endsWith('/namespaces/kube-system/leases') ? [lease] : []
      const answer = method === 'PATCH' ? { ...CLAIM, metadata } : { kind: 'List', metadata: {}, items }
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
  const kinds = {
    resources: [RESOURCE],
    everyVersion: [],
    stale: [],
    ofResource: () => RESOURCE,
    ofKind: () => RESOURCE,
  }
  const look = { reader, kinds, now, dryRun: true, path: [], examined: new Map() } as unknown as Look
  const { verdict, cause, responsible } = await explainObject(look, RESOURCE, CLAIM)
  return { verdict, cause: cause.kind, responsible }
}

test('what should have been done at once is overdue after ten minutes', async () => {
  const { verdict, cause } = await verdictAfter(5)
  assert.deepEqual([verdict, cause], ['slow', 'controller-at-work'])
  assert.deepEqual(await verdictAfter(15), {
    verdict: 'nobody',
    cause: 'overdue',
    responsible: 'pvc-protection-controller (kube-controller-manager)',
  })
})
