import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, RequestInfo } from '../../api/request.ts'
import { requestInfoOf, withRequestInfo } from './info.ts'

const info = (method: string, target: string) => {
  const url = new URL(target, 'http://h')
  const { verb, group, version, resource, subresource, namespace, name, isResource } = requestInfoOf(
    method,
    url.pathname,
    url.searchParams,
  )
  return isResource ? [verb, group, version, namespace, resource, name, subresource].join(' ') : `non-resource ${verb}`
}

test('a path is read by the rules of RequestInfo', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['GET', '/api/v1/namespaces/n/pods', 'list  v1 n pods  '],
    ['GET', '/api/v1/namespaces/n/pods/p', 'get  v1 n pods p '],
    ['GET', '/api/v1/namespaces/n/pods?watch=1', 'watch  v1 n pods  '],
    ['GET', '/api/v1/namespaces/n/pods?watch=false', 'list  v1 n pods  '],
    ['GET', '/api/v1/watch/namespaces/n/pods', 'watch  v1 n pods  '],
    ['GET', '/api/v1/watch/namespaces/n/pods/p/status', 'watch  v1 n pods p status'],
    ['GET', '/api/v1/proxy/namespaces/n/pods/p/status', 'proxy  v1 n pods p '],
    ['PUT', '/api/v1/namespaces/n/pods/p/status', 'update  v1 n pods p status'],
    ['PUT', '/api/v1/namespaces/n/finalize', 'update  v1 n namespaces n finalize'],
    ['GET', '/api/v1/namespaces/n', 'get  v1 n namespaces n '],
    ['GET', '/api/v1/namespaces', 'list  v1  namespaces  '],
    ['DELETE', '/apis/apps/v1/namespaces/n/deployments', 'deletecollection apps v1 n deployments  '],
    ['PATCH', '/apis/apps/v1/namespaces/n/deployments/d/scale', 'patch apps v1 n deployments d scale'],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dx', 'list  v1  nodes x '],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3D%3Dx,spec.a!%3Db', 'list  v1  nodes x '],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name!%3Dx,metadata.name%3Dy&watch=1', 'watch  v1  nodes y '],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name!%3Dx', 'list  v1  nodes  '],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dx,metadata.name', 'list  v1  nodes  '],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dx/y', 'list  v1  nodes  '],
    ['GET', '/api/v1', 'non-resource get'],
    ['GET', '/apis/apps/v1', 'non-resource get'],
    ['GET', '/healthz', 'non-resource get'],
    ['GET', '/%61pi/v1%2Fnamespaces/n/pods/%C3%A9', 'get  v1 n pods é '],
    ['GET', '/api/v1/nodes/%E9', 'get  v1  nodes \ufffd '],
  ]
  for (const [method, path, expected] of cases) assert.equal(info(method, path), expected, `${method} ${path}`)
})

test('a request is known by its path as it is decoded', () => {
  assert.equal(requestInfoOf('GET', '/healthz%2F%65tcd', new URLSearchParams()).path, '/healthz/etcd')
})

test('a path that cannot be decoded is a bad request', () => {
  assert.throws(() => requestInfoOf('GET', '/api/v1/pods/%zz', new URLSearchParams()), { code: 400 })
})

test('requests for the same have the same info, and each its own where the query says something of it', () => {
  const seen: (RequestInfo | undefined)[] = []
  const filter = withRequestInfo(({ info }) => {
    seen.push(info)
    return { kind: 'bytes', status: 200, contentType: '', bytes: [] }
  })
  const { signal } = new AbortController()
  const infoOf = (path: string, query = '', method = 'GET') => {
    const request: ApiRequest = { method, path, query: new URLSearchParams(query), headers: {}, signal }
    void filter(request)
    return seen.at(-1)
  }
  const list = infoOf('/api/v1/pods')
  assert.equal(infoOf('/api/v1/pods', 'limit=500&watch=false'), list)
  const watch = infoOf('/api/v1/pods', 'watch=1')
  assert.equal(infoOf('/api/v1/pods', 'watch=true&resourceVersion=5'), watch)
  assert.deepEqual([list?.verb, watch?.verb], ['list', 'watch'])
  assert.equal(infoOf('/api/v1/pods', 'fieldSelector=metadata.name%3Da')?.name, 'a')
  assert.equal(infoOf('/api/v1/pods', 'fieldSelector=metadata.name%3Db')?.name, 'b')
  // Of methods there is no end, where anybody may make one up.
  assert.notEqual(infoOf('/api/v1/pods', '', 'MADE-UP'), infoOf('/api/v1/pods', '', 'MADE-UP'))
})

test('where a path says nothing the whole target of the request is told', async () => {
  const filter = withRequestInfo(() => assert.fail('it went on'))
  const { signal } = new AbortController()
  const [path, target] = ['/api/v1/watch', "/api/v1/watch?limit=1&x=<'>"]
  const answer = await filter({
    method: 'GET',
    path,
    target,
    query: new URLSearchParams("limit=1&x=<'>"),
    headers: {},
    signal,
  })
  const told = "/api/v1/watch?limit=1&amp;x=&lt;'&gt;"
  const why = `failed to create RequestInfo: unable to determine kind and namespace from url, ${told}`

  assert.ok(answer.kind === 'bytes')
  assert.deepEqual(answer.headers, { 'x-content-type-options': 'nosniff', 'cache-control': [] })
  assert.deepEqual([answer.status, String(answer.bytes[0])], [500, `Internal Server Error: "${told}": ${why}\n`])
})
