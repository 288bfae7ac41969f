import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUILD, KUBERNETES } from './version.ts'

test('/version tells of the release it answers as, and nothing of the tree that it was built from', () => {
  assert.equal(BUILD.gitVersion.split('+')[0], `v${KUBERNETES}`)
  assert.equal(BUILD.gitTreeState, '')
})
