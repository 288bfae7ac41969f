/** Times that move, and those that stay, as in a real cluster: plays whose steps are seconds apart. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { perform } from './perform.ts'
import { timePlays } from './plays-times.ts'
import { contradictions, factsOf, recordedFacts, recordedTimes } from './times.ts'

/** How often a Deployment's progress is seen in a second of its own is a matter of pace. */
const isOfPace = (fact: string): boolean => /: [<=>]$|lastUpdateTime/.test(fact)

for (const [name, play] of Object.entries(timePlays)) {
  test(`${name}: times move when they are seen to move in a real cluster, and stay when they stay`, async () => {
    for (const seed of [1, 2]) {
      const facts = factsOf((await perform(play, seed)).objects)
      assert.deepEqual(contradictions(facts, recordedFacts), [], `seed ${seed}`)
      const unseen = (recordedTimes[name] ?? []).filter((fact) => !facts.has(fact) && !isOfPace(fact))
      assert.deepEqual(unseen, [], `seed ${seed}`)
    }
  })
}

describe('facts of times', () => {
  const at = (second: number) => new Date(second * 1000).toISOString().replace('.000Z', 'Z')
  const object = (written: number, status: object, kind = 'Thing'): KubeObject =>
    ({
      kind,
      apiVersion: 'v1',
      metadata: { uid: 'u', name: 'n', creationTimestamp: at(100), managedFields: [{ time: at(written) }] },
      ...status,
    }) as unknown as KubeObject
  const ready = (status: string, since: number, message = 'm') => ({
    status: { conditions: [{ type: 'Ready', status, message, lastTransitionTime: at(since) }] },
  })
  const wrong = (...states: KubeObject[]) => contradictions(factsOf(states), new Set())

  test('a transition time moves with its status', () => {
    assert.deepEqual(wrong(object(100, ready('True', 100)), object(110, ready('False', 110))), [])
    assert.deepEqual(wrong(object(100, ready('True', 100)), object(110, ready('False', 100))), [
      'Thing status.conditions[Ready].lastTransitionTime, status changed: kept',
    ])
  })

  test('and not without it', () => {
    assert.deepEqual(wrong(object(100, ready('True', 100)), object(110, ready('True', 100, 'other'))), [])
    assert.deepEqual(wrong(object(100, ready('True', 100)), object(110, ready('True', 110, 'other'))), [
      'Thing status.conditions[Ready].lastTransitionTime, message changed: moved to now',
    ])
  })

  test('no time is before the creation, ahead of its write, or taken from before', () => {
    assert.deepEqual(wrong(object(100, ready('True', 90))), [
      'Thing metadata.creationTimestamp and status.conditions[Ready].lastTransitionTime: >',
    ])
    assert.match(wrong(object(100, ready('True', 100)), object(110, ready('False', 120))).join(), /moved ahead/)
    assert.match(wrong(object(105, {}), object(120, ready('False', 101))).join(), /set to an earlier time/)
  })

  test('an Event that is seen again keeps its first time and moves its last', () => {
    const event = (count: number, first: number, last: number, written: number) =>
      object(written, { count, firstTimestamp: at(first), lastTimestamp: at(last), reportingComponent: 'c' }, 'Event')
    assert.deepEqual(wrong(event(1, 100, 100, 100), event(2, 100, 110, 110)), [])
    assert.match(wrong(event(1, 100, 100, 100), event(2, 100, 100, 110)).join(), /lastTimestamp, count changed: kept/)
    assert.match(wrong(event(1, 100, 100, 100), event(2, 110, 110, 110)).join(), /firstTimestamp, .*moved to now/)
  })

  test('where a real cluster showed one thing only, nothing else will do', () => {
    const facts = factsOf([object(100, ready('True', 100)), object(110, ready('True', 110, 'other'))])
    assert.deepEqual(contradictions(facts, facts), [])
  })
})
