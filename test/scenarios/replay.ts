/** Plays a recorded scenario again, guided into the order of the recording. */
import type { KeptRecord } from '../../src/api/journal.ts'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { type SimulatedRuntime, simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { Play } from './acts.ts'
import { createGuide, type Guide } from './guide.ts'
import { createNormalizer } from './normalize.ts'
import type { Recording, SeenEvent, State } from './recording.ts'
import { namespace, type Stage, startStage } from './stage.ts'

export interface Replay {
  readonly guide: Guide
  readonly states: readonly State[]
  readonly events: readonly SeenEvent[]
  /** Normalized as states and writes are; only the time is as it was. */
  readonly journal: readonly KeptRecord[]
}

/** Which of several equal pods goes first is decided by their uids: the names are dealt out until it is the recorded one. */
export async function replay(recording: Recording, play: Play, seed: number): Promise<Replay> {
  const { before, added } = suffixesOf(recording)
  let played: Replay | undefined
  for (const order of permutations(before)) {
    played = await replayWith(recording, play, [...order, ...added], seed)
    if (played.guide.missing.length === 0) break
  }
  return played as Replay
}

async function replayWith(recording: Recording, play: Play, names: readonly string[], seed: number): Promise<Replay> {
  const runtime: SimulatedRuntime = simulatedRuntime(seed, { order: 'fifo' })
  const normalizer = createNormalizer(namespace)
  const guide = createGuide(recording.writes, normalizer, play.isChance)
  let stage: Stage | undefined
  const staged = await startStage(runtime, {
    nodes: play.nodes,
    idleNode: play.idleNode ?? false,
    gatesNodes: play.nodesRecorded ?? false,
    suffixes: [...Array.from({ length: play.namesBefore ?? 0 }, () => runtime.random.suffix(5)), ...names],
    saw: (object) => normalizer.learn(object as unknown as Json),
    gate: guide.gate,
    answered(write) {
      guide.answered(write)
      const doing = stage && play.meanwhile?.(stage, normalizer.write(write))
      doing?.catch(() => {})
    },
  })
  stage = staged
  if (play.prepare !== undefined) await runtime.complete(play.prepare(staged), { maxSteps: 1_000_000 })
  await runtime.advance(10_000)
  staged.mark()
  play.act(staged).catch(() => {})
  await guide.follow(runtime)
  await runtime.advance(play.lingerMs ?? 0)
  const resources = new Set(recording.states.map(({ resource }) => resource))
  const states = staged.states
    .filter(({ resource }) => resources.has(resource))
    .map(({ type, resource, object }) => ({
      type,
      resource,
      object: normalizer.json(object as unknown as Json) as JsonObject,
    }))
  const events = staged.events.map(normalizer.event)
  const journal = (await staged.journal()).map(
    (record) => normalizer.json(record as unknown as Json) as unknown as KeptRecord,
  )
  await staged.stop()
  return { guide, states, events, journal }
}

/**
 * Ends of the generated names, those that existed before the recording first, the others in the order in which they were
 * given. Those of refused objects are known by the Events that complain.
 */
function suffixesOf({ writes, states, events }: Recording) {
  const added = new Set<string>()
  const before = new Set<string>()
  for (const { type, object } of states) {
    const { name, generateName } = object['metadata'] as { name: string; generateName?: string }
    if (generateName === undefined) continue
    const suffix = name.slice(generateName.length)
    if (type === 'ADDED') added.add(suffix)
    else if (!added.has(suffix)) before.add(suffix)
  }
  for (const { uri } of writes) {
    const suffix = /\/pods\/[^/]*-([a-z0-9]{5})(\/|$)/.exec(uri)?.[1]
    if (suffix !== undefined && !added.has(suffix)) before.add(suffix)
  }
  const refused = events.flatMap(({ message }) => /"[^"]*-([a-z0-9]{5})" is forbidden/.exec(message)?.[1] ?? [])
  // A quota refuses when it is full: of those made at once the first ones fit.
  return { before: [...before], added: [...added, ...refused] }
}

function* permutations(items: readonly string[]): Generator<readonly string[]> {
  if (items.length < 2) {
    yield items
    return
  }
  for (const item of items)
    for (const rest of permutations(items.filter((other) => other !== item))) yield [item, ...rest]
}
