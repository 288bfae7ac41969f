import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import type { Handler } from '../api/request.ts'
import { notFound } from '../api/status.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import { createDeviceClaims } from './device-claims.ts'
import type { Pod } from './pod.ts'

const allocation = { devices: { results: [{ request: 'r', driver: 'd.example.com', pool: 'n', device: 'd0' }] } }
const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }]

/** Prepares a pod with that claim; `status` is the one of the claim `c`, the only one there is. */
function prepare(claim: object, status: object, drivers: 'simulated' | 'none' = 'simulated'): Promise<void> {
  const handler: Handler = async ({ path }) => {
    if (!path.endsWith('/c')) throw notFound({ group: 'resource.k8s.io', resource: 'resourceclaims' }, 'none')
    const metadata = { name: 'c', namespace: 'n', uid: 'claim' }
    const object = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata,
      status,
    } as unknown as KubeObject
    return { kind: 'object', status: 200, object }
  }
  const client = createClient(liveRuntime(), inProcessTransport(handler), { userAgent: 'kubelet' })
  const metadata = { name: 'p', namespace: 'n', uid: 'u' }
  const spec = { containers: [], resourceClaims: [{ name: 'r', ...claim }] }
  return createDeviceClaims(client, drivers).prepare({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as Pod)
}

test('a simulated driver has the devices of a claim that the pod may use ready at once', async () => {
  await prepare({ resourceClaimName: 'c' }, { allocation, reservedFor })
})

test('a real node says which driver it has no plugin of', async () => {
  await assert.rejects(prepare({ resourceClaimName: 'c' }, { allocation, reservedFor }, 'none'), {
    message: 'DRA driver d.example.com is not registered',
  })
})

test('a claim that is not reserved for the pod is not its own', async () => {
  await assert.rejects(prepare({ resourceClaimName: 'c' }, { allocation }), {
    message: 'pod p (u) is not allowed to use ResourceClaim c (claim)',
  })
})

test('claims that are not there are told by name', async () => {
  await assert.rejects(prepare({ resourceClaimName: 'none' }, {}), {
    message: 'fetch ResourceClaim none: resourceclaims.resource.k8s.io "none" not found',
  })
  await assert.rejects(prepare({ resourceClaimTemplateName: 't' }, {}), {
    message: 'pod "n/p": ResourceClaim not created yet',
  })
})
