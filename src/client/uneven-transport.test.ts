/** What is asked at once is answered in another order, the same one for the same seed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from './transport.ts'
import { delaysBySeed, unevenTransport } from './uneven-transport.ts'

async function answered(seed: number): Promise<readonly string[]> {
  const runtime = simulatedRuntime(1)
  const order: string[] = []
  const handler: Handler = async ({ path }) => {
    order.push(path.slice(-1))
    return { kind: 'object', status: 200, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } }
  }
  const client = createClient(runtime, unevenTransport(runtime, inProcessTransport(handler), delaysBySeed(seed)), {
    userAgent: 'x',
  })
  const maps = client.resource({ group: '', version: 'v1', resource: 'configmaps' }).namespace('n')
  const all = Promise.all([...'abcdefgh'].map((name) => maps.get(name)))
  await runtime.advance(5000)
  await runtime.complete(all)
  return order
}

test('a seed tells in which order requests are answered', async () => {
  const [one, again, other] = [await answered(1), await answered(1), await answered(2)]
  assert.deepEqual([...one].sort(), [...'abcdefgh'])
  assert.deepEqual(one, again)
  assert.notDeepEqual(one, other)
})
