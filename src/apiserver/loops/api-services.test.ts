import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { conflict, notFound } from '../../api/status.ts'
import type { Aggregator } from '../aggregation/aggregator.ts'
import { ServiceUnresolved } from '../aggregation/service.ts'
import type { ServerReads } from '../reads.ts'
import { startApiServiceLoop } from './api-services.ts'
import { startStandIn } from './test-stand-in.ts'

const GROUP = 'apiregistration.k8s.io'
const NAME = 'v1.example.com'
const WRITE = `PUT /apis/${GROUP}/v1/apiservices/${NAME}/status`
const RESOURCE = { group: GROUP, resource: 'apiservices' }

const apiService = (name: string, spec: object, status?: object): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'APIService',
  metadata: { name },
  spec,
  ...(status === undefined ? {} : { status }),
})
const REMOTE = { service: { namespace: 'default', name: 's' } }

/** A loop whose servers answer as `check` says, at the start. */
function started(check: { now: Aggregator['check'] }, more: Fields | undefined = undefined) {
  const it = startStandIn()
  it.put('apiservices', apiService(NAME, REMOTE, more))
  it.put('apiservices', apiService('v1.local', {}))
  const aggregator: Aggregator = {
    forward: () => undefined,
    remotes: () => [],
    generation: 0,
    check: (service) => check.now(service),
    close: () => {},
  }
  const reads: ServerReads = {
    ...it.options.reads,
    remoteServices: () => it.options.reads.list(GROUP, 'apiservices').filter(({ spec }) => spec.service !== undefined),
    podsOnNode: () => [],
    readable: it.options.reads,
    generationOf: () => () => 0,
  }
  startApiServiceLoop({ ...it.options, reads, aggregator })
  const conditions = () => (it.get(GROUP, 'apiservices', '', NAME)?.['status']?.conditions ?? []) as readonly Fields[]
  const available = () => {
    const { status, reason, message } = conditions().find(({ type }) => type === 'Available') ?? {}
    return [status, reason, message]
  }
  return { ...it, conditions, available }
}

const answered =
  (status: number): Aggregator['check'] =>
  async () => ({ url: 'https://a/apis', status, why: '' })
const unanswered: Aggregator['check'] = async () => ({ url: 'https://a/apis', status: undefined, why: 'refused' })
const unresolved: Aggregator['check'] = async () => {
  throw new ServiceUnresolved('ServiceNotFound', 'there is no such service')
}

test('an APIService is available when its server answers discovery, and says why when it is not', async () => {
  for (const [check, ...wanted] of [
    [answered(200), 'True', 'Passed', 'all checks passed'],
    [
      answered(404),
      ...['False', 'FailedDiscoveryCheck'],
      'failing or missing response from https://a/apis: bad status from https://a/apis: 404',
    ],
    [unanswered, 'False', 'FailedDiscoveryCheck', 'failing or missing response from https://a/apis: refused'],
    [unresolved, 'False', 'ServiceNotFound', 'there is no such service'],
  ] as const) {
    const it = started({ now: check })
    await it.runtime.advance(100)
    // That of this server itself is not asked about.
    assert.deepEqual(it.taken(), [WRITE])
    assert.deepEqual(it.available(), wanted)
    await it.runtime.advance(120_000)
    assert.deepEqual(it.taken(), [], 'what is said already is not said again')
  }
})

test('it is looked at every half minute; other conditions stay, and the time is that of the change', async () => {
  const check = { now: answered(200) }
  const it = started(check, { conditions: [{ type: 'Other', status: 'True' }] })
  await it.runtime.advance(100)
  const first = it.conditions()
  assert.deepEqual(
    first.map(({ type }) => type),
    ['Other', 'Available'],
  )
  check.now = answered(500)
  await it.runtime.advance(31_000)
  assert.equal(it.available()[0], 'False')
  const failed = it.conditions()[1]?.['lastTransitionTime']
  assert.notEqual(failed, first[1]?.['lastTransitionTime'])
  check.now = unresolved
  await it.runtime.advance(31_000)
  assert.deepEqual([it.available()[1], it.conditions()[1]?.['lastTransitionTime']], ['ServiceNotFound', failed])
})

test('one that was changed or deleted in between is no failure, and one that cannot be checked keeps no other waiting', async () => {
  for (const error of [conflict(RESOURCE, NAME, 'x'), notFound(RESOURCE, NAME)]) {
    const alone = started({ now: answered(200) })
    alone.refuse(WRITE, error)
    await alone.runtime.advance(10)
    assert.deepEqual([alone.taken(), alone.failures], [[WRITE], []])
    const it = started({
      now: (service) => (service.metadata.name === NAME ? answered(200)(service) : Promise.reject(new Error('no'))),
    })
    it.put('apiservices', apiService('v1.broken', REMOTE))
    it.refuse(WRITE, error)
    await it.runtime.advance(10)
    assert.deepEqual(it.taken(), [WRITE])
  }
})
