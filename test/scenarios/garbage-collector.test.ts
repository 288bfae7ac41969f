/**
 * What the garbage collector of a real cluster did with small owner graphs, played again: the states of each object come in
 * the recorded order, and each kind of write was recorded. Conflicts depend on timing and are not compared.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { graphPlays, playGraph, type Recording, type State, type Write } from './owner-graphs.ts'

const recordings: readonly Recording[] = JSON.parse(
  readFileSync(new URL('./garbage-collector.json', import.meta.url), 'utf8'),
)
/** The first order of hand-overs that is tried, and then as many others as it takes. */
const seedsTried = 60

for (const recording of recordings) {
  test(`${recording.scenario} as a real cluster did it`, async () => {
    const names = new Set(recording.states.map(([, name]) => name))
    const byObject = (states: readonly State[]) => [...names].map((name) => states.filter((state) => state[1] === name))
    const wanted = JSON.stringify(byObject(recording.states))
    let played = await playGraph(graphPlays[recording.scenario]!, simulatedRuntime(0, { order: 'fifo' }))
    for (let seed = 1; seed <= seedsTried && JSON.stringify(byObject(played.states)) !== wanted; seed++)
      played = await playGraph(graphPlays[recording.scenario]!, simulatedRuntime(seed))
    assert.deepEqual(byObject(played.states), byObject(recording.states))
    const kinds = new Set(recording.writes.map(kindOfWrite))
    for (const write of played.writes) assert.ok(kinds.has(kindOfWrite(write)), `recorded: ${kindOfWrite(write)}`)
  })
}

/** The write without the values that differ from run to run. */
function kindOfWrite({ verb, uri, body }: Write): string {
  const shape = JSON.stringify(body, (key, value) =>
    key === 'uid' || key === 'resourceVersion' ? '*' : value === undefined ? null : value,
  )
  return `${verb} ${uri} ${shape}`
}
