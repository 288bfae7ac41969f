import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { createKubelets, isSimulatedNode, preferredAddresses } from './kubelets.ts'

const node = (status: object): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status })
const at = (address: string, Port?: number) =>
  node({
    addresses: [{ type: 'InternalIP', address }],
    ...(Port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port } } }),
  })

test('a kubelet serves where its node says, at 10250 where it does not say', () => {
  const kubelets = createKubelets()
  const serverOf = (one: KubeObject) => kubelets.locate(one).server
  assert.equal(serverOf(at('192.0.2.1', 1234)), 'https://192.0.2.1:1234')
  assert.equal(serverOf(at('2001:db8::1')), 'https://[2001:db8::1]:10250')
  assert.equal(kubelets.locate(at('192.0.2.1'), { address: '192.0.2.9' }).server, 'https://192.0.2.9:10250')
  kubelets.close()
})

test('of its addresses those of the preferred types come first, and without any there is none', () => {
  const known = ['Hostname', 'ExternalIP', 'InternalIP'].map((type) => ({ type, address: type }))
  assert.deepEqual(preferredAddresses(node({ addresses: known })), ['InternalIP', 'ExternalIP', 'Hostname'])
  assert.deepEqual(preferredAddresses(node({ addresses: known }), ['Hostname']), ['Hostname'])
  assert.throws(() => preferredAddresses(node({}), ['Hostname']), { message: /no preferred addresses found/ })
})

test('however many pods are asked, kubelets keep their connections', () => {
  const kubelets = createKubelets()
  const first = kubelets.locate(at('192.0.2.1')).client
  for (let port = 1; port <= 2000; port++) kubelets.clientOf({ server: `http://192.0.2.2:${port}` })
  assert.equal(kubelets.locate(at('192.0.2.1')).client, first)
  for (let port = 1; port <= 2000; port++) kubelets.locate(at('192.0.2.3', port))
  assert.notEqual(kubelets.locate(at('192.0.2.1')).client, first, 'they are bounded themselves')
  kubelets.close()
})

test('a node is simulated when its runtime says so', () => {
  const runs = (containerRuntimeVersion: string) => node({ nodeInfo: { containerRuntimeVersion } })
  assert.deepEqual(
    [isSimulatedNode(runs('simulated://1')), isSimulatedNode(runs('containerd://2')), isSimulatedNode(undefined)],
    [true, false, false],
  )
})

test('simulated kubelets of another process are asked through the server there, which asks no other', async () => {
  const asked: object[] = []
  const kubelets = createKubelets({ peer: () => ({ server: 'https://192.0.2.7:6443' }) }, ({ server }) => ({
    async send({ path, headers = {} }) {
      asked.push({ server, path, headers })
      return { status: 200, headers: {}, bytes: async () => new Uint8Array(), async *chunks() {} }
    },
    upgrade: () => Promise.reject(new Error('not asked')),
    retire: () => {},
    inUse: false,
    close: () => {},
  }))
  const simulated = node({
    nodeInfo: { containerRuntimeVersion: 'simulated://1' },
    addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
  })
  const real = at('192.0.2.2')
  await kubelets.locate(simulated).client.send({ method: 'GET', path: '/containerLogs/d/p/c?follow=true' })
  await kubelets.locate(real).client.send({ method: 'GET', path: '/pods' })
  assert.deepEqual(asked, [
    {
      server: 'https://192.0.2.7:6443',
      path: '/api/v1/nodes/n/proxy/containerLogs/d/p/c?follow=true',
      headers: { 'skiff-forwarded': 'true' },
    },
    { server: 'https://192.0.2.2:10250', path: '/pods', headers: {} },
  ])
  assert.deepEqual(
    [kubelets.answers(simulated), kubelets.answers(simulated, true), kubelets.answers(real, true)],
    [true, false, true],
  )
  kubelets.close()
})
