import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import type { TimelineStep } from '../timeline/timeline-types.ts'
import { delaysFor, racesIn } from './races.ts'

const object = (name: string) => ({
  group: 'policy',
  resource: 'budgets',
  kind: 'Budget',
  namespace: 'n',
  name,
  uid: name,
})
const step = (name: string, component: string, ...changes: TimelineStep['changes']) =>
  ({ object: object(name), changes, by: { component } }) as unknown as TimelineStep
const ownerOf = (name: string, blockOwnerDeletion = true) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: name,
  blockOwnerDeletion,
})
const waits = { type: 'finalizer-added', finalizer: 'foregroundDeletion' } as const
const marked = { type: 'marked', deletionTimestamp: '', gracePeriodSeconds: 0 } as const
const left = { type: 'owner-removed', owner: ownerOf('first') } as const
const GC = 'generic-garbage-collector'

const owners = new Map([['leaf', [ownerOf('second'), ownerOf('first')]]])
const racing = (...steps: TimelineStep[]) => {
  const { owners: early, dependents } = racesIn({ steps, owners })
  return [early.map(({ name }) => name), dependents.map(({ name }) => name)]
}
const first = step('first', 'user', marked, waits)
const second = step('second', GC, marked, waits)

test('a dependent that goes after both of its owners were marked might have been looked at before', () => {
  assert.deepEqual(racing(first, second, step('leaf', GC, marked)), [['second'], []])
})

test('one that was taken off the first might have been looked at later', () => {
  assert.deepEqual(racing(first, step('leaf', GC, left), second, step('leaf', GC, marked)), [[], ['leaf']])
})

test('what its owner does not wait for might have been looked at when that was gone, or while it was there', () => {
  const loose = new Map([['leaf', [ownerOf('first', false)]]])
  const gone = step('first', GC, { type: 'removed' })
  const racing = (...steps: TimelineStep[]) => {
    const found = racesIn({ steps, owners: loose })
    return [found.owners.map(({ name }) => name), found.dependents.map(({ name }) => name)]
  }
  assert.deepEqual(racing(first, step('leaf', GC, marked), gone), [[], ['leaf']])
  assert.deepEqual(racing(first, step('leaf', GC, marked)), [[], ['leaf']])
  assert.deepEqual(racing(first, gone, step('leaf', GC, marked)), [['first'], []])
})

test('no race: both marks are the deed itself, the owners are deleted in the background, or one has no other', () => {
  assert.deepEqual(racing(first, step('second', 'user', marked, waits), step('leaf', GC, marked)), [[], []])
  assert.deepEqual(racing(step('first', 'user', marked), second, step('leaf', GC, marked)), [[], []])
  assert.deepEqual(racing(first, step('leaf', GC, marked)), [[], []])
  assert.equal(delaysFor({ owners: [], dependents: [] }), undefined)
})

test('an owner is marked late and seen as ever; a dependent is looked at late; nothing else is', () => {
  const delays = delaysFor({ owners: [object('second')], dependents: [object('leaf')] })
  const ms = (method: string, path: string) => delays?.({ method, path } as ApiRequest)
  const at = '/apis/policy/v1/namespaces/n/budgets'
  assert.deepEqual(
    [ms('DELETE', `${at}/second`), ms('GET', `${at}/second`), ms('GET', `${at}/leaf`), ms('PATCH', `${at}/leaf`)],
    [20_000, 0, 20_000, 20_000],
  )
  for (const path of [
    at,
    `${at}/first`,
    '/api/v1/namespaces/n/budgets/leaf',
    '/apis/policy/v1/namespaces/m/budgets/leaf',
    '/apis/policy/v1/budgets/leaf',
    '/apis/policy/v1/namespaces/n',
  ])
    assert.equal(ms('DELETE', path), 0, path)
  const { namespace: _, ...cluster } = object('c')
  const ofCluster = delaysFor({ owners: [{ ...cluster, namespace: '', group: '' }], dependents: [] })
  assert.equal(ofCluster?.({ method: 'DELETE', path: '/api/v1/budgets/c' } as ApiRequest), 20_000)
})

test('the deed deletes owners of each other one after the other: what comes between its requests matters', () => {
  const between = (owners: ReadonlyMap<string, readonly ReturnType<typeof ownerOf>[]>, ...steps: TimelineStep[]) =>
    racesIn({ steps, owners }).isBetweenRequests
  const cycle = new Map([
    ['first', [ownerOf('middle')]],
    ['middle', [ownerOf('second')]],
    ['second', [ownerOf('first')]],
  ])
  const named = step('second', 'user', marked, waits)
  assert.equal(between(cycle, first, named), true)
  assert.equal(between(cycle, first, second), false, 'the second is marked by a controller')
  assert.equal(between(cycle, first, step('second', 'user', marked)), false, 'the second does not wait')
  assert.equal(between(new Map([['second', [ownerOf('first')]]]), first, named), false, 'no cycle')
})

test('a cycle is found at the end of a long chain of owners, at once, and a chain, a diamond or a cycle beside it is none', () => {
  const many = 20_000
  const chain = new Map(Array.from({ length: many }, (_, at) => [`o${at}`, [ownerOf(`o${at + 1}`)]]))
  const steps = Array.from({ length: many }, (_, at) => step(`o${at}`, 'user', marked, waits))
  const between = (owners: ReadonlyMap<string, readonly ReturnType<typeof ownerOf>[]>, all = steps) =>
    racesIn({ steps: all, owners }).isBetweenRequests
  assert.equal(between(chain), false)
  const closed = new Map([...chain, [`o${many}`, [ownerOf(`o${many - 1}`)]]])
  assert.equal(between(closed), false, 'of the cycle only one is named')
  assert.equal(between(closed, [...steps, step(`o${many}`, 'user', marked, waits)]), true)
  assert.equal(between(new Map([...chain, ['o5', [ownerOf('o6'), ownerOf('o3')]]])), true)
  const diamond = new Map([
    ['o0', [ownerOf('o1'), ownerOf('o2')]],
    ['o1', [ownerOf('o3')]],
    ['o2', [ownerOf('o3'), ownerOf('o2')]],
    ['o3', [ownerOf('a')]],
    ['a', [ownerOf('b')]],
    ['b', [ownerOf('a')]],
  ])
  assert.equal(between(diamond), false)
})
