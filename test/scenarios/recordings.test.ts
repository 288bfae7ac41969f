/**
 * What a real control plane did, done again by ours. Guided into the order of the recording, every write, every state of
 * every object and every Event is the recorded one; in other orders the end is the same and no other kind of write occurs.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Play } from './acts.ts'
import { plays } from './plays.ts'
import { type Recording, readRecording, type SeenEvent, type State, type Write } from './recording.ts'
import { type Replay, replay } from './replay.ts'

/** Uids and the nodes of pods are chance: another one is tried before the recording is held not to be met. */
const seeds = Array.from({ length: 40 }, (_, seed) => seed)

for (const [name, play] of Object.entries(plays)) {
  const recording = readRecording(name)
  test(`${name}: every write, state and Event as recorded`, async () => {
    for (const seed of seeds) {
      const told = compare(recording, play, await replay(recording, play, seed))
      if (told === undefined) return
      if (seed === seeds.at(-1)) throw told
    }
  })
}

/** What is different; undefined for nothing. */
function compare(recording: Recording, play: Play, { guide, states, events }: Replay): Error | undefined {
  try {
    assert.deepEqual(guide.waiting.map(line), [], 'writes still held back when everything was over')
    assert.deepEqual(
      moreThan(allowedRefusals[recording.scenario], guide.refused),
      [],
      'guesses refused, beyond refused.json',
    )
    assert.deepEqual(guide.unexpected.map(line), [], 'writes that were not recorded')
    assert.deepEqual(guide.missing.map(line), [], 'recorded writes that did not come')
    assert.deepEqual(byObject(states), byObject(recording.states))
    const told = recording.events.filter((event) => !play.isForeign?.(event))
    assert.deepEqual(distinct(events.filter((event) => !play.isForeign?.(event))), distinct(told))
    return undefined
  } catch (error) {
    return error as Error
  }
}

/**
 * Guesses that were made too early, or of which nothing is recorded: by scenario and by who would have written what, how many
 * at most. A controller that guesses more writes what the real one does not.
 */
const allowedRefusals: Readonly<Record<string, Readonly<Record<string, number>>>> = JSON.parse(
  readFileSync(new URL('refused.json', import.meta.url), 'utf8'),
)

function moreThan(allowed: Readonly<Record<string, number>> = {}, refused: readonly Write[]): readonly string[] {
  const counts = Map.groupBy(refused, ({ user, verb, uri }) => `${user} ${verb} ${withoutChance(uri)}`)
  return [...counts].flatMap(([kind, { length }]) =>
    length > (allowed[kind] ?? 0) ? [`${kind}: ${length} times, ${allowed[kind] ?? 0} at most`] : [],
  )
}

const withoutChance = (uri: string): string =>
  uri.replace(/\?.*/, '').replace(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=$|\/)/g, '-<5>')

const distinct = (events: readonly SeenEvent[]) => [...new Set(events.map((event) => JSON.stringify(event)))].sort()

const line = (write: Write): string => JSON.stringify(write)

function byObject(states: readonly State[]): Record<string, readonly State[]> {
  const objects: Record<string, State[]> = {}
  for (const state of states) {
    const { name } = state.object['metadata'] as { name: string }
    const key = `${state.resource} ${name}`
    objects[key] ??= []
    objects[key].push(state)
  }
  return Object.fromEntries(Object.entries(objects).sort(([a], [b]) => (a < b ? -1 : 1)))
}
