/** The words for faults: what they mean, and what is said of those that mean nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientName, FaultError, isClient, parseFault } from './grammar.ts'

test('each fault is read, with what it strikes when nothing is said', () => {
  const cases = [
    ['refuse 409 5%', { type: 'refuse', code: '409' }, 'requests', 'update,patch'],
    [
      'refuse 429 first 3',
      { type: 'refuse', code: '429' },
      'requests',
      'get,list,watch,create,update,patch,delete,deletecollection',
    ],
    ['cut before 0.5%', { type: 'cut', when: 'before' }, 'requests', 'create,update,patch,delete,deletecollection'],
    ['cut after every 10', { type: 'cut', when: 'after' }, 'requests', 'create,update,patch,delete,deletecollection'],
    ['stale 20 100%', { type: 'stale', writes: 20 }, 'requests', 'get,list'],
    ['watch drop 5%', { type: 'drop' }, 'events', 'watch'],
    ['watch expire 5%', { type: 'expire' }, 'events', 'watch'],
    ['watch reorder 5%', { type: 'reorder' }, 'events', 'watch'],
    ['watch delay 1m30s 5%', { type: 'delay', ms: 90_000 }, 'events', 'watch'],
  ] as const
  for (const [text, action, strikes, verbs] of cases) {
    const rule = parseFault(text)
    assert.deepEqual(rule.action, action)
    assert.equal(rule.text, text)
    assert.equal(rule.strikes, strikes)
    assert.equal([...rule.verbs].join(), verbs)
  }
})

test('resources, verbs, namespaces and clients narrow it, in any order, and are told in one', () => {
  const rule = parseFault('  cut after  5.0% by my-op*  in a,b on write,get  deployments.apps,pods/status,*/scale ')
  assert.equal(
    rule.text,
    'cut after 5% on create,update,patch,delete,deletecollection,get deployments.apps,pods/status,*/scale in a,b by my-op*',
  )
  assert.deepEqual(rule.namespaces, ['a', 'b'])
  assert.equal(rule.client, 'my-op*')
  assert.deepEqual(rule.resources, [
    { resource: 'deployments', group: 'apps', subresource: undefined },
    { resource: 'pods', group: undefined, subresource: 'status' },
    { resource: undefined, group: undefined, subresource: 'scale' },
  ])
  assert.equal(parseFault(rule.text).text, rule.text)
  assert.equal(parseFault('refuse 500 1% on pods').resources.length, 1)
  assert.deepEqual([...parseFault('refuse 500 1% on list').verbs], ['list'])
})

test('what is wrong is said in one line, with what would be right', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /a fault is missing: .*refuse 409\|429\|500/],
    ['drop 5%', /a fault is one of .*watch drop/],
    ['refuse 404 5%', /"404" is none of 409, 429, 500/],
    ['watch lose 5%', /"lose" is none of drop, expire, reorder, delay/],
    ['cut off 5%', /"off" is none of before, after/],
    ['watch drop', /ends too early: how often/],
    ['watch drop 0%', /"0%" does not say how often: write 5%/],
    ['watch drop 101%', /does not say how often/],
    ['watch drop five', /does not say how often/],
    ['watch drop first 0', /"0" after first must be a number/],
    ['watch drop every -1', /"-1" after every/],
    ['watch delay soon 5%', /"soon" is no time to wait: write 500ms/],
    ['watch delay 2h 5%', /at most 1h/],
    ['stale none 5%', /"none" after stale must be a number from 1/],
    ['watch drop 5% pods', /"pods" is none of on, in, by/],
    ['watch drop 5% on', /what follows on is missing/],
    ['watch drop 5% on create pods', /watch drop is not for create, but for watch/],
    ['refuse 409 5% on create', /refuse 409 is not for create, but for update, patch/],
    ['refuse 500 5% on pods on pods', /says on twice/],
    ['refuse 500 5% on Pods', /"Pods" is no resource: write pods, deployments.apps/],
    ['refuse 500 5% in Default', /"Default" is none of the names a namespace may have/],
    ['refuse 500 5% by *', /components of the cluster must be named/],
    [`refuse 500 5% by ${'x'.repeat(2000)}`, /longer than 1000 characters/],
    ['\u001b[2J 5%', /a fault is one of/],
  ]
  for (const [text, says] of cases)
    assert.throws(
      () => parseFault(text),
      (error: unknown) => error instanceof FaultError && says.test(error.message) && !/\p{Cc}/u.test(error.message),
      text,
    )
})

test('a client is known by the first word of its user agent, and found by that or by all of it', () => {
  const agent = 'manager/v0.0.0 (linux/amd64) kubernetes/$Format/leader-election'
  assert.equal(clientName(agent), 'manager')
  for (const glob of ['manager', 'man*', '*leader-election', 'manager/v0*', '*amd64*'])
    assert.ok(isClient(glob, agent), glob)
  for (const glob of ['anager', 'manager/', 'man', '*election-', 'x*']) assert.ok(!isClient(glob, agent), glob)
  assert.ok(!isClient(`${'*a'.repeat(200)}b`, 'a'.repeat(10_000)))
})
