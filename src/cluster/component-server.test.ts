import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import type { ApiRequest, Handler, UserInfo } from '../api/request.ts'
import { createMetrics } from '../base/metrics.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import type { Client } from '../client/client.ts'
import { createDelegatedAuth, type DelegatedAuthOptions } from '../client/delegated-auth.ts'
import { GRAPH_PATH as graph, graphPage } from '../controllers/graph-page.ts'
import { componentHandler } from './component-server.ts'

const garbageCollector = { dot: (uids?: readonly string[]) => `digraph ${uids?.join() ?? 'whole'}` }
const { clock } = simulatedRuntime(1)

function handlerFor(client: Client | undefined, more: Partial<DelegatedAuthOptions> = {}): Handler {
  const reviewers = client === undefined ? {} : { authentication: client, authorization: client }
  const metrics = createMetrics()
  metrics.counter('things_total', 'Things.', []).child().add()
  const admit = createDelegatedAuth({ clock, ...reviewers, openPaths: ['/healthz', '/open/*'], ...more })
  const checks = [{ name: 'leaderElection', check: () => {} }]
  return componentHandler({ clock, metrics }, { admit, checks, pages: [graphPage(() => garbageCollector)] })
}

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
const textOf = async (answer: ReturnType<Handler>) => {
  const response = await answer
  return response.kind === 'bytes' ? Buffer.concat(response.bytes).toString() : ''
}
const withToken = (token: string) => ({ authorization: `Bearer ${token}` })

test('health is told to anyone, the graph only to whom the reviews allow it', async () => {
  const asked: KubeObject[] = []
  const handler = handlerFor(reviewing(asked))
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
  const handler = handlerFor(reviewing([]), { certificateUser: () => user })
  assert.equal(await textOf(handler(asking(graph))), 'digraph whole')
  user = { name: 'joe', groups: [] }
  await assert.rejects(async () => handler(asking(graph)), { code: 403 })
})

test('other paths and methods are refused', async () => {
  const handler = handlerFor(reviewing([]))
  const answer = await handler(asking('/debug/pprof', withToken('good')))
  assert.deepEqual(
    answer.kind === 'bytes' && [answer.status, answer.contentType, Buffer.concat(answer.bytes).toString()],
    [404, 'text/plain; charset=utf-8', '404 page not found\n'],
  )
  await assert.rejects(async () => handler({ ...asking(graph, withToken('good')), method: 'POST' }), { code: 405 })
})

test('metrics are for whom the reviews allow the method as a verb', async () => {
  const asked: KubeObject[] = []
  const handler = handlerFor(reviewing(asked))
  assert.match(
    await textOf(handler(asking('/healthz', {}, 'verbose'))),
    /^\[\+\]leaderElection ok\nhealthz check passed/,
  )
  await assert.rejects(async () => handler(asking('/metrics')), { code: 403 })
  assert.match(await textOf(handler(asking('/metrics', withToken('good')))), /^things_total 1$/m)
  const reset = { ...asking('/metrics', withToken('good')), method: 'DELETE' }
  assert.equal(await textOf(handler(reset)), 'metrics reset\n')
  const { spec } = asked.at(-1) as KubeObject & { readonly spec: { readonly nonResourceAttributes: object } }
  assert.deepEqual(spec.nonResourceAttributes, { path: '/metrics', verb: 'delete' })
})

test('an answer of the reviews is kept for a moment, a refusal to believe a token is not', async () => {
  const asked: KubeObject[] = []
  const handler = handlerFor(reviewing(asked))
  for (let i = 0; i < 3; i++) await handler(asking('/metrics', withToken('good')))
  assert.deepEqual(
    asked.map(({ kind }) => kind),
    ['TokenReview', 'SubjectAccessReview'],
  )
  for (let i = 0; i < 2; i++)
    await assert.rejects(async () => handler(asking('/metrics', withToken('bad'))), { code: 401 })
  assert.equal(asked.length, 4)
})

test('without reviewers a token proves nothing, and all but the open paths is forbidden', async () => {
  const handler = handlerFor(undefined)
  assert.equal(await textOf(handler(asking('/healthz'))), 'ok')
  assert.equal(await textOf(handler(asking('/open/nothing'))), '404 page not found\n')
  await assert.rejects(async () => handler(asking('/metrics', withToken('good'))), {
    code: 403,
    message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
  })
})
