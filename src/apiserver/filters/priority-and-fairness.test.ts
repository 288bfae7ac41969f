import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { ApiResponse, RequestInfo } from '../../api/request.ts'
import { notFound, type StatusError } from '../../api/status.ts'
import { createMetrics } from '../../base/metrics.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { requestInfoOf } from '../request/info.ts'
import type { ServerHandler, ServerRequest } from '../request/server-request.ts'
import { fairness } from './priority-and-fairness.ts'

const answer: ApiResponse = { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [] }

function request(user: string, more: Partial<ServerRequest> & { readonly info?: RequestInfo } = {}): ServerRequest {
  const path = more.path ?? '/version'
  const query = new URLSearchParams()
  return {
    method: 'GET',
    path,
    query,
    headers: {},
    user: { name: user, groups: ['system:authenticated'] },
    connection: { remoteAddress: '' },
    signal: new AbortController().signal,
    info: requestInfoOf(more.method ?? 'GET', path, query),
    ...more,
  }
}

const level = (name: string, limited: Fields): KubeObject => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name, uid: `uid-of-${name}` },
  spec: { type: 'Limited', limited },
})

const schema = (name: string, of: string, matchingPrecedence: number, rule: Fields): KubeObject => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, uid: `uid-of-${name}` },
  spec: {
    priorityLevelConfiguration: { name: of },
    matchingPrecedence,
    distinguisherMethod: { type: 'ByUser' },
    rules: [rule],
  },
})
const everybody = [{ kind: 'Group', group: { name: 'system:authenticated' } }]
const everyUrl = { subjects: everybody, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }
const queued = (more: Fields = {}): Fields => ({
  nominalConcurrencyShares: 1,
  borrowingLimitPercent: 0,
  limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 1, queueLengthLimit: 2 } },
  ...more,
})

/** A server with these levels and schemas: whose requests began, in their order, and the way to end the oldest. */
function workshop(
  objects: readonly KubeObject[],
  options: { inFlight?: number; handler?: ServerHandler; monotonic?: () => number } = {},
) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const simulated = simulatedRuntime(1)
  const { monotonic = simulated.machineClock.monotonic } = options
  const runtime = { ...simulated, machineClock: { ...simulated.machineClock, monotonic } }
  const metrics = createMetrics()
  let generation = 0
  let current = objects
  const reads = {
    list: (_: string, resource: string) =>
      current.filter(({ kind }) => (kind === 'FlowSchema') === (resource === 'flowschemas')) as never,
    generationOf: () => () => generation,
  }
  const working: ServerHandler = (r) => {
    begun.push(r.user?.name ?? '')
    return new Promise((resolve) => ends.push(() => resolve(answer)))
  }
  const filter = fairness({ ...runtime, metrics }, reads, { inFlight: options.inFlight ?? 1, waitMs: 15_000 })
  return {
    begun,
    metrics,
    runtime,
    handler: filter(options.handler ?? working),
    endNext: () => ends.shift()?.(),
    change: (next: readonly KubeObject[]) => {
      current = next
      generation++
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const narrow = [level('narrow', queued()), schema('all', 'narrow', 100, everyUrl)]

test('queues take turns: one client cannot starve another', async () => {
  const { begun, handler, endNext } = workshop(narrow)
  for (const user of ['greedy', 'greedy', 'greedy', 'modest']) void handler(request(user))
  for (let i = 0; i < 4; i++) {
    endNext()
    await settled()
  }
  assert.deepEqual(begun, ['greedy', 'greedy', 'modest', 'greedy'])
})

test('a full queue is answered with 429 and Retry-After in plain text, other users still wait', async () => {
  const { handler, metrics } = workshop(narrow)
  for (let i = 0; i < 3; i++) void handler(request('a'))
  const refused = await handler(request('a'))
  assert.ok(refused.kind === 'bytes')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers?.['retry-after'], '1')
  assert.equal(String(refused.bytes[0]), 'Too many requests, please try again later.\n')
  assert.ok(handler(request('b')) instanceof Promise)
  const labels = 'flow_schema="all",priority_level="narrow"'
  const lines = metrics.text().split('\n')
  assert.ok(lines.includes(`apiserver_flowcontrol_rejected_requests_total{${labels},reason="queue-full"} 1`))
  assert.ok(lines.includes(`apiserver_flowcontrol_current_inqueue_requests{${labels}} 3`))
  assert.ok(lines.includes(`apiserver_flowcontrol_current_executing_requests{${labels}} 1`))
  assert.ok(lines.includes('apiserver_current_inqueue_requests{request_kind="readOnly"} 3'))
})

test('a level that does not queue turns away what it has no seat for', async () => {
  const { handler } = workshop([
    level('narrow', { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } }),
    schema('all', 'narrow', 100, everyUrl),
  ])
  void handler(request('a'))
  assert.equal((await handler(request('b'))).status, 429)
})

test('who waits too long is answered with 429', async () => {
  const { handler, runtime } = workshop(narrow)
  void handler(request('a'))
  const waiting = Promise.resolve(handler(request('a')))
  await runtime.advance(15_000)
  assert.equal((await waiting).status, 429)
})

test('who gives up leaves the queue', async () => {
  const { begun, handler, endNext } = workshop(narrow)
  const gone = new AbortController()
  void handler(request('a'))
  const waiting = Promise.resolve(handler(request('a', { signal: gone.signal })))
  gone.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/)
  void handler(request('b'))
  endNext()
  await settled()
  assert.deepEqual(begun, ['a', 'b'])
})

test('who has gone before he would wait takes no place', async () => {
  const { handler, metrics } = workshop(narrow)
  void handler(request('a'))
  assert.throws(() => handler(request('a', { signal: AbortSignal.abort(new Error('gone')) })), /gone/)
  assert.match(metrics.text(), /current_inqueue_requests\{flow_schema="all",priority_level="narrow"\} 0/)
})

test('a level may have millions of queues, and dealing a hand of them costs no more', { timeout: 10_000 }, () => {
  const queuing = { queues: 10_000_000, handSize: 2, queueLengthLimit: 1000 }
  const { handler, metrics } = workshop([
    level('wide', queued({ limitResponse: { type: 'Queue', queuing } })),
    schema('all', 'wide', 100, everyUrl),
  ])
  for (let i = 0; i <= 1000; i++) void handler(request(`user ${i}`))
  assert.match(metrics.text(), /current_inqueue_requests\{flow_schema="all",priority_level="wide"\} 1000/)
})

test('administrators, health, sessions and components of this process do not wait', async () => {
  const probes = schema('probes', 'exempt', 2, {
    subjects: everybody,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/livez'] }],
  })
  const { begun, handler } = workshop([...narrow, probes])
  void handler(request('first'))
  void handler(request('admin', { user: { name: 'admin', groups: ['system:masters'] } }))
  void handler(request('probe', { path: '/livez/ping' }))
  void handler(request('log', { path: '/api/v1/namespaces/a/pods/b/log' }))
  const { connection: _, ...inProcess } = request('component')
  void handler(inProcess)
  assert.deepEqual(begun, ['first', 'admin', 'probe', 'log', 'component'])
})

test('a crowd of exempt connections that ask as fast as they are answered holds up none that asks now and then', async () => {
  let now = 0
  const begun: string[] = []
  const { handler, runtime } = workshop(narrow, {
    monotonic: () => now,
    handler: ({ path }) => {
      begun.push(path)
      now += 1
      return answer
    },
  })
  const user = { name: 'admin', groups: ['system:masters'] }
  const client = () => ({ user, connection: { remoteAddress: '' } })
  let isOver = false
  const pressing = async () => {
    const own = client()
    while (!isOver) await handler(request('', own))
  }
  const crowd = Array.from({ length: 400 }, pressing)
  while (begun.length < 400 * 5) await runtime.step()
  for (let round = 0; round < 5; round++) {
    const asked = begun.length
    const modest = handler(request('', { ...client(), path: '/livez' }))
    await runtime.complete(Promise.resolve(modest))
    assert.ok(begun.lastIndexOf('/livez') - asked < 40, `behind ${begun.lastIndexOf('/livez') - asked} others`)
  }
  isOver = true
  await runtime.complete(Promise.all(crowd))
})

test('the first schema that matches in order of precedence decides, and names itself and its level in the answer', async () => {
  const rule = (resource: string, more: Fields = {}) => ({
    subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } }],
    resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: [resource], namespaces: ['a'], ...more }],
  })
  const { handler } = workshop(
    [
      ...narrow,
      level('other', queued()),
      schema('dangling', 'nowhere', 1, everyUrl),
      schema('maps', 'other', 50, rule('configmaps')),
      schema('status', 'other', 50, rule('nodes/status', { clusterScope: true })),
      schema('late', 'narrow', 60, rule('configmaps')),
    ],
    { inFlight: 100, handler: () => answer },
  )
  const user = { name: 'system:serviceaccount:a:b', groups: ['system:authenticated'] }
  const flowOf = async (path: string) =>
    (await handler(request('', { path, user }))).headers?.['x-kubernetes-pf-flowschema-uid']
  assert.equal(await flowOf('/api/v1/namespaces/a/configmaps/x'), 'uid-of-maps')
  assert.equal(await flowOf('/api/v1/nodes/n/status'), 'uid-of-status')
  // No other schema takes resources, and the last one of all is only there in thought.
  assert.equal(await flowOf('/api/v1/namespaces/b/configmaps/x'), undefined)
  assert.equal(await flowOf('/version'), 'uid-of-all')
})

test('a refusal names them too', async () => {
  const { handler } = workshop(narrow, {
    handler: () => {
      throw notFound({ group: '', resource: 'pods' }, 'x')
    },
  })
  assert.throws(
    () => handler(request('a')),
    ({ headers }: StatusError) => headers?.['x-kubernetes-pf-prioritylevel-uid'] === 'uid-of-narrow',
  )
})

test('seats are shared out, and free ones are lent as far as both levels let them', async () => {
  const { begun, handler, metrics } = workshop(
    [
      level('lender', queued({ nominalConcurrencyShares: 6, lendablePercent: 50 })),
      level('borrower', queued({ nominalConcurrencyShares: 4, borrowingLimitPercent: 50 })),
      schema('all', 'borrower', 100, everyUrl),
    ],
    { inFlight: 10 },
  )
  for (let i = 0; i < 12; i++) void handler(request('a'))
  // catch-all has 5 shares of 15: the levels have 4, 3 and 4 seats, of which the lender gives 2 and the borrower takes 2.
  assert.equal(begun.length, 5)
  const lines = metrics.text().split('\n')
  assert.ok(lines.includes('apiserver_flowcontrol_nominal_limit_seats{priority_level="lender"} 4'))
  assert.ok(lines.includes('apiserver_flowcontrol_lower_limit_seats{priority_level="lender"} 2'))
  assert.ok(lines.includes('apiserver_flowcontrol_upper_limit_seats{priority_level="borrower"} 5'))
})

test('changed levels hold at once, for those who wait too', async () => {
  const { begun, handler, change } = workshop(narrow, { inFlight: 10 })
  const seats = 10 / 6
  for (let i = 0; i < Math.ceil(seats) + 2; i++) void handler(request('a'))
  assert.equal(begun.length, 2)
  change([level('narrow', queued({ nominalConcurrencyShares: 100 })), ...narrow.slice(1)])
  void handler(request('b'))
  assert.equal(begun.length, 5)
})

test('thousands that waited and are answered at once do not end one inside the other', async () => {
  let endFirst = () => {}
  const first = new Promise<ApiResponse>((resolve) => {
    endFirst = () => resolve(answer)
  })
  let asked = 0
  const queuing = { queues: 1, handSize: 1, queueLengthLimit: 50_000 }
  const deep = [
    level('narrow', queued({ limitResponse: { type: 'Queue', queuing } })),
    schema('all', 'narrow', 100, everyUrl),
  ]
  const { handler } = workshop(deep, { handler: () => (asked++ === 0 ? first : answer) })
  void handler(request('first'))
  const waiting = Array.from({ length: 8_000 }, () => handler(request('many')))
  endFirst()
  const answers = await Promise.all(waiting)
  assert.ok(answers.every(({ status }) => status === 200))
  assert.ok(!(handler(request('next')) instanceof Promise), 'the place is free again')
})
