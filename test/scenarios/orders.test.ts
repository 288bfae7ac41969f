/**
 * The recorded scenarios in other orders of hand-overs than the real cluster's: the end is the same, and each kind of write
 * occurs as often, and with such bodies, as was recorded and as variation.ts allows.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Json, JsonObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated.ts'
import type { Play } from './acts.ts'
import { createNormalizer } from './normalize.ts'
import { plays } from './plays.ts'
import { readRecording, type State, sorted, type Write } from './recording.ts'
import { namespace, startStage } from './stage.ts'
import { unlikeRecorded } from './variation.ts'

/** There are many brief plays. */
const seedsOf = (play: Play): readonly number[] => (play.restMs === undefined ? [1, 2, 3] : [1, 2])

for (const [name, play] of Object.entries(plays)) {
  // Where others taint a node while it runs, the end depends on who was on it.
  if (play.meanwhile !== undefined) continue
  test(`${name} in other orders`, async () => {
    const recording = readRecording(name)
    const kinds = new Set(recording.writes.map(kindOf))
    for (const seed of seedsOf(play)) {
      const { writes, states } = await perform(play, seed)
      const unrecorded = [...new Set(writes.map(kindOf))].filter((kind) => !kinds.has(kind) && !mayBe(play, kind))
      assert.deepEqual(unrecorded.sort(), [], `seed ${seed}`)
      assert.deepEqual(unlikeRecorded(name, writes, kindOf, play.mayAlso), [], `seed ${seed}`)
      const resources = new Set(recording.states.map(({ resource }) => resource))
      const ofInterest = states.filter(({ resource }) => resources.has(resource))
      assert.deepEqual(endOf(ofInterest), endOf(recording.states), `seed ${seed}`)
    }
  })
}

const mayBe = (play: Play, kind: string): boolean =>
  (play.mayAlso ?? []).some((beginning) => kind.startsWith(beginning))

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

const generated = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?=$|\/)/g

/** Who did what to which object, with which fields of a patch or options of a delete. */
function kindOf({ user, verb, uri, body }: Write): string {
  const fields = verb === 'patch' || verb.startsWith('delete') ? ` ${shapeOf(body)}` : ''
  return `${user} ${verb} ${uri.replace(generated, '-<5>')}${fields}`
}

function shapeOf(value: Json): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().join(' ')}]`
  if (typeof value !== 'object' || value === null) return ''
  const object = value as { readonly [key: string]: Json }
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${key}${shapeOf(object[key] as Json)}`)
    .join(' ')}}`
}

/** What is left of everything that changed: which objects, and what matters of their status. */
function endOf(states: readonly State[]): readonly string[] {
  const last = new Map<string, State>()
  for (const state of states) {
    const { name } = state.object['metadata'] as { name: string }
    last.set(`${state.resource} ${name}`, state)
  }
  return [...last].map(([key, { type, object }]) => `${key.replace(generated, '-<5>')} ${ending(type, object)}`).sort()
}

function ending(type: string, object: JsonObject): string {
  if (type === 'DELETED') return 'gone'
  const { observedGeneration: _, conditions = [], ...status } = (object['status'] ?? {}) as Fields
  const told = (conditions as readonly Fields[]).map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort()
  return JSON.stringify(sorted({ ...status, conditions: told }))
}
