import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotatedMs, simulatedNumber, simulatedOutcome, simulationOf, withImage } from './simulation-annotations.ts'

test("a container's own annotation wins over its pod's", () => {
  const annotations = { 'sim.skiff.dev/exit-code': '1', 'c.sim.skiff.dev/exit-code': '2' }
  assert.equal(simulatedNumber(annotations, 'exit-code', 'c'), 2)
  assert.equal(simulatedNumber(annotations, 'exit-code', 'd'), 1)
  assert.equal(simulationOf(annotations, 'start-delay', 'c'), undefined)
})

test('durations are times with units, or seconds', () => {
  assert.deepEqual(['500ms', '3s', '1m30s', '2', '0.5', '1h', 'soon', '-1s', ''].map(annotatedMs), [
    500,
    3000,
    90_000,
    2000,
    500,
    3_600_000,
    undefined,
    undefined,
    undefined,
  ])
})

test('a probe fares as its annotation says, by the age of its container', () => {
  assert.deepEqual(
    [undefined, 'success', 'failure', 'success-after=3s', 'failure-after=3s', 'nonsense'].map((text) => [
      simulatedOutcome(text, 1000),
      simulatedOutcome(text, 3000),
    ]),
    [
      [true, true],
      [true, true],
      [false, false],
      [false, true],
      [true, false],
      [true, true],
    ],
  )
})

test("an image says what an annotation of its container would, after the container's own and before its pod's", () => {
  const exitCode = (annotations: Record<string, string>, image: string) =>
    simulationOf(withImage(annotations, image, 'c'), 'exit-code', 'c')
  assert.equal(exitCode({}, 'sim.skiff.dev/exit-code:3'), '3')
  assert.equal(exitCode({ 'sim.skiff.dev/exit-code': '1' }, 'sim.skiff.dev/exit-code:3'), '3')
  assert.equal(exitCode({ 'c.sim.skiff.dev/exit-code': '2' }, 'sim.skiff.dev/exit-code:3'), '2')
  assert.equal(simulationOf(withImage({}, 'sim.skiff.dev/never-ready', 'c'), 'never-ready', 'c'), 'true')
  for (const image of ['nginx', 'sim.skiff.dev/a/exit-code:3', 'example.com/sim.skiff.dev/exit-code:3'])
    assert.equal(exitCode({}, image), undefined, image)
})
