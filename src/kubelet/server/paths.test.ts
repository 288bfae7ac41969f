import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import { kubeletRoutes } from './routes.ts'

const route = kubeletRoutes({ runtime: liveRuntime(), nodeName: 'n', kubelet: () => undefined })

async function said(asked: string, routes = route): Promise<readonly [status: number, body: string, allow: string]> {
  const [method = '', target = ''] = asked.split(' ')
  const [path = '', query = ''] = target.split('?')
  const request = { method, path, query: new URLSearchParams(query), headers: {}, signal: new AbortController().signal }
  const answer = await routes(request as unknown as ApiRequest)
  const body = answer.kind === 'bytes' ? Buffer.concat(answer.bytes).toString() : ''
  return [answer.status, body, String(answer.headers?.['allow'] ?? '')]
}

/** What a kubelet v1.37.1 answered on 2026-11-27 to a client with all rights; it had no pods. */
const RECORDED: readonly (readonly [asked: string, status: number, body: string, allow?: string])[] = [
  ['GET /pods/x', 404, '404: Page Not Found'],
  ['POST /runningpods/', 405, '405: Method Not Allowed', 'GET'],
  ['GET /runningpods/x', 404, '404: Page Not Found'],
  ['POST /logs/', 405, '405: Method Not Allowed', 'GET'],
  ['OPTIONS /pods', 405, '405: Method Not Allowed', 'GET'],
  ['GET /exec', 404, '404: Page Not Found'],
  ['GET /exec/', 404, '404: Page Not Found'],
  ['GET /exec/a', 404, '404: Page Not Found'],
  ['GET /exec/a/b', 404, '404: Page Not Found'],
  ['POST /exec/a/b/c?output=1', 404, 'pod does not exist'],
  ['PUT /exec/a/b/c?output=1', 405, '405: Method Not Allowed', 'GET, POST'],
  ['GET /exec/a/b/c/d?output=1', 404, 'pod does not exist'],
  ['GET /exec/a/b/c/d/e?output=1', 404, '404: Page Not Found'],
  ['GET /attach/a/b/c?output=1', 404, 'pod does not exist'],
  ['GET /attach/a/b/c/d?output=1', 404, 'pod does not exist'],
  ['GET /attach/a', 404, '404: Page Not Found'],
  ['GET /portForward/a', 404, '404: Page Not Found'],
  ['GET /portForward/a/b', 404, 'pod does not exist'],
  ['GET /portForward/a/b/c', 404, 'pod does not exist'],
  ['GET /portForward/a/b/c/d', 404, '404: Page Not Found'],
  ['PUT /portForward/a/b', 405, '405: Method Not Allowed', 'GET, POST'],
  ['GET /containerLogs', 404, '404: Page Not Found'],
  ['GET /containerLogs/a/b', 404, '404: Page Not Found'],
  ['POST /containerLogs/a/b/c', 405, '405: Method Not Allowed', 'GET'],
  ['GET /containerLogs/a/b/c/d', 404, '404: Page Not Found'],
  ['GET /containerLogs/a/b/c?tailLines=x', 400, '{"message": "Unable to decode query."}'],
  ['GET /containerLogs/a/b/c?limitBytes=-1', 422, '{"message": "Invalid request."}'],
  ['GET /containerLogs/a/b/c?sinceSeconds=0', 422, '{"message": "Invalid request."}'],
  ['POST /run/a/b/c', 404, 'pod does not exist'],
  ['POST /run/a/b/c/d', 404, 'pod does not exist'],
  ['POST /run/a', 404, '404: Page Not Found'],
  ['GET /run/a/b/c/d', 405, '405: Method Not Allowed', 'POST'],
  ['GET /debug', 404, '404 page not found\n'],
  ['GET /debug/pprof', 307, '<a href="/debug/pprof/">Temporary Redirect</a>.\n\n'],
  ['GET /debug/pprof/', 404, '404: Page Not Found'],
  ['GET /debug/pprof/x', 404, 'Unknown profile\n'],
  ['POST /debug/pprof/heap', 405, '405: Method Not Allowed', 'GET'],
  ['POST /checkpoint/a/b/c', 404, 'pod does not exist'],
  ['POST /checkpoint/a/b', 404, '404: Page Not Found'],
  ['GET /checkpoint', 307, '<a href="/checkpoint/">Temporary Redirect</a>.\n\n'],
  ['POST /checkpoint/a/b/c/d', 404, '404: Page Not Found'],
  ['PUT /stats/summary', 405, '405: Method Not Allowed', 'GET, POST'],
  ['GET /stats/x/y', 404, '404: Page Not Found'],
  ['POST /stats/', 404, '404: Page Not Found'],
  ['GET /metrics/probes/', 404, '404 page not found\n'],
  ['GET //pods', 307, '<a href="/pods">Temporary Redirect</a>.\n\n'],
  ['GET /pods//', 307, '<a href="/pods/">Temporary Redirect</a>.\n\n'],
  ['GET /attach', 404, '404: Page Not Found'],
  ['GET /portForward', 404, '404: Page Not Found'],
  ['GET /run', 404, '404: Page Not Found'],
  ['GET /containerLogs/', 404, '404: Page Not Found'],
]

test('paths and methods that a kubelet does not have are refused as a kubelet refuses them', async () => {
  for (const [asked, status, body, allow = ''] of RECORDED)
    assert.deepEqual(await said(asked), [status, body, allow], asked)
})

test('without debugging handlers paths for people are there, and closed', async () => {
  const closed = kubeletRoutes({
    ...{ runtime: liveRuntime(), nodeName: 'n', kubelet: () => undefined },
    debugging: false,
  })
  const [missing, disabled] = ['404 page not found\n', 'Debug endpoints are disabled.\n']
  for (const path of ['/statusz', '/flagz', '/configz', '/checkpoint', '/debug/x', '/nope'])
    assert.deepEqual(await said(`GET ${path}`, closed), [404, missing, ''], path)
  for (const path of ['/exec/', '/exec/a/b', '/run/a/b/c', '/logs/', '/debug/pprof/', '/runningpods/'])
    assert.deepEqual(await said(`PUT ${path}`, closed), [405, disabled, ''], path)
  const redirect = '<a href="/exec/">Temporary Redirect</a>.\n\n'
  assert.deepEqual(await said('GET /exec', closed), [307, redirect, ''])
  assert.deepEqual(await said('POST /pods', closed), [405, '405: Method Not Allowed', 'GET'])
})

test('what the kubelet is and was started with is told for people', async () => {
  const flags = { 'hostname-override': 'n', 'node-ip': '' }
  const routes = kubeletRoutes({ runtime: liveRuntime(), nodeName: 'n', kubelet: () => undefined, flags })
  assert.match((await said('PUT /flagz', routes))[1], /^\nkubelet flagz\nWarning: .*\nhostname-override n\nnode-ip \n$/)
  assert.match(
    (await said('GET /statusz', routes))[1],
    /\nBinary version= 1\.37\.1\nEmulation version= 1\.37\nPaths= \/configz /,
  )
  assert.deepEqual(await said('GET /debug/pprof/symbol'), [200, 'num_symbols: 1\n', ''])
})
