/** What counts as a controller's word of failing, and how much of its words is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, SpecAndStatus } from '../../api/object.ts'
import { failureLinks } from './failures.ts'
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

const failures = (status: Fields, ...objects: readonly Fields[]) => {
  const served = [['v1', 'Event']] as const
  return failureLinks(lookAt({ objects, now: NOW, served }), REF, thing(status), true)
}

const withCondition = ([type, status, reason, message]: readonly string[]) => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: SINCE }],
})

for (const condition of [
  ['NotReady', 'False', 'AsExpected', 'no errors found'],
  ['Unhealthy', 'False', 'AsExpected', 'no failures'],
  ['VpcReady', 'False', 'Deleting', 'waiting for the network to go; 0 errors so far'],
  ['Ready', 'Unknown', 'New', 'has not been looked at yet: no error'],
  ['VpcReady', 'False', 'Waiting', 'waiting for subnets (errors: 0)'],
  ['VpcReady', 'False', 'Deleting', 'waiting until the route is not found'],
  ['NoErrors', 'True', 'AsExpected', 'everything is well'],
  ['NotDegraded', 'True', 'AsExpected', 'everything is well'],
  ['VpcReady', 'False', 'NoErrors', 'on its way'],
])
  test(`a condition that tells of no failure is none: ${condition.join(', ')}`, async () => {
    assert.deepEqual(await failures(withCondition(condition)), [])
  })

for (const condition of [
  ['NotReady', 'True', 'Broken', 'cannot reach the provider'],
  ['VpcReady', 'False', 'Deleting', 'failed to delete the network: access denied'],
  ['VpcReady', 'False', 'DeletionFailed', '10 errors: the network has dependencies'],
  ['NotDegraded', 'False', 'Broken', 'the disk is lost'],
  ['RunReady', 'False', 'Broken', 'an error, and no errors before it'],
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
