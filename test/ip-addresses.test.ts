/** Every cluster IP has its IPAddress, from the Service's creation to its end. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Asker, createAsker } from '../conformance/ask.ts'
import { type StartedCluster, startApiServer } from '../conformance/server.ts'

let cluster: StartedCluster
let asker: Asker
before(async () => {
  cluster = await startApiServer()
  asker = createAsker(cluster.kubeconfig)
})
after(async () => {
  asker?.close()
  await cluster?.stop()
})

const SERVICES = '/api/v1/namespaces/default/services'
const ADDRESSES = '/apis/networking.k8s.io/v1/ipaddresses'
const json = async (m: string, p: string, b?: unknown) =>
  JSON.parse((await asker.call({ m, p, b: b === undefined ? undefined : JSON.stringify(b) })).text)

/** Watches from before the act, a second at a time, until it has seen such an event. */
async function addressSeen(name: string, type: 'ADDED' | 'DELETED', act: () => Promise<unknown>): Promise<void> {
  const { metadata } = await json('GET', `${ADDRESSES}?limit=1`)
  await act()
  const path = `${ADDRESSES}?watch=1&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3D${name}`
  for (let i = 0; i < 20; i++) {
    const { text } = await asker.call({ m: 'GET', p: path })
    const lines = text.split('\n').filter((line) => line !== '')
    if (lines.some((line) => JSON.parse(line).type === type)) return
  }
  assert.fail(`${name} was never ${type}`)
}

test('the kubernetes Service has its address in a fresh cluster', async () => {
  for (let i = 0; i < 20; i++) {
    const address = await json('GET', `${ADDRESSES}/10.96.0.1`)
    if (address.kind === 'IPAddress') {
      assert.deepEqual(address.spec.parentRef, { resource: 'services', namespace: 'default', name: 'kubernetes' })
      return
    }
    await asker.call({ m: 'GET', p: `${ADDRESSES}?watch=1&timeoutSeconds=1` })
  }
  assert.fail('10.96.0.1 has no IPAddress')
})

test('an address comes with its Service and goes with it', async () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { clusterIP: '10.96.0.77', ports: [{ port: 1 }] },
  }
  await addressSeen('10.96.0.77', 'ADDED', () => json('POST', SERVICES, service))
  await addressSeen('10.96.0.77', 'DELETED', () => json('DELETE', `${SERVICES}/s`))
})
