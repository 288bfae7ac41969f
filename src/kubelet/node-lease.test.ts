import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import type { Handler } from '../api/request.ts'
import { conflict } from '../api/status.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import { createNodeLease } from './node-lease.ts'

/** A server that has a Lease and answers a PUT when it is told to. */
function served() {
  let stored = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'n', resourceVersion: '1' } }
  const held: (() => void)[] = []
  const asked: string[] = []
  const handler: Handler = async ({ method, body }) => {
    asked.push(method)
    if (method === 'GET') return { kind: 'object', status: 200, object: stored }
    assert.ok(body?.kind === 'object')
    const sent = body.object as KubeObject
    if (sent.metadata.resourceVersion !== stored.metadata.resourceVersion)
      throw conflict({ group: 'coordination.k8s.io', resource: 'leases' }, 'n', 'modified')
    stored = {
      ...stored,
      metadata: { name: 'n', resourceVersion: String(Number(stored.metadata.resourceVersion) + 1) },
    }
    const answer = stored
    await new Promise<void>((resolve) => held.push(resolve))
    return { kind: 'object', status: 200, object: answer }
  }
  const runtime = simulatedRuntime(1)
  const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'kubelet' })
  const lease = createNodeLease(runtime.clock, client, 'n', () => undefined)
  return { lease, asked, settle: () => runtime.advance(0), answer: () => held.shift()?.() }
}

test('a renewal that is due while the one before is under way is that one', async () => {
  const { lease, asked, settle, answer } = served()
  const renewals = [lease.renew(), lease.renew()]
  await settle()
  renewals.push(lease.renew())
  await settle()
  assert.deepEqual(asked, ['GET', 'PUT'])
  answer()
  await settle()
  await Promise.all(renewals)
  const next = lease.renew()
  await settle()
  assert.deepEqual(asked, ['GET', 'PUT', 'PUT'])
  answer()
  await settle()
  await next
})
