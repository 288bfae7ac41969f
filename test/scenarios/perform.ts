/** Plays a scenario in the order of hand-overs that a seed chooses, or that a runtime of its own has. */
import type { Json, JsonObject, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { Play } from './acts.ts'
import { createNormalizer } from './normalize.ts'
import type { State, Write } from './recording.ts'
import { namespace, type StageRuntime, startStage } from './stage.ts'

export interface Performance {
  readonly writes: readonly Write[]
  readonly states: readonly State[]
  /** The same states, with their times. */
  readonly objects: readonly KubeObject[]
}

export const perform = (play: Play, seed: number): Promise<Performance> => performIn(play, simulatedRuntime(seed))

export async function performIn(play: Play, runtime: StageRuntime): Promise<Performance> {
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
    objects: staged.states.map(({ object }) => object),
  }
}
