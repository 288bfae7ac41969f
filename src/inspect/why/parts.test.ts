/** What an object owns and what was made after its delete: whether it was made for its end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { lastCause } from './finding.ts'
import { lookAt } from './look-fixture.test.ts'
import { partLinks } from './parts.ts'
import { examine } from './what-holds-an-object.ts'

const SINCE = '2026-01-01T00:00:00Z'
const NOW = Date.parse(SINCE) + 3_600_000
const minutes = (count: number) => new Date(Date.parse(SINCE) + count * 60_000).toISOString().replace('.000', '')
const REF = {
  group: 'shop.example.com',
  version: 'v1',
  resource: 'shops',
  kind: 'Shop',
  namespace: 'n',
  name: 's',
  uid: 'u',
}
const API = 'shop.example.com/v1'

const shop = (...conditions: readonly Fields[]): Fields => ({
  apiVersion: API,
  kind: 'Shop',
  metadata: { name: 's', namespace: 'n', uid: 'u', deletionTimestamp: SINCE, finalizers: ['shop.example.com/cleanup'] },
  spec: {},
  status: { conditions },
})

/** A Report of so many minutes after the delete. */
const report = (name: string, made: number, message = 'failed to send'): Fields => ({
  apiVersion: API,
  kind: 'Report',
  metadata: {
    name,
    namespace: 'n',
    uid: name,
    creationTimestamp: minutes(made),
    ownerReferences: [{ apiVersion: API, kind: 'Shop', name: 's', uid: 'u' }],
  },
  status: {
    conditions: [{ type: 'Ready', status: 'False', reason: 'Failed', message, lastTransitionTime: minutes(made) }],
  },
})

async function partsOf(owner: Fields, ...reports: readonly Fields[]) {
  const look = lookAt({
    objects: [owner, ...reports],
    now: NOW,
    served: [
      ['v1', 'Event'],
      ['v1', 'Namespace'],
    ],
  })
  const links = await partLinks(look, REF, owner as KubeObject, examine)
  return links.map((link) => {
    const { cause, inferred } = lastCause(link)
    return [link.cause.kind === 'part' ? link.cause.part.name : '', cause.kind, inferred]
  })
}

test('what is made every night says nothing of the end of its owner', async () => {
  assert.deepEqual(await partsOf(shop(), report('old', -600), report('new', 10)), [])
})

test('the first of its kind may have been made for the end, which is inferred', async () => {
  assert.deepEqual(await partsOf(shop(), report('new', 10)), [['new', 'controller-failing', true]])
})

test('so may one of a kind that its owner has named since its delete', async () => {
  const named = (at: string) => ({
    type: 'Gone',
    status: 'False',
    message: 'waits for Report new',
    lastTransitionTime: at,
  })
  const reports = [report('old', -600), report('new', 10)]
  assert.deepEqual(await partsOf(shop(named(minutes(11))), ...reports), [['new', 'controller-failing', true]])
  assert.deepEqual(await partsOf(shop(named(minutes(-11))), ...reports), [])
})

test('of many the newest are looked at', async () => {
  const names = (await partsOf(shop(), ...Array.from({ length: 10 }, (_, at) => report(`r${at}`, 20 - at)))).map(
    ([name]) => name,
  )
  assert.deepEqual(names.toSorted(), ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'])
})
