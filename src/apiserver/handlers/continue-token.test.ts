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

test('a token is read as Go reads its struct, and what is wrong first is told', () => {
  const told = (text: string | Buffer) => {
    try {
      return decodeContinue(Buffer.from(text as string).toString('base64url'), PREFIX)
    } catch (error) {
      return (error as Error).message.replace('invalid continue token: continue key is not valid: ', '')
    }
  }
  const V = '"v":"meta.k8s.io/v1"'
  const type = (found: string, field: string, type: string) =>
    `json: cannot unmarshal ${found} into Go struct field continueToken.${field} of type ${type}`
  const of = (found: string) => `json: cannot unmarshal ${found} into Go value of type storage.continueToken`
  const noStart = 'encoded start key empty (version meta.k8s.io/v1)'
  for (const [text, answer] of [
    [`{${V},"rv":5}`, noStart],
    [`{${V},"rv":5,"start":null}`, noStart],
    [`{${V},"rv":5,"start":7}`, type('number', 'start', 'string')],
    [`{${V},"rv":"5","start":"a"}`, type('string', 'rv', 'int64')],
    [`{${V},"rv":[],"start":"a"}`, type('array', 'rv', 'int64')],
    [`{${V},"rv":5.0,"start":"a"}`, type('number 5.0', 'rv', 'int64')],
    [`{${V},"rv":9223372036854775808,"start":"a"}`, type('number 9223372036854775808', 'rv', 'int64')],
    [`{${V},"rv":null,"start":"a"}`, 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    ['{"v":1,"v":"meta.k8s.io/v1","rv":1,"start":"a"}', type('number', 'v', 'string')],
    ['{"v":"x","rv":"y","start":3}', type('string', 'rv', 'int64')],
    ['null', 'server does not recognize this encoded version '],
    ['true', of('bool')],
    ['"x"', of('string')],
    ['[]', of('array')],
    ['{,}', "invalid character ',' looking for beginning of object key string"],
    ['tru', "invalid character ' ' in literal true (expecting 'e')"],
    [' ', 'unexpected end of JSON input'],
    [Buffer.from([0xff]), "invalid character 'ÿ' looking for beginning of value"],
  ] as const)
    assert.equal(told(text as string), answer, String(text))
  const read = { revision: 5, start: `${PREFIX}a` }
  for (const text of ['{"V":"meta.k8s.io/v1","RV":5,"Start":"a"}', `{${V},"rv":5,"start":"a","x":1} `])
    assert.deepEqual(told(text), read)
})
