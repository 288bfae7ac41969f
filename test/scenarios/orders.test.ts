/**
 * The recorded scenarios in other orders of hand-overs than the real cluster's: the end is the same, and the writes are the
 * recorded ones, value by value, but for what exceptions.ts says; each exception occurs.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated.ts'
import type { Play } from './acts.ts'
import { exceptions } from './exceptions.ts'
import { createNormalizer } from './normalize.ts'
import { plays } from './plays.ts'
import { readRecording, type State, sorted } from './recording.ts'
import { namespace, startStage } from './stage.ts'
import { partsOf, unlikeRecorded, withoutGenerated } from './variation.ts'

/** There are many brief plays. */
const seedsOf = (play: Play): readonly number[] => (play.restMs === undefined ? [1, 2, 3] : [1, 2])
/** So many orders are tried until each exception of a scenario has occurred. */
const MOST_SEEDS = 40

for (const [name, play] of Object.entries(plays)) {
  // Where others taint a node while it runs, the end depends on who was on it.
  if (play.meanwhile !== undefined) continue
  test(`${name} in other orders`, async () => {
    const recording = readRecording(name)
    const resources = new Set(recording.states.map(({ resource }) => resource))
    const parts = (exceptions[name] ?? []).flatMap(partsOf)
    const used = new Set<string>()
    const seeds = seedsOf(play)
    for (let seed = 1; seeds.includes(seed) || (seed <= MOST_SEEDS && !parts.every((part) => used.has(part))); seed++) {
      const { writes, states } = await perform(play, seed)
      const unlike = unlikeRecorded(recording.writes, writes, exceptions[name])
      for (const part of unlike.used) used.add(part)
      // Rarer orders are only asked whether an exception occurs.
      if (!seeds.includes(seed)) continue
      assert.deepEqual(unlike.told, [], `seed ${seed}`)
      const ofInterest = states.filter(({ resource }) => resources.has(resource))
      assert.deepEqual(endOf(ofInterest), endOf(recording.states), `seed ${seed}`)
    }
    const unused = parts.filter((part) => !used.has(part))
    assert.deepEqual(unused, [], 'exceptions that never occur')
  })
}

test('exceptions are of scenarios that are played', () => {
  const unknown = Object.keys(exceptions).filter((name) => plays[name] === undefined || plays[name].meanwhile)
  assert.deepEqual(unknown, [])
})

async function perform(play: Play, seed: number) {
  const runtime = simulatedRuntime(seed)
  const normalizer = createNormalizer(namespace)
  const staged = await startStage(runtime, {
    nodes: play.nodes,
    idleNode: play.idleNode ?? false,
    gatesNodes: play.nodesRecorded ?? false,
    saw: (object) => normalizer.learn(object as unknown as Json),
  })
  if (play.prepare !== undefined) await runtime.complete(play.prepare(staged), { maxSteps: 1_000_000 })
  await runtime.advance(10_000)
  staged.mark()
  await runtime.complete(play.act(staged))
  await runtime.advance(play.restMs ?? 120_000)
  await staged.stop()
  return {
    writes: staged.writes.map(normalizer.write),
    states: staged.states.map(({ type, resource, object }) => ({
      type,
      resource,
      object: normalizer.json(object as unknown as Json) as JsonObject,
    })),
  }
}

/** What is left of everything that changed: which objects, and all that they say. */
function endOf(states: readonly State[]): readonly string[] {
  const last = new Map<string, State>()
  for (const state of states) {
    const { name } = state.object['metadata'] as { name: string }
    last.set(`${state.resource} ${name}`, state)
  }
  return [...last]
    .map(([key, { type, object }]) => `${key} ${type === 'DELETED' ? 'gone' : JSON.stringify(sorted(ending(object)))}`)
    .map(withoutGenerated)
    .sort()
}

/** The generation of a slice tells how often it was written, as pods' changes fell together. */
function ending(object: JsonObject): JsonObject {
  if (object['kind'] !== 'EndpointSlice') return object
  const { generation: _, ...metadata } = object['metadata'] as JsonObject
  return { ...object, metadata }
}
