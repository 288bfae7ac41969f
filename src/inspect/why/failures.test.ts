/** What counts as a controller's word of failing, and how much of its words is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, SpecAndStatus } from '../../api/object.ts'
import { conditionSays, eventSays, failureLinks } from './failures.ts'
import { lookAt } from './look-fixture.test.ts'

const NOW = Date.parse('2026-01-01T01:00:00Z')
const SINCE = '2026-01-01T00:00:00Z'
const REF = {
  group: 'acme.test',
  version: 'v1',
  resource: 'things',
  kind: 'Thing',
  namespace: 'n',
  name: 'a',
  uid: 'u',
}

const thing = (status: Fields): SpecAndStatus & Fields => ({
  apiVersion: 'acme.test/v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'n', uid: 'u', finalizers: ['acme.test/f'], deletionTimestamp: SINCE },
  status,
})

const eventOf = (type: string, message: string): Fields => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'n' },
  involvedObject: { kind: 'Thing', name: 'a', uid: 'u' },
  type,
  reason: 'Told',
  message,
  source: { component: 'acme-operator' },
  lastTimestamp: '2026-01-01T00:30:00Z',
})

const failures = (status: Fields, ...objects: readonly Fields[]) => {
  const served = [['v1', 'Event']] as const
  return failureLinks(lookAt({ objects, now: NOW, served }), REF, thing(status), true)
}

const withCondition = ([type, status, reason, message]: readonly string[]) => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: SINCE }],
})

for (const condition of [
  ['Installed', 'True', 'AsExpected', 'the failed install of before was done again'],
  ['NotReady', 'False', 'AsExpected', 'no errors found'],
  ['Unhealthy', 'False', 'AsExpected', 'no failures'],
  ['VpcReady', 'False', 'Deleting', 'waiting for the network to go; 0 errors so far'],
  ['Ready', 'Unknown', 'New', 'has not been looked at yet: no error'],
  ['VpcReady', 'False', 'Waiting', 'waiting for subnets (errors: 0)'],
  ['VpcReady', 'False', 'Waiting', 'subnets: 2, errors: 0. They go'],
  ['VpcReady', 'False', 'Deleting', 'waiting until the route is not found'],
  ['NoErrors', 'True', 'AsExpected', 'everything is well'],
  ['NotDegraded', 'True', 'AsExpected', 'everything is well'],
  ['VpcReady', 'False', 'NoErrors', 'on its way'],
])
  test(`a condition that tells of no failure is none: ${condition.join(', ')}`, async () => {
    assert.deepEqual(await failures(withCondition(condition)), [])
  })

for (const condition of [
  ['Uninstalled', 'False', 'UninstallFailed', 'failed pre-delete hook: job failed'],
  ['NotReady', 'True', 'Broken', 'cannot reach the provider'],
  ['VpcReady', 'False', 'Deleting', 'failed to delete the network: access denied'],
  ['VpcReady', 'False', 'DeletionFailed', '10 errors: the network has dependencies'],
  ['NotDegraded', 'False', 'Broken', 'the disk is lost'],
  ['RunReady', 'False', 'Broken', 'an error, and no errors before it'],
  ['VpcReady', 'False', 'Deleting', 'scheduling failed: 0/3 nodes are there'],
  ['VpcReady', 'False', 'Deleting', 'error: none of the replicas answered'],
  ['Ready', 'Unknown', 'Lost', 'no error is known, but the server is unreachable'],
  ['Ready', 'False', 'Waiting', 'on its way'],
])
  test(`a condition that tells of a failure is one: ${condition.join(', ')}`, async () => {
    const [link] = await failures(withCondition(condition))
    assert.equal(link?.cause.kind, 'controller-failing')
  })

test('a message beside a status that is bad is a failure only where it tells of one', async () => {
  assert.deepEqual(await failures({ ready: false, message: 'starting: no errors so far' }), [])
  assert.equal((await failures({ ready: false, message: 'starting: an error' })).length, 1)
})

/** The words that matter, at both ends of a megabyte. */
const LONG = `failed at first: ${'waiting for '.repeat(90_000)} until the disk is gone`
const isCut = (text: string) => {
  assert.ok(text.length < 4096, `${text.length} characters`)
  assert.match(text, /failed at first/)
  assert.match(text, / … .*until the disk is gone/)
}

test('of a message of a megabyte the beginning and the end are told, whatever says it', async () => {
  const statuses = [
    withCondition(['Ready', 'False', 'Broken', LONG]),
    withCondition(['VpcReady', 'False', LONG, LONG]),
    { lastError: LONG },
    { ready: false, message: LONG },
  ]
  const heard = [...statuses.map((status) => failures(status)), failures({}, eventOf('Warning', LONG))]
  for (const links of await Promise.all(heard)) {
    const cause = links[0]?.cause
    assert.ok(cause?.kind === 'controller-failing')
    isCut(cause.message)
    assert.ok(cause.reason.length < 4096)
  }
  isCut(conditionSays(REF, thing(withCondition(['Progressing', 'True', 'Deleting', LONG]))) ?? '')
  const look = lookAt({ objects: [eventOf('Normal', LONG)], now: NOW })
  isCut((await eventSays(look, REF, thing({}))) ?? '')
})
