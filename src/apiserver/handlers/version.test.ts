import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUILD, KUBERNETES } from './version.ts'

test('/version tells of a release: its number, and a clean tree', () => {
  assert.equal(BUILD.gitVersion.split('+')[0], `v${KUBERNETES}`)
  assert.equal(BUILD.gitTreeState, 'clean')
})
