import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/generated/types.ts'
import { zoneShares } from './zone-shares.ts'

const node = (zone: string | undefined, cpu: string | undefined, ready = true, labels = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n',
    labels: { ...labels, ...(zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }) },
  },
  status: {
    ...(cpu === undefined ? {} : { allocatable: { cpu } }),
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
})
const shares = (...nodes: readonly Node[]) => {
  const zones = zoneShares(nodes)
  return zones === undefined ? undefined : Object.fromEntries(zones)
}

test('a zone has the share of the processors that its nodes have', () => {
  assert.deepEqual(shares(node('a', '3'), node('b', '500m'), node('a', '4500m')), { a: 0.9375, b: 0.0625 })
})

test('nodes that are not ready and those of the control plane do not count', () => {
  const controlPlane = { 'node-role.kubernetes.io/control-plane': '' }
  const master = { 'node-role.kubernetes.io/master': '' }
  const others = [node('c', '8', false), node(undefined, undefined, false), node('d', '8', true, controlPlane)]
  const zones = shares(node('a', '1'), node('b', '3'), ...others, node(undefined, '8', true, master))
  assert.deepEqual(zones, { a: 0.25, b: 0.75 })
})

test('there are none while one node has no zone or no processors, or all are in one zone', () => {
  const both = [node('a', '1'), node('b', '1')]
  assert.equal(shares(...both, node(undefined, '1')), undefined)
  assert.equal(shares(...both, node('', '1')), undefined)
  assert.equal(shares(...both, node('a', undefined)), undefined)
  assert.equal(shares(...both, node('a', '0')), undefined)
  assert.equal(shares(node('a', '1'), node('a', '1')), undefined)
  assert.equal(shares(), undefined)
})
