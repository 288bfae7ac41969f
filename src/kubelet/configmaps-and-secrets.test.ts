import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import { createReferences } from './configmaps-and-secrets.ts'
import type { Pod } from './pod.ts'

const pod = (uid: string, configMap: string) =>
  ({
    metadata: { name: uid, namespace: 'n', uid },
    spec: { containers: [], volumes: [{ name: 'v', configMap: { name: configMap } }] },
  }) as unknown as Pod

test('an immutable ConfigMap is read once until the last pod that refers to it has ended, another again a second later, and once what is read has to be new', async () => {
  const runtime = simulatedRuntime(1)
  let reads = 0
  const handler: Handler = async ({ path }) => {
    const name = String(path).split('/').at(-1) ?? ''
    const metadata = { name, namespace: 'n', uid: `${++reads}` }
    return {
      kind: 'object',
      status: 200,
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata, immutable: name === 'fixed' },
    }
  }
  const client = createClient(runtime, inProcessTransport(handler), { userAgent: 'kubelet' })
  const [a, b, c] = [pod('a', 'fixed'), pod('b', 'fixed'), pod('c', 'other')]
  let active = [a, b, c]
  let looks = 0
  const references = createReferences(runtime.clock, client, () => {
    looks++
    return active
  })
  const read = async (name: string) => {
    const found = references.configMap('n', name)
    await runtime.settle()
    return (await found)?.metadata.uid
  }
  assert.deepEqual([await read('fixed'), await read('other')], ['1', '2'])
  await runtime.advance(999)
  assert.deepEqual([await read('fixed'), await read('other')], ['1', '2'])
  await runtime.advance(1001)
  assert.deepEqual([await read('fixed'), await read('other')], ['1', '3'])
  references.renew()
  assert.deepEqual([await read('fixed'), await read('other'), await read('other')], ['1', '4', '4'])
  looks = 0
  references.ended(c)
  assert.equal(looks, 0, 'what the pod does not refer to is not looked up')
  active = [b, c]
  references.ended(a)
  assert.equal(await read('fixed'), '1')
  // A pod that ends may be known a moment longer.
  references.ended(b)
  assert.equal(await read('fixed'), '5')
})
