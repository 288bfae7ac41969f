import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeContinue, encodeContinue } from './continue-token.ts'

const PREFIX = '/registry/configmaps/'
const startIn = (token: string) => JSON.parse(Buffer.from(token, 'base64url').toString()).start
const tokenOf = (start: string) =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 5, start })).toString('base64url')

test('where to go on begins with a slash, but for kinds that are listed from the store', () => {
  assert.equal(startIn(encodeContinue(`${PREFIX}a/b`, PREFIX, 5, false)), '/a/b\u0000')
  assert.equal(startIn(encodeContinue(`${PREFIX}a/b`, PREFIX, 5, true)), 'a/b\u0000')
})

test('both forms lead to the same key, and a path that needs cleaning is refused', () => {
  for (const start of ['a/b\u0000', '/a/b\u0000'])
    assert.deepEqual(decodeContinue(tokenOf(start), PREFIX), { revision: 5, start: `${PREFIX}a/b\u0000` })
  assert.equal(decodeContinue(tokenOf('/'), PREFIX).start, PREFIX)
  for (const start of ['//a/b', '/a//b', '/../b', '../b', 'a/../b', '/a/./b', '.', '/a/b/', 'a/'])
    assert.throws(() => decodeContinue(tokenOf(start), PREFIX), {
      message: `invalid continue token: continue key is not valid: ${start}`,
    })
})

test('a revision that is no 64-bit integer is refused', () => {
  for (const written of ['7.5', '1e999', '99999999999999999999', '-1.5'])
    assert.throws(
      () =>
        decodeContinue(Buffer.from(`{"v":"meta.k8s.io/v1","rv":${written},"start":"a"}`).toString('base64url'), PREFIX),
      {
        message: `invalid continue token: continue key is not valid: json: cannot unmarshal number ${written} into Go struct field continueToken.rv of type int64`,
      },
    )
})
