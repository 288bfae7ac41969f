import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN, startTestApi } from '../../test/harness.ts'
import type { Node } from '../api/generated/types.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import { startNodeRoutes, wantedRoutes } from './node-routes.ts'

const node = (name: string, podCIDR: string, address: string, creationTimestamp?: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) },
  spec: { podCIDR, podCIDRs: [podCIDR] },
  status: { addresses: [{ type: 'InternalIP', address }] },
})
const place = { nodeName: 'n1', clusterRanges: ['10.244.0.0/20'], links: () => ['10.244.15.1/24', '192.0.2.7/24'] }
const own = node('n1', '10.244.0.0/24', '10.244.0.1')

test('a route leads to each node that is on a link', () => {
  const nodes = [own, node('n2', '10.244.1.0/24', '10.244.15.2'), node('n3', '10.244.2.0/24', '192.0.2.9')]
  assert.deepEqual(
    [...wantedRoutes([...nodes, node('n4', '10.244.3.0/24', '198.51.100.1')], place)],
    [
      ['10.244.1.0/24', '10.244.15.2'],
      ['10.244.2.0/24', '192.0.2.9'],
    ],
  )
})

test('to a node of both families a route of each leads, by its address of that family', () => {
  const of = (number: number): Node => ({
    ...node(`n${number}`, '', ''),
    spec: { podCIDRs: [`10.244.${number - 1}.0/24`, `fd00:10:244:${number - 1}::/64`] },
    status: {
      addresses: ['fd00:10:244:f::', '10.244.15.'].map((prefix) => ({
        type: 'InternalIP',
        address: `${prefix}${number}`,
      })),
    },
  })
  const both = {
    nodeName: 'n1',
    clusterRanges: ['10.244.0.0/20', 'fd00:10:244::/60'],
    links: () => ['10.244.15.1/24', 'fd00:10:244:f::1/64'],
  }
  const routes = [
    ['10.244.1.0/24', '10.244.15.2'],
    ['fd00:10:244:1::/64', 'fd00:10:244:f::2'],
  ]
  assert.deepEqual([...wantedRoutes([of(1), of(2)], both)], routes)
  const claims = { ...of(3), spec: { podCIDRs: ['10.244.2.0/24', 'fd00:10:244:1::/64'] } }
  assert.deepEqual(
    [...wantedRoutes([of(1), of(2), claims], both)].filter(([range]) => range.includes(':')),
    routes.slice(1),
  )
})

test('a node is not believed: neither ranges of others nor such that are not the cluster’s are led to it', () => {
  const claims = ['0.0.0.0/0', '10.244.0.0/25', '10.244.0.0/16', '192.0.2.0/24', '10.244.1.0/24; reboot', '']
  for (const range of claims)
    assert.deepEqual([...wantedRoutes([own, node('bad', range, '10.244.15.9')], place)], [], range)
  const twice = [own, node('n2', '10.244.1.0/24', '10.244.15.2'), node('n9', '10.244.0.0/22', '10.244.15.9')]
  assert.deepEqual([...wantedRoutes(twice, place)], [['10.244.1.0/24', '10.244.15.2']])
})

test('of nodes that claim the same addresses the oldest has them, whatever its name', () => {
  const skiff3 = node('skiff-3', '10.244.2.0/24', '10.244.15.3', '2026-01-01T00:00:00Z')
  for (const range of ['10.244.2.0/24', '10.244.2.0/25']) {
    const later = node('aaa', range, '10.244.15.9', '2026-01-01T00:00:01Z')
    assert.deepEqual([...wantedRoutes([own, later, skiff3], place)], [['10.244.2.0/24', '10.244.15.3']], range)
  }
})

test('a node that tells an address of this machine has no route, and takes no range from another', () => {
  const first = '2026-01-01T00:00:00Z'
  for (const address of ['10.244.15.1', '192.0.2.7']) {
    const bad = node('bad', '10.244.1.0/24', address, first)
    assert.deepEqual([...wantedRoutes([own, bad], place)], [], address)
    const good = node('n2', '10.244.1.0/24', '10.244.15.2', '2026-01-02T00:00:00Z')
    assert.deepEqual([...wantedRoutes([own, bad, good], place)], [['10.244.1.0/24', '10.244.15.2']], address)
  }
  const next = node('n2', '10.244.1.0/24', '10.244.15.10')
  assert.equal(wantedRoutes([own, next], place).size, 1, 'an address that only begins as this machine’s')
})

test('a route that fails keeps none of the others from being made, and alone is tried again', async () => {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime))
  const client = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'test' })
  const nodes = client.resource<Node>({ group: '', version: 'v1', resource: 'nodes' })
  const stopping = new AbortController()
  const tried: string[] = []
  const run = async (_: string, args: readonly string[]) => {
    tried.push(args.slice(1).join(' '))
    if (args.includes('10.244.15.2')) throw new Error('no device')
    return ''
  }
  await runtime.complete(nodes.create(node('n2', '10.244.1.0/24', '10.244.15.2')))
  await runtime.complete(nodes.create(node('n3', '10.244.2.0/24', '10.244.15.3')))
  await runtime.complete(startNodeRoutes({ ...place, runtime, client, run, signal: stopping.signal }))
  const [bad, good] = ['replace 10.244.1.0/24 via 10.244.15.2', 'replace 10.244.2.0/24 via 10.244.15.3']
  assert.deepEqual(new Set(tried.splice(0)), new Set([bad, good]))
  await runtime.complete(nodes.create(node('n4', '10.244.3.0/24', '10.244.15.4')))
  await runtime.advance(100)
  assert.deepEqual(tried.splice(0).toSorted(), [bad, 'replace 10.244.3.0/24 via 10.244.15.4'])
  await runtime.advance(15_000)
  assert.deepEqual(tried.splice(0), [bad, bad, bad], 'looks between do not add up')
  stopping.abort()
  await runtime.advance(20_000)
  assert.deepEqual(tried, [])
  await runtime.complete(api.stop())
})

test('routes follow the nodes: made, moved and taken away, and tried again when they fail', async () => {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime))
  const client = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'test' })
  const nodes = client.resource<Node>({ group: '', version: 'v1', resource: 'nodes' })
  const stopping = new AbortController()
  const told: string[] = []
  let fails = true
  const run = async (_: string, args: readonly string[]) => {
    if (fails) throw new Error('no device')
    told.push(args.slice(1).join(' '))
    return ''
  }
  await runtime.complete(nodes.create(node('n2', '10.244.1.0/24', '10.244.15.2')))
  await runtime.complete(startNodeRoutes({ ...place, runtime, client, run, signal: stopping.signal }))
  assert.deepEqual(told, [])
  fails = false
  await runtime.advance(6000)
  assert.deepEqual(told, ['replace 10.244.1.0/24 via 10.244.15.2'])
  const status = { addresses: [{ type: 'InternalIP', address: '10.244.15.5' }] }
  await runtime.complete(nodes.patch('n2', 'merge', { status }, { subresource: 'status' }))
  await runtime.advance(100)
  await runtime.complete(nodes.delete('n2'))
  await runtime.advance(100)
  assert.deepEqual(told.slice(1), ['replace 10.244.1.0/24 via 10.244.15.5', 'delete 10.244.1.0/24 via 10.244.15.5'])
  stopping.abort()
  await runtime.complete(api.stop())
})
