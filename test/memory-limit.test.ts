/** --memory-limit, seen by those who ask a cluster whose process uses as much as it may, and no longer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBenchClient } from '../bench/client.ts'
import { collectGarbage, usedMemory } from '../src/base/memory.ts'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { startCluster } from '../src/cluster/index.ts'

const LIMIT = 512 << 20
const json = (value: object) => ({ bytes: Buffer.from(JSON.stringify(value)) })
const named = (name: string) => json({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const MAPS = '/api/v1/namespaces/default/configmaps'

test('at the limit ordinary users are refused and may delete; health, Leases and administrators are answered; then all is well again', async () => {
  const cluster = await startCluster({
    storage: 'memory',
    components: ['apiserver'],
    security: { memoryLimit: String(LIMIT) },
  })
  const endpoint = endpointFromKubeconfig(cluster.kubeconfig)
  const admin = createBenchClient(endpoint)
  const user = createBenchClient(endpoint, 4, { 'impersonate-user': 'u' })
  const code = async (client: typeof admin, method: string, path: string, body?: ReturnType<typeof json>) =>
    (await client.request(method, path, body)).code
  const until = async (wanted: number) => {
    while ((await code(user, 'GET', MAPS)) !== wanted) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'u' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'u' }],
  }
  try {
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    assert.equal(await code(admin, 'POST', bindings, json(binding)), 201)
    assert.equal(await code(user, 'POST', MAPS, named('a')), 201)

    let ballast: Buffer | undefined = Buffer.alloc(Math.max(1, LIMIT - usedMemory()), 1)
    await until(429)
    assert.equal(await code(user, 'POST', MAPS, named('b')), 429)
    const refused = cluster.clientFor({ name: 'component', groups: ['system:authenticated'] }, 'component')
    const own = { apiVersion: 'v1' as const, kind: 'ConfigMap' as const, metadata: { name: 'b' } }
    const maps = refused.resource({ group: '', version: 'v1', resource: 'configmaps' }).namespace('default')
    await assert.rejects(maps.create(own as never), { code: 429 })
    assert.equal(await code(user, 'DELETE', `${MAPS}/a`), 200)
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    const lease = json({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } })
    assert.equal(await code(user, 'POST', leases, lease), 429)
    assert.equal(await code(admin, 'POST', leases, lease), 201)
    const { body } = await user.request('GET', `${leases}/l`)
    assert.equal(await code(user, 'PUT', `${leases}/l`, { bytes: Buffer.from(body) }), 200)
    assert.equal(await code(user, 'GET', '/livez'), 200)
    assert.equal(await code(admin, 'POST', MAPS, named('c')), 201)
    assert.equal(await code(admin, 'GET', MAPS), 200)
    assert.match((await admin.request('GET', '/metrics')).body.toString(), /skiff_memory_refusals_total [1-9]/)

    assert.ok(ballast.length > 0)
    ballast = undefined
    collectGarbage()
    await until(200)
    assert.equal(await code(user, 'POST', MAPS, named('b')), 201)
  } finally {
    admin.close()
    user.close()
    await cluster.stop()
  }
})

test('a limit that is none, or too small to begin with, is refused', async () => {
  for (const [memoryLimit, message] of [
    ['much', /^--memory-limit: not an amount of memory, as 2Gi: "much"$/],
    ['', /^--memory-limit: not an amount of memory, as 2Gi: ""$/],
    ['64Mi', /^--memory-limit: must be at least 256Mi: 64Mi$/],
    ['-1Gi', /^--memory-limit: must be at least 256Mi: -1Gi$/],
  ] as const)
    await assert.rejects(startCluster({ storage: 'memory', security: { memoryLimit } }), { message })
})
