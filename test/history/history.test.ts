import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Change, type History, type Operation, type Outcome, problemsOf, type Watched } from './history.ts'

const truth: readonly Change[] = [
  { type: 'put', key: 'a', revision: 2, value: 'a1' },
  { type: 'put', key: 'b', revision: 4, value: 'b1' },
  { type: 'put', key: 'a', revision: 5, value: 'a2' },
  { type: 'delete', key: 'b', revision: 7 },
  { type: 'put', key: 'a', revision: 9, value: 'a3' },
]

const good: readonly Operation[] = [
  { what: 'create', key: 'a', value: 'a1', begun: 1, answered: 2, outcome: { type: 'written', revision: 2 } },
  { what: 'create', key: 'b', value: 'b1', begun: 3, answered: 5, outcome: { type: 'written', revision: 4 } },
  { what: 'get', key: 'a', begun: 4, answered: 6, outcome: read('a', 'a1', 2) },
  { what: 'update', key: 'a', value: 'a2', expected: 2, begun: 7, answered: 10, outcome: { type: 'unknown' } },
  { what: 'update', key: 'a', value: 'lost', expected: 2, begun: 8, answered: 11, outcome: { type: 'refused' } },
  { what: 'list', key: '', begun: 12, answered: 13, outcome: listed(6, ['a', 'a2', 5], ['b', 'b1', 4]) },
  { what: 'delete', key: 'b', expected: 4, begun: 14, answered: 15, outcome: { type: 'deleted' } },
  { what: 'get', key: 'b', begun: 16, answered: 17, outcome: { type: 'read', item: undefined } },
  {
    what: 'update',
    key: 'a',
    value: 'a3',
    expected: 5,
    begun: 18,
    answered: 19,
    outcome: { type: 'written', revision: 9 },
  },
]
const watches: readonly Watched[] = [{ from: 2, until: 7, changes: truth.slice(1, 4) }]

function read(key: string, value: string, revision: number): Outcome {
  return { type: 'read', item: { key, value, revision } }
}

function listed(revision: number, ...items: readonly (readonly [string, string, number])[]): Outcome {
  return { type: 'listed', revision, items: items.map(([key, value, at]) => ({ key, value, revision: at })) }
}

const history = (changed: Partial<History> = {}): History => ({ operations: good, watches, truth, ...changed })
/** With other operations in the places of some. */
const withOperations = (...others: readonly (readonly [number, Partial<Operation>])[]): History => {
  const changes = new Map(others)
  return history({ operations: good.map((operation, i) => ({ ...operation, ...changes.get(i) })) })
}

test('a history that could have come about is accepted', () => {
  assert.deepEqual(problemsOf(history()), [])
  // Two reads beside a write may see it or not, and what is unknown may never have been done.
  assert.deepEqual(problemsOf(withOperations([2, { outcome: read('a', 'a2', 5), answered: 12 }])), [])
  // Two delete one object: one of them has done it.
  const second: Operation = {
    what: 'delete',
    key: 'b',
    expected: 4,
    begun: 14,
    answered: 16,
    outcome: { type: 'refused' },
  }
  assert.deepEqual(problemsOf(history({ operations: [...good, second] })), [])
  // A read that is answered after the delete began may see it.
  const during: Partial<Operation> = {
    what: 'get',
    key: 'b',
    begun: 13,
    answered: 15,
    outcome: { type: 'read', item: undefined },
  }
  assert.deepEqual(problemsOf(withOperations([5, during])), [])
  const neverDone: Operation = {
    what: 'create',
    key: 'c',
    value: 'c1',
    begun: 20,
    answered: 21,
    outcome: { type: 'unknown' },
  }
  assert.deepEqual(problemsOf(history({ operations: [...good, neverDone] })), [])
})

const refused: Readonly<Record<string, History>> = {
  'an answered write is lost': history({ truth: truth.filter(({ revision }) => revision !== 9) }),
  'an answered delete is lost': history({ truth: truth.filter(({ revision }) => revision !== 7), watches: [] }),
  'a refused write was done': withOperations([3, { outcome: { type: 'refused' } }]),
  'a write is done twice': history({ truth: [...truth, { type: 'put', key: 'a', revision: 10, value: 'a2' }] }),
  'an update is done over another state than it expected': withOperations([8, { expected: 2 }]),
  'a create is done over what is there': withOperations([3, { what: 'create' }]),
  'a write has an older revision than one that was answered before it began': withOperations([
    0,
    { begun: 30, answered: 31 },
  ]),
  'revisions go back': history({
    truth: [...truth.slice(0, 4), { type: 'put', key: 'a', revision: 6, value: 'a3' }],
    watches: [],
  }),
  'a read is older than an answered write': withOperations([7, { outcome: read('b', 'b1', 4) }], [8, {}]),
  'a read is older than what another read has shown': history({
    operations: [...good, { what: 'get', key: 'a', begun: 40, answered: 41, outcome: read('a', 'a2', 5) }],
  }),
  'a read misses what is there': history({
    operations: [
      ...good,
      { what: 'get', key: 'a', begun: 40, answered: 41, outcome: { type: 'read', item: undefined } },
    ],
  }),
  'a read misses what is only deleted later': withOperations([
    5,
    { what: 'get', key: 'b', begun: 12, answered: 13, outcome: { type: 'read', item: undefined } },
  ]),
  'a refused delete was done': withOperations([6, { outcome: { type: 'refused' } }]),
  'a read shows what never was': withOperations([2, { outcome: read('a', 'a7', 2) }]),
  'a read shows what is written later': withOperations([2, { outcome: read('a', 'a2', 5) }]),
  'a list is older than an answered write': history({
    operations: [...good, { what: 'list', key: '', begun: 40, answered: 41, outcome: listed(7, ['a', 'a2', 5]) }],
  }),
  'a list lacks an object of its revision': withOperations([5, { outcome: listed(6, ['a', 'a2', 5]) }]),
  'a list has an object that was deleted': withOperations([5, { outcome: listed(8, ['a', 'a2', 5], ['b', 'b1', 4]) }]),
  'a watch leaves out a change': history({ watches: [{ from: 2, until: 7, changes: [truth[1]!, truth[3]!] }] }),
  'a watch tells a change twice': history({
    watches: [{ from: 2, until: 7, changes: [truth[1]!, truth[2]!, truth[2]!, truth[3]!] }],
  }),
  'a watch turns changes round': history({
    watches: [{ from: 2, until: 7, changes: [truth[2]!, truth[1]!, truth[3]!] }],
  }),
  'a watch does not tell the last change': history({ watches: [{ from: 2, until: 7, changes: truth.slice(1, 3) }] }),
  'a watch tells what never was': history({
    watches: [
      { from: 2, until: 8, changes: [...truth.slice(1, 4), { type: 'put', key: 'z', revision: 8, value: 'z' }] },
    ],
  }),
}

for (const [name, bad] of Object.entries(refused))
  test(`refused: ${name}`, () => assert.notDeepEqual(problemsOf(bad), []))
