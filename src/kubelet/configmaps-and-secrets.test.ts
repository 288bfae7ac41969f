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

test('an immutable ConfigMap is read once while pods of the node refer to it, another after a minute', async () => {
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
  let pods = [pod('a', 'fixed'), pod('b', 'fixed'), pod('c', 'other')]
  const references = createReferences(runtime.clock, client, () => pods)
  const read = async (name: string) => {
    const found = references.configMap('n', name)
    await runtime.settle()
    return (await found)?.metadata.uid
  }
  assert.deepEqual([await read('fixed'), await read('other')], ['1', '2'])
  await runtime.advance(120_000)
  assert.deepEqual([await read('fixed'), await read('other')], ['1', '3'])
  pods = pods.slice(1)
  references.forget('a')
  assert.equal(await read('fixed'), '1')
  // The object of a pod that goes may be known a moment longer than the pod.
  references.forget('b')
  assert.equal(await read('fixed'), '4')
})
