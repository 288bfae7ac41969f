/** Some of the stories, played in simulated time: what the components of a real cluster did is what ours do (all: stories.long.ts). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differences, judge, lineOf } from './compare.ts'
import type { Facts } from './facts.ts'
import { readRecorded } from './recordings.ts'
import { subjects } from './subjects.ts'
import { judgeStory } from './try-seeds.ts'

const EACH = 8

for (const [subject, stories] of Object.entries(subjects)) {
  const recorded = readRecorded(subject)
  for (const [name, story] of Object.entries(stories).filter((_, i) => i % EACH === 0)) {
    const known = recorded[name]
    test(`${name}: every write, Event and object as recorded`, async () => {
      assert.ok(known, 'it is not recorded')
      const { told } = await judgeStory(name, story, known)
      assert.deepEqual(told.map(lineOf), [])
    })
  }
}

const facts = (more: Partial<Facts>): Facts => ({
  notes: [],
  timeouts: [],
  events: [],
  writes: [],
  objects: [],
  ...more,
})

test('told is what differs: counts, fields, what is there on one side only; not how often a status was written', () => {
  const object = (value: number) => ({ key: 'pods/a', object: { spec: { value } } })
  const write = (text: string, count: number) => ({ write: text, count })
  const recorded = facts({
    events: [['E', 2]],
    objects: [object(1)],
    writes: [write('c update /x/status 200', 1), write('c create /x 201', 1)],
  })
  const played = facts({
    events: [['E', 3]],
    objects: [object(2)],
    writes: [write('c update /x/status 200', 4), write('c create /x 201', 2), write('c delete /x 200', 1)],
  })
  const lines = ['object pods/a.spec.value: 1, here 2', 'Event E: 2, here 3']
  const writes = ['write c create /x 201: 1, here 2', 'write c delete /x 200: 0, here 1']
  assert.deepEqual(differences(recorded, played).map(lineOf), [...lines, ...writes])
  assert.deepEqual(differences(recorded, recorded), [])
})

test('not told is what a real cluster did not always do alike, and what is known with its reason', () => {
  const recorded = facts({
    events: [
      ['A', 1],
      ['B', 1],
    ],
  })
  const played = facts({
    events: [
      ['A', 2],
      ['B', 2],
      ['C', 1],
    ],
  })
  const why = 'as is known'
  const differing = [
    { story: 's', topic: 'Event B', why },
    { story: 'other', topic: 'Event C', why },
  ]
  const { told, known } = judge('s', { facts: recorded, varies: ['Event A'] }, played, differing)
  assert.deepEqual(told.map(lineOf), ['Event C: 0, here 1'])
  assert.deepEqual(known, differing.slice(0, 1))
})

test('where only the order of a list is known to differ, what is in it is compared all the same', () => {
  const endpoints = (...ips: readonly string[]) =>
    facts({ objects: [{ key: 'endpoints/a', object: { subsets: [{ addresses: ips.map((ip) => ({ ip })) }] } }] })
  const differing = [{ story: 's', topic: 'object endpoints/a', inAnyOrder: true as const, why: 'chance' }]
  const judged = (played: Facts) => judge('s', { facts: endpoints('1', '2'), varies: [] }, played, differing)
  assert.deepEqual(judged(endpoints('2', '1')), { told: [], known: differing })
  assert.deepEqual(judged(endpoints('2', '3')).told.map(lineOf), [
    'object endpoints/a.subsets.0.addresses.0.ip: "1", here "2"',
    'object endpoints/a.subsets.0.addresses.1.ip: "2", here "3"',
  ])
})
