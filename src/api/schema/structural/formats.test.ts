import assert from 'node:assert/strict'
import { test } from 'node:test'
import cases from './format-cases.json' with { type: 'json' }
import { formatCheck } from './formats.ts'

for (const [format, { taken, refused }] of Object.entries(cases))
  test(`texts of the format ${format} are taken and refused as Kubernetes takes and refuses them`, () => {
    const isTaken = formatCheck(format)
    assert.ok(isTaken)
    assert.deepEqual(
      taken.filter((text) => !isTaken(text)),
      [],
    )
    assert.deepEqual(refused.filter(isTaken), [])
  })

test('a long text of digits is looked at in a time that grows with its length', () => {
  const isDuration = formatCheck('duration')
  assert.equal(isDuration?.('1'.repeat(1_000_000)), false)
  assert.equal(isDuration?.(`${'1 '.repeat(500_000)}`), false)
})
