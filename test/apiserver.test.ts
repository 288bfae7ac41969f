import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from './harness.ts'

const configMap = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...more },
})
const CM = '/api/v1/namespaces/n/configmaps'
const MERGE = { 'content-type': 'application/merge-patch+json' }

async function withApi(run: (api: Awaited<ReturnType<typeof startTestApi>>) => Promise<void>): Promise<void> {
  const api = await startTestApi()
  try {
    await api.namespace('n')
    await run(api)
  } finally {
    await api.stop()
  }
}

test('what was written is read back, and a write that changes nothing is none', () =>
  withApi(async (api) => {
    const created = await api.request('POST', CM, configMap('a'))
    assert.equal(created.code, 201)
    const read = await api.request('GET', `${CM}/a`)
    assert.deepEqual(read.body, created.body)
    const again = await api.request('PATCH', `${CM}/a`, {}, MERGE)
    assert.equal(again.body.metadata.resourceVersion, created.body.metadata.resourceVersion)
    assert.equal(api.storage.revision, Number(created.body.metadata.resourceVersion))
  }))

test('what no namespace holds has none, whatever the client wrote', () =>
  withApi(async (api) => {
    const role = (name: string) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, namespace: 'elsewhere' },
    })
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
    const apply = { 'content-type': 'application/apply-patch+yaml' }
    for (const [method, where, body, headers] of [
      ['POST', path, role('a'), {}],
      ['PUT', `${path}/a`, role('a'), {}],
      ['PATCH', `${path}/a`, { metadata: { namespace: 'elsewhere', labels: { a: 'b' } } }, MERGE],
      ['PATCH', `${path}/b?fieldManager=m`, role('b'), apply],
    ] as const) {
      const { code, body: made } = await api.request(method, where, body, headers)
      assert.ok(code < 300, `${method} ${where}: ${code}`)
      assert.equal(made.metadata.namespace, undefined)
    }
  }))

test('a PUT with an old resourceVersion conflicts, one without overwrites', () =>
  withApi(async (api) => {
    const { body } = await api.request('POST', CM, configMap('a'))
    const { resourceVersion } = body.metadata
    assert.equal((await api.request('PUT', `${CM}/a`, { ...configMap('a'), data: { x: '1' } })).code, 200)
    const late = await api.request('PUT', `${CM}/a`, configMap('a', { resourceVersion }))
    assert.equal(late.code, 409)
  }))

test('concurrent patches of one object all take effect', () =>
  withApi(async (api) => {
    await api.request('POST', CM, configMap('a'))
    const names = Array.from({ length: 20 }, (_, i) => `k${i}`)
    await Promise.all(names.map((name) => api.request('PATCH', `${CM}/a`, { data: { [name]: '1' } }, MERGE)))
    const { body } = await api.request('GET', `${CM}/a`)
    assert.deepEqual(Object.keys(body.data).sort(), names.sort())
  }))

test('the last finalizer goes with its object, and the watch says so', () =>
  withApi(async (api) => {
    const { body } = await api.request('POST', CM, configMap('a', { finalizers: ['example.com/f'] }))
    const ended = new AbortController()
    const events = await api.watch(`${CM}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, ended.signal)
    assert.equal((await api.request('DELETE', `${CM}/a`)).body.metadata.deletionGracePeriodSeconds, 0)
    const emptied = await api.request('PATCH', `${CM}/a`, { metadata: { finalizers: null } }, MERGE)
    assert.equal(emptied.body.metadata.finalizers, undefined)
    const seen: string[] = []
    for await (const event of events) {
      seen.push(`${event.type} ${event.object.metadata.finalizers ?? ''}`)
      if (event.type === 'DELETED') break
    }
    ended.abort()
    assert.deepEqual(seen, ['MODIFIED example.com/f', 'DELETED example.com/f'])
  }))

test('pages fit together while the collection changes', () =>
  withApi(async (api) => {
    for (const name of ['a', 'b', 'c', 'd']) await api.request('POST', CM, configMap(name))
    const first = await api.request('GET', `${CM}?limit=2`)
    assert.equal(first.body.metadata.remainingItemCount, 2)
    await api.request('DELETE', `${CM}/c`)
    const second = await api.request('GET', `${CM}?limit=2&continue=${first.body.metadata.continue}`)
    const names = [...first.body.items, ...second.body.items].map((item) => item.metadata.name)
    assert.deepEqual(names, ['a', 'b', 'c', 'd'])
  }))

test('a strategic merge patch may name any kind in any version, others only its own', () =>
  withApi(async (api) => {
    await api.request('POST', CM, configMap('a'))
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
    for (const [i, named] of [{ kind: 'Foo' }, { apiVersion: 'v9' }, { apiVersion: 'a/b/c', kind: 'Pod' }].entries()) {
      const { code, body } = await api.request('PATCH', `${CM}/a`, { ...named, data: { i: String(i) } }, strategic)
      assert.deepEqual([code, body.kind, body.apiVersion, body['data'].i], [200, 'ConfigMap', 'v1', String(i)])
      assert.equal((await api.request('PATCH', `${CM}/a`, named, MERGE)).code, 422)
    }
    assert.equal((await api.request('PATCH', `${CM}/a`, { kind: 1 }, strategic)).code, 422)
  }))

test('a role binding is not bound to another role', () =>
  withApi(async (api) => {
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const path = `/apis/${apiVersion}/clusterrolebindings`
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'a' }
    await api.request('POST', path, { apiVersion, kind: 'ClusterRoleBinding', metadata: { name: 'b' }, roleRef })
    const { code, body } = await api.request('PATCH', `${path}/b`, { roleRef: { name: 'c' } }, MERGE)
    assert.equal(code, 422)
    assert.match(body['message'], /roleRef: Invalid value: {"APIGroup":.*,"Name":"c"}: field is immutable$/)
  }))

test('a system priority class is not deleted by its name, there or not, whatever else is asked; its collection is', () =>
  withApi(async (api) => {
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses'
    const name = 'system-node-critical'
    const refused = async (query = '', body?: object) => {
      const { code, body: said } = await api.request('DELETE', `${path}/${name}${query}`, body)
      assert.deepEqual(
        [code, said.message],
        [
          403,
          `priorityclasses.scheduling.k8s.io "${name}" is forbidden: this is a system priority class and cannot be deleted`,
        ],
      )
    }
    await refused()
    const own = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value: 2_000_001_000 }
    assert.equal((await api.request('POST', path, own)).code, 201)
    await refused('?dryRun=All')
    await refused('', { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'another' } })
    assert.equal((await api.request('DELETE', path)).code, 200)
    assert.equal((await api.request('GET', `${path}/${name}`)).code, 404)
  }))

test('an error to a component of this process is thrown, with its reason', () =>
  withApi(async (api) => {
    const request = { method: 'GET', path: `${CM}/nope`, query: new URLSearchParams(), headers: {} }
    const user = { name: 'x', groups: [] }
    await assert.rejects(api.handler({ ...request, user, signal: new AbortController().signal }), {
      reason: 'NotFound',
    })
  }))

test('a store that was closed under the server: health says so, and writes why', () =>
  withApi(async (api) => {
    await api.request('POST', CM, configMap('a'))
    await api.storage.close()
    for (const path of ['/healthz', '/livez', '/readyz']) assert.equal((await api.request('GET', path)).code, 500, path)
    const refused = await api.request('POST', CM, configMap('b'))
    assert.equal(refused.code, 500)
    assert.match(refused.body.message, /the store is closed/)
  }))
