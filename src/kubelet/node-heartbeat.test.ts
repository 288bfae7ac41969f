import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { Handler } from '../api/request.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import { createNodeReporter } from './node-heartbeat.ts'
import type { NodeDescription } from './node-status.ts'

test('a node that does not make its Node again tells nothing while it is deleted, and goes on when others have made it again', async () => {
  const asked: string[] = []
  const handler: Handler = async ({ method, path, body }) => {
    asked.push(`${method} ${path.split('/').slice(-3).join('/')}`)
    const object = body?.kind === 'object' ? (body.object as KubeObject) : { metadata: { name: 'n' } }
    return { kind: 'object', status: 200, object: object as KubeObject }
  }
  const runtime = simulatedRuntime(1)
  const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'kubelet' })
  const description = { name: 'n', capacity: {}, allocatable: {}, addresses: [] } as unknown as NodeDescription
  const { signal } = new AbortController()
  const reporter = createNodeReporter(runtime, client, () => description, signal, {
    isPlayed: true,
    registersAgain: false,
  })
  reporter.run()
  reporter.deleted()
  await runtime.advance(60_000)
  assert.equal(asked.length, 0)
  reporter.observed({ metadata: { name: 'n', uid: 'again' } } as Node)
  await runtime.advance(20_000)
  assert.ok(
    asked.some((one) => one.includes('leases')),
    asked.join(),
  )
})
