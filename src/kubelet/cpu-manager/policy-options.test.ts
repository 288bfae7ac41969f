import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuPolicyOptions } from './policy-options.ts'

test('an option that is none is refused, whatever objects have by that name', () => {
  for (const name of ['foo', 'constructor'])
    assert.throws(() => cpuPolicyOptions({ [name]: 'true' }, () => true), {
      message: `unknown CPU Manager Policy option: "${name}"`,
    })
})
