import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuSetText, parseCpuSet } from './cpu-set.ts'

test('lists of CPUs and of ranges are read', () => {
  for (const text of ['', '0', '0-2,5', '7,9-65535']) assert.equal(cpuSetText(parseCpuSet(text)), text)
  assert.equal(cpuSetText(parseCpuSet('5,1-2,+2,3')), '1-3,5')
})

for (const [text, message] of [
  ['1-2-3', 'strconv.Atoi: parsing "2-3": invalid syntax'],
  ['-1', 'strconv.Atoi: parsing "": invalid syntax'],
  ['1-', 'strconv.Atoi: parsing "": invalid syntax'],
  ['1,', 'strconv.Atoi: parsing "": invalid syntax'],
  ['a', 'strconv.Atoi: parsing "a": invalid syntax'],
  ['3-1', 'invalid range "3-1" (3 > 1)'],
  ['0-4000000000', 'strconv.Atoi: parsing "4000000000": value out of range'],
] as const)
  test(`${text} is refused`, () => {
    assert.throws(() => parseCpuSet(text), { message })
  })
