import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { mergeHints } from './merge-hints.ts'
import { countOf, maskOf, masksOf, type NumaMask, type TopologyHint } from './topology-hints.ts'
import { topologyPolicyOptions } from './topology-options.ts'

const machine = (count: number) => ({ nodes: Array.from({ length: count }, (_, id) => id), between: () => 10 })

type Choices = readonly (readonly TopologyHint[])[]

function combinations(choices: Choices): readonly (readonly TopologyHint[])[] {
  return choices.reduce<readonly (readonly TopologyHint[])[]>(
    (all, own) => all.flatMap((chosen) => own.map((hint) => [...chosen, hint])),
    [[]],
  )
}

/** By a look at each combination. */
function bestOfAll(choices: Choices, everywhere: NumaMask): TopologyHint {
  const least = (own: readonly TopologyHint[]) =>
    Math.min(...own.flatMap(({ affinity }) => (affinity === undefined ? [] : [countOf(affinity)])))
  const fewest = Math.max(0, ...choices.map(least).filter(Number.isFinite))
  const outcomes = combinations(choices).flatMap((chosen) => {
    const masks = chosen.flatMap(({ affinity }) => affinity ?? [])
    const affinity = masks.reduce((all, one) => all & one, everywhere)
    const preferred = chosen.every((hint) => hint.preferred) && new Set(masks).size <= 1
    const count = countOf(affinity)
    // As many nodes as are needed, else nearly so many from below, else from above.
    const distance = count <= fewest ? fewest - count : 100 + count
    return affinity === 0 ? [] : [{ affinity, preferred, rank: preferred ? [0, count] : [1, distance] }]
  })
  const [best] = outcomes.sort(
    ({ rank: [a = 0, b = 0], affinity: c }, { rank: [d = 0, e = 0], affinity: f }) => a - d || b - e || c - f,
  )
  return best === undefined
    ? { affinity: everywhere, preferred: false }
    : { affinity: best.affinity, preferred: best.preferred }
}

test('the best of all combinations is found', () => {
  const random = seededRandom(5)
  const upTo = (most: number) => Math.floor(random.float() * (most + 1))
  let preferred = 0
  for (let round = 0; round < 2000; round++) {
    const count = 1 + upTo(3)
    const everywhere = 2 ** count - 1
    const hint = (): TopologyHint => ({
      affinity: upTo(5) === 0 ? undefined : 1 + upTo(everywhere - 1),
      preferred: upTo(1) === 0,
    })
    const choices = Array.from({ length: upTo(4) }, () => Array.from({ length: 1 + upTo(3) }, hint))
    const found = mergeHints(choices, machine(count))
    assert.deepEqual(found, bestOfAll(choices, everywhere), JSON.stringify(choices))
    if (found.preferred) preferred++
  }
  assert.ok(preferred > 100 && preferred < 1900)
})

test('hints of many resources on eight nodes are merged at once', () => {
  const { nodes, between } = machine(8)
  const hints = (least: number) =>
    masksOf(nodes)
      .filter((mask) => countOf(mask) >= least)
      .map((affinity) => ({ affinity, preferred: countOf(affinity) === least }))
  const merged = mergeHints([hints(1), hints(1), hints(2), hints(1), hints(2)], { nodes, between })
  assert.deepEqual(merged, { affinity: maskOf([0, 1]), preferred: false })
  assert.deepEqual(mergeHints(Array(6).fill(hints(3)), { nodes, between }), { affinity: 0b111, preferred: true })
})

test('no more nodes are allowed than an integer has bits', () => {
  const most = (value: string) => topologyPolicyOptions({ 'max-allowable-numa-nodes': value }).mostNodes
  assert.deepEqual([most('16'), most('31'), most('64')], [16, 31, 31])
})
