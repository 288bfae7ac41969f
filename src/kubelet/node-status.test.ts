import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeStatus, runtimeVersionOf } from './node-status.ts'

const description = {
  name: 'n',
  ips: ['10.0.0.1'],
  capacity: { cpu: '2', memory: '1Gi', pods: '110' },
  architecture: 'amd64',
  kubeletVersion: 'v1',
  runtimeVersion: 'r://1',
  machineId: 'm',
  bootId: 'b',
}

test('an extended resource that others wrote into the capacity stays, and can be allocated', () => {
  const old = { capacity: { cpu: '1', 'example.com/foo': '5' }, allocatable: { cpu: '1' } }
  const { capacity, allocatable } = nodeStatus(description, 0, old)
  assert.deepEqual(capacity, { ...description.capacity, 'example.com/foo': '5' })
  assert.deepEqual(allocatable, capacity)
})

test("a runtime's version is told whole where it is a semantic one, and by its numbers otherwise", () => {
  for (const [version, shown] of [
    ['1.6.20~ds1', '1.6.20'],
    ['v2.4.0', '2.4.0'],
    ['1.7.27-gke.0', '1.7.27-gke.0'],
    ['1.4.13+azure-2', '1.4.13+azure-2'],
  ] as const)
    assert.equal(runtimeVersionOf('containerd', version), `containerd://${shown}`)
})
