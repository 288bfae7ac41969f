import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { requestInfoOf } from '../request/info.ts'
import { createMemoryLimit } from './memory-limit.ts'
import type { PriorityLevel } from './priority-levels.ts'

const MIB = 1 << 20
const LIMIT = 1000 * MIB
const admin = { name: 'a', groups: ['system:masters'] }
const user = { name: 'u', groups: ['system:authenticated'] }
const level = (name: string) => ({ name, exempt: name === 'exempt' }) as PriorityLevel
const info = (method: string, path: string) => requestInfoOf(method, path, new URLSearchParams())
const PODS = '/api/v1/namespaces/x/pods'

function limited() {
  const runtime = simulatedRuntime(1)
  const said = { used: 0, live: 0, shrunk: 0, collected: 0 }
  const memory = createMemoryLimit(runtime, {
    limit: LIMIT,
    used: () => said.used,
    collect: () => {
      said.collected++
      said.used = Math.min(said.used, said.live)
    },
  })
  memory.onPressure(() => said.shrunk++)
  /** So much is used, and so much of it is no garbage. */
  const uses = async (used: number, live = used) => {
    said.used = used * MIB
    said.live = live * MIB
    await runtime.advance(1000)
  }
  const refused = (method: string, path: string, of: string | null = 'workload-low', by = user) =>
    memory.refuses(info(method, path), by, of === null ? undefined : level(of))
  return { memory, said, uses, refused }
}

test('far from the limit nothing is given up, then history is, before anything is refused', async () => {
  const { memory, said, uses, refused } = limited()
  await uses(600)
  assert.deepEqual([memory.pressure, said.shrunk], ['none', 0])
  await uses(750)
  assert.equal(memory.pressure, 'shrinking')
  assert.ok(said.shrunk > 0)
  assert.equal(refused('POST', PODS), false)
})

test('near the limit what is of ordinary priority is refused; health, Leases, nodes, components, administrators and deletes are not', async () => {
  const { memory, uses, refused } = limited()
  await uses(850)
  assert.equal(memory.pressure, 'refusing')
  assert.deepEqual(
    [refused('POST', PODS), refused('GET', PODS), refused('GET', PODS, 'global-default'), refused('GET', '/livez')],
    [true, true, true, false],
  )
  assert.equal(refused('DELETE', `${PODS}/a`), false)
  assert.equal(refused('GET', PODS, 'exempt', admin), false)
  assert.equal(refused('POST', PODS, 'workload-high'), false)
  assert.equal(refused('PATCH', '/api/v1/nodes/n/status', 'system'), false)
  assert.equal(refused('PUT', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n', 'node-high'), false)
  await uses(500)
  assert.equal(refused('POST', PODS), false)
})

test('right before the limit nobody but administrators makes it grow, components of the process neither', async () => {
  const { memory, uses, refused } = limited()
  await uses(950)
  assert.equal(memory.pressure, 'not growing')
  assert.equal(refused('POST', PODS, 'workload-high'), true)
  assert.equal(refused('POST', PODS, null), true)
  assert.equal(refused('POST', PODS, null, admin), false)
  // What is there goes on, and may go.
  assert.equal(refused('POST', `${PODS}/a/binding`, null), false)
  assert.equal(refused('PATCH', `${PODS}/a/status`, null), false)
  assert.equal(refused('DELETE', `${PODS}/a`, null), false)
  assert.equal(refused('POST', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', null), false)
})

test('ordinary users hold their Leases near the limit, but make none, nor anything of another group that is called so', async () => {
  const { uses, refused } = limited()
  const leases = '/apis/coordination.k8s.io/v1/namespaces/x/leases'
  for (const used of [850, 950]) {
    await uses(used)
    assert.deepEqual([refused('GET', `${leases}/a`), refused('PUT', `${leases}/a`)], [false, false])
    assert.deepEqual([refused('POST', leases), refused('PATCH', `${leases}/a`)], [true, true])
    const own = '/apis/example.com/v1/namespaces/x/leases'
    assert.deepEqual([refused('POST', own), refused('PUT', `${own}/a`)], [true, true])
    assert.equal(refused('POST', leases, 'leader-election'), false)
    assert.equal(refused('POST', leases, 'node-high'), false)
  }
})

test('garbage is collected before anything is refused for it, and not again and again', async () => {
  const { memory, said, uses, refused } = limited()
  await uses(950, 400)
  assert.deepEqual([memory.pressure, said.collected, refused('POST', PODS)], ['none', 1, false])
  for (let second = 0; second < 8; second++) await uses(950)
  assert.equal(memory.pressure, 'not growing')
  assert.equal(said.collected, 1)
  await uses(950, 400)
  await uses(950, 400)
  assert.equal(said.collected, 2)
})
