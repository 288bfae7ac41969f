/** Simulated nodes of one process. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { simulatedRuntime } from '../src/base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../src/client/transport.ts'
import { createKubeletsHere, numberedNodes, startNodes } from '../src/cluster/nodes.ts'
import { startTestApi } from './harness.ts'

async function listenersOf(count: number): Promise<number> {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime))
  const namespace = api.namespace('kube-node-lease')
  await runtime.complete(namespace)
  const end = new AbortController()
  const here = createKubeletsHere()
  const clientFor = (user: Parameters<typeof createClient>[2]['user'], userAgent = 'kubelet') =>
    createClient(runtime, inProcessTransport(api.handler), { userAgent, ...(user === undefined ? {} : { user }) })
  await runtime.complete(startNodes(runtime, numberedNodes(count), clientFor, end.signal, { here }))
  const listeners = getEventListeners(end.signal, 'abort').length
  assert.notEqual(here.get('skiff-1'), undefined)
  end.abort()
  assert.equal(here.areThere, false)
  return listeners
}

test('however many nodes end with a signal, as many listen to it: to add one looks through all that are there', async () => {
  assert.equal(await listenersOf(12), await listenersOf(3))
})
