/** Which requests are struck: by the seed, the rule, and what their client has asked before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestInfo } from '../../api/request.ts'
import { seededInts } from '../../base/random.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { type AskedRequest, createFaults, type FaultInjection, type FaultWords } from './which-requests-are-struck.ts'

const make = (faults: FaultWords, seed?: number) =>
  createFaults(simulatedRuntime(1), { faults, ...(seed === undefined ? {} : { seed }) })

function asked(verb: string, what: string, userAgent = 'op/v1 (linux)', more: Partial<RequestInfo> = {}): AskedRequest {
  const [resource = '', group = ''] = what.split(/\.(.*)/)
  const info: RequestInfo = {
    isResource: true,
    verb,
    path: '',
    group,
    version: 'v1',
    resource,
    subresource: '',
    namespace: 'default',
    name: 'n',
    ...more,
  }
  return { info, userAgent, isOwn: userAgent.startsWith('kube') }
}

const struck = (faults: FaultInjection, ...requests: readonly AskedRequest[]) =>
  requests.map((one) => faults.strike('requests', one)?.text)

test('the same sequence of requests meets the same faults, whatever others ask in between', () => {
  const rules = ['cut before 30% on write', 'refuse 409 20% on update', 'refuse 500 10%']
  const own = Array.from({ length: 300 }, (_, i) =>
    asked(['create', 'update', 'get'][i % 3] ?? '', ['pods', 'jobs.batch'][i % 2] ?? ''),
  )
  const alone = struck(make(rules, 7), ...own)
  const ints = seededInts(3)
  const crowded = make(rules, 7)
  const met: (string | undefined)[] = []
  for (const one of own) {
    for (let i = ints() % 4; i > 0; i--) crowded.strike('requests', asked('update', 'pods', `other${ints() % 3}/v2`))
    met.push(crowded.strike('requests', one)?.text)
  }
  assert.deepEqual(met, alone)
  assert.ok(new Set(alone).size === 4, 'all rules strike, and not always')
  assert.notDeepEqual(struck(make(rules, 8), ...own), alone)
  const again = make([], 1)
  again.set(rules, 7)
  assert.deepEqual(struck(again, ...own), alone)
  // One more rule behind them changes nothing of what they do.
  const more = make([...rules, 'refuse 429 50%'], 7)
  assert.deepEqual(
    struck(more, ...own).map((text) => (text?.startsWith('refuse 429') ? undefined : text)),
    alone,
  )
})

test('a share is a share, and first and every are counted for each client, resource and verb', () => {
  const many = make(['refuse 500 5%'], 11)
  for (let i = 0; i < 10_000; i++) many.strike('requests', asked('get', 'pods'))
  const [told] = many.status().faults
  assert.equal(told?.met, 10_000)
  assert.ok((told?.struck ?? 0) > 400 && (told?.struck ?? 0) < 600, `${told?.struck}`)

  const counted = make(['refuse 429 first 1 on get', 'cut before every 2 on update'])
  const get = asked('get', 'pods')
  const update = asked('update', 'pods')
  assert.deepEqual(struck(counted, get, get, asked('get', 'nodes'), asked('get', 'pods', 'x')), [
    'refuse 429 first 1 on get',
    undefined,
    'refuse 429 first 1 on get',
    'refuse 429 first 1 on get',
  ])
  assert.deepEqual(
    struck(counted, update, update, update, update).map((text) => text !== undefined),
    [false, true, false, true],
  )
})

test('rules are for what they say: verbs, resources with or without group and subresource, namespaces, clients', () => {
  const cases: readonly (readonly [string, AskedRequest, boolean])[] = [
    ['on deployments', asked('get', 'deployments.apps'), true],
    ['on deployments.apps', asked('get', 'deployments.apps'), true],
    ['on deployments.extensions', asked('get', 'deployments.apps'), false],
    ['on pods', asked('get', 'pods', 'op', { subresource: 'status' }), true],
    ['on pods/status', asked('get', 'pods'), false],
    ['on */status', asked('get', 'pods', 'op', { subresource: 'status' }), true],
    ['on *,pods/status', asked('get', 'nodes'), true],
    ['on list', asked('get', 'pods'), false],
    ['in default', asked('get', 'pods'), true],
    ['in kube-system', asked('get', 'pods'), false],
    ['in default', asked('get', 'nodes', 'op', { namespace: '' }), false],
    ['by op', asked('get', 'pods'), true],
    ['by other', asked('get', 'pods'), false],
    ['', asked('get', 'pods', 'kube-scheduler'), false],
    ['by kube-scheduler', asked('get', 'pods', 'kube-scheduler'), true],
    ['by kube-*', asked('get', 'pods', 'kube-scheduler'), true],
  ]
  for (const [words, one, isStruck] of cases)
    assert.equal(make([`refuse 500 100% ${words}`]).strike('requests', one) !== undefined, isStruck, words)
})

test('they are written as a list or by what happens, and changed while they strike', () => {
  const faults = make({ 'watch drop': '5%', 'refuse 409': ['first 1', 'every 5 on update pods'] }, 5)
  assert.deepEqual(
    faults.status().faults.map(({ fault }) => fault),
    ['watch drop 5%', 'refuse 409 first 1', 'refuse 409 every 5 on update pods'],
  )
  assert.throws(() => faults.add(['watch drop 5.00%']), /there twice/)
  assert.throws(() => faults.set(['refuse 500 5%', 'nonsense']), /a fault is one of/)
  assert.throws(() => faults.clear(['refuse 500 5%']), /there is no fault/)
  assert.throws(() => faults.set([], 1.5), /seed 1.5 is no whole number/)
  assert.throws(() => make([], -1), /seed -1/)
  for (const words of ['watch drop 5%', null, 5])
    assert.throws(() => faults.set(words as never), { name: 'FaultError', message: /faults are a list such as/ })
  assert.throws(() => faults.set([5] as never), /a fault is a text, not 5/)
  assert.throws(() => make(Array.from({ length: 101 }, (_, i) => `refuse 500 every ${i + 1}`)), /more than 100/)
  assert.equal(faults.status().faults.length, 3)

  faults.add(['cut before 100% on get'])
  assert.deepEqual(struck(faults, asked('get', 'pods', 'op', { subresource: 'log' })), ['cut before 100% on get'])
  const [last] = faults.status().last
  const { time, ...told } = last ?? { time: '' }
  assert.match(time, /^\d{4}-.*\.\d{6}Z$/)
  assert.deepEqual(told, {
    number: 1,
    fault: 'cut before 100% on get',
    client: 'op',
    verb: 'get',
    resource: 'pods/log',
    namespace: 'default',
    name: 'n',
    count: 1,
  })
  faults.clear(['watch drop 5%'])
  assert.equal(faults.status().faults.length, 3)
  faults.clear()
  assert.ok(faults.isQuiet)
  assert.deepEqual(faults.status(), { seed: 5, faults: [], last: [] })
})
