import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import type { ApiRequest, UserInfo } from '../api/request.ts'
import type { Client } from '../client/client.ts'
import { createDebugHandler } from './debug-handler.ts'
import type { ControllerManager } from './manager.ts'

const graph = '/debug/controllers/garbagecollector/graph'
const manager = {
  garbageCollector: { dot: (uids?: readonly string[]) => `digraph ${uids?.join() ?? 'whole'}` },
} as unknown as ControllerManager

/** Knows one token, and lets only its user see the graph. */
function reviewing(asked: KubeObject[]): Client {
  const create = async (review: KubeObject) => {
    asked.push(review)
    const { spec, kind } = review as KubeObject & { spec: never }
    const { token, user } = spec as { token?: string; user?: string }
    const status =
      kind === 'TokenReview'
        ? token === 'good'
          ? { authenticated: true, user: { username: 'jane', groups: ['dev'] } }
          : {}
        : { allowed: user === 'jane' }
    return { ...review, status }
  }
  return { resource: () => ({ create }) } as unknown as Client
}

const asking = (path: string, headers: Record<string, string> = {}, query = ''): ApiRequest => ({
  method: 'GET',
  path,
  query: new URLSearchParams(query),
  headers,
  signal: new AbortController().signal,
})
const textOf = async (answer: ReturnType<ReturnType<typeof createDebugHandler>>) => {
  const response = await answer
  return response.kind === 'bytes' ? Buffer.concat(response.bytes).toString() : ''
}
const withToken = (token: string) => ({ authorization: `Bearer ${token}` })

test('health is told to anyone, the graph only to whom the reviews allow it', async () => {
  const asked: KubeObject[] = []
  const handler = createDebugHandler({ client: reviewing(asked), manager })
  assert.equal(await textOf(handler(asking('/healthz'))), 'ok')
  assert.deepEqual(asked, [])
  await assert.rejects(async () => handler(asking(graph)), {
    code: 403,
    message: `forbidden: User "system:anonymous" cannot get path "${graph}"`,
  })
  await assert.rejects(async () => handler(asking(graph, withToken('bad'))), { code: 401 })
  assert.equal(await textOf(handler(asking(graph, withToken('good')))), 'digraph whole')
  assert.equal(await textOf(handler(asking(graph, withToken('good'), 'uid=a&uid=b'))), 'digraph a,b')
  const { spec } = asked.at(-1) as unknown as { spec: unknown }
  assert.deepEqual(spec, { user: 'jane', groups: ['dev'], nonResourceAttributes: { path: graph, verb: 'get' } })
})

test('whom a client certificate names needs no token, but a permission', async () => {
  let user: UserInfo = { name: 'jane', groups: [] }
  const handler = createDebugHandler({ client: reviewing([]), manager, certificateUser: () => user })
  assert.equal(await textOf(handler(asking(graph))), 'digraph whole')
  user = { name: 'joe', groups: [] }
  await assert.rejects(async () => handler(asking(graph)), { code: 403 })
})

test('other paths and methods are refused', async () => {
  const handler = createDebugHandler({ client: reviewing([]), manager })
  await assert.rejects(async () => handler(asking('/debug/pprof', withToken('good'))), { code: 404 })
  await assert.rejects(async () => handler({ ...asking(graph, withToken('good')), method: 'POST' }), { code: 405 })
})

test('metrics are for whom the reviews allow the method as a verb, health is what it is given', async () => {
  const asked: KubeObject[] = []
  const page = (body: string) => ({ kind: 'bytes' as const, status: 200, contentType: '', bytes: [Buffer.from(body)] })
  const handler = createDebugHandler({
    client: reviewing(asked),
    manager,
    health: async ({ path }) => page(`whole ${path}`),
    pages: ({ path, method }) => (path === '/metrics' ? page(`${method} metrics`) : undefined),
  })
  assert.equal(await textOf(handler(asking('/healthz'))), 'whole /healthz')
  await assert.rejects(async () => handler(asking('/metrics')), { code: 403 })
  const reset = { ...asking('/metrics', withToken('good')), method: 'DELETE' }
  assert.equal(await textOf(handler(reset)), 'DELETE metrics')
  const { spec } = asked.at(-1) as KubeObject & { readonly spec: { readonly nonResourceAttributes: object } }
  assert.deepEqual(spec.nonResourceAttributes, { path: '/metrics', verb: 'delete' })
})
