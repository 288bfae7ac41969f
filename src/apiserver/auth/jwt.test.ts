import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { parseJws } from './jws.ts'
import { jwtKey, signedBy, signJwt } from './jwt.ts'

const pemOf = (pair: { readonly privateKey: { export(options: object): string | Buffer } }) =>
  jwtKey(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())

test('every signature verifies, however many bytes its numbers have', () => {
  const key = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  const other = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  // One number in 256 has fewer bytes than it may, and half of them have a zero before them.
  for (let i = 0; i < 1500; i++) {
    const jws = parseJws(signJwt(key, { i }))
    assert.ok(jws !== undefined && signedBy([other, key], jws), `token ${i}`)
    assert.equal(signedBy([other], jws), false)
  }
})

test('what an RSA key signs verifies', () => {
  const key = pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }))
  const jws = parseJws(signJwt(key, { sub: 'a' }))
  assert.ok(jws !== undefined && signedBy([key], jws))
  assert.equal(jws.algorithm, 'RS256')
})

test('a curve has its own algorithm, and its signatures verify with it alone', () => {
  for (const [namedCurve, algorithm] of [
    ['P-384', 'ES384'],
    ['P-521', 'ES512'],
  ] as const) {
    const key = pemOf(generateKeyPairSync('ec', { namedCurve }))
    const jws = parseJws(signJwt(key, { sub: 'a' }))
    assert.ok(jws !== undefined && signedBy([key], jws))
    assert.equal(jws.algorithm, algorithm)
    assert.equal(signedBy([key], { ...jws, algorithm: 'ES256' }), false)
  }
})
