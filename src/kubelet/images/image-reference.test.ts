import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badImageName } from './image-reference.ts'

test('names of images that any registry may have', () => {
  for (const name of [
    'busybox',
    'busybox:1.36',
    'a/b/c:T_1.x',
    'localhost:5000/a',
    'UPPER/case:1',
    'registry.k8s.io/a__b/c-d',
    `busybox@sha256:${'0'.repeat(64)}`,
    `a:1@sha256:${'0'.repeat(64)}`,
    '[::1]:5000/a',
  ])
    assert.equal(badImageName(name), undefined, name)
})

test('what is wrong with a name that none can have', () => {
  assert.equal(
    badImageName('Busybox:1'),
    'invalid reference format: repository name (library/Busybox) must be lowercase',
  )
  assert.equal(badImageName('a//b'), 'invalid reference format')
  assert.equal(badImageName('a:'), 'invalid reference format')
  assert.equal(badImageName('a b'), 'invalid reference format')
  assert.equal(badImageName(`a@sha256:${'0'.repeat(40)}`), 'invalid checksum digest length')
  assert.equal(badImageName(`a@md5:${'0'.repeat(32)}`), 'unsupported digest algorithm')
  assert.equal(
    badImageName('a'.repeat(64)),
    `invalid repository name (${'a'.repeat(64)}), cannot specify 64-byte hexadecimal strings`,
  )
})
