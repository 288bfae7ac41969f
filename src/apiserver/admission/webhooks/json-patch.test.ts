import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody } from '../../../api/codec/decode.ts'
import { builtinScheme } from '../../../api/scheme/scheme.ts'
import { applyWebhookPatch, reasonOf, TestFailed } from './json-patch.ts'

const object = { metadata: { name: 'a' }, spec: { list: [1] } }

test('a patch that applies gives the changed document', () => {
  const patched = applyWebhookPatch(object, [{ op: 'add', path: '/spec/list/-', value: 2 }])
  assert.deepEqual(patched, { metadata: { name: 'a' }, spec: { list: [1, 2] } })
  assert.deepEqual(object.spec.list, [1])
})

test('a patch that does not apply says which operation, in words webhook authors know', () => {
  const failing = (op: object, message: string) =>
    assert.throws(() => applyWebhookPatch(object, [op as never]), { message })
  failing(
    { op: 'add', path: '/status/x', value: 1 },
    'add operation does not apply: doc is missing path: "/status/x": missing value',
  )
  failing(
    { op: 'remove', path: '/metadata/no' },
    "error in remove for path: '/metadata/no': Unable to remove nonexistent key: no: missing value",
  )
  failing(
    { op: 'move', from: '/metadata/no', path: '/metadata/x' },
    "error in move for path: 'no': Unable to remove nonexistent key: no: missing value",
  )
  failing(
    { op: 'copy', from: '/metadata/name', path: '/status/x' },
    'copy operation does not apply: doc is missing destination path: /status/x: missing value',
  )
  failing(
    { op: 'add', path: '/spec/list/x', value: 1 },
    `error in add for path: '/spec/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
  )
  failing({ op: 'test', path: '/metadata/name', value: 'b' }, 'testing value /metadata/name failed: test failed')
})

test('a test that finds another value is told from one whose place is missing', () => {
  const thrownBy = (path: string): unknown => {
    try {
      return applyWebhookPatch(object, [{ op: 'test', path, value: 'b' }])
    } catch (error) {
      return error
    }
  }
  assert.ok(thrownBy('/metadata/name') instanceof TestFailed)
  assert.ok(thrownBy('') instanceof TestFailed)
  const missing = thrownBy('/status/x') as Error
  assert.ok(!(missing instanceof TestFailed))
  assert.equal(missing.message, 'test operation does not apply: is missing path: /status/x: missing value')
})

test('what a decoder found wrong is told without the words for a client around it, whatever stands in it', () => {
  const told = (object: object): string => {
    try {
      decodeBody({ kind: 'object', object: object as never }, builtinScheme().find('', 'v1', 'configmaps')!, {
        fieldValidation: 'Strict',
      })
    } catch (error) {
      assert.match((error as Error).message, / cannot be handled as a ConfigMap: /)
      return reasonOf(error)
    }
    return ''
  }
  assert.equal(
    told({ data: {}, 'a: b cannot be handled as a c: d': 1 }),
    'strict decoding error: unknown field "a: b cannot be handled as a c: d"',
  )
  assert.equal(reasonOf(new Error('cannot be handled as a x: y')), 'cannot be handled as a x: y')
})

test('copies of copies are counted together', () => {
  const doubling = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/spec', path: `/spec/${i}` }))
  assert.throws(() => applyWebhookPatch({ spec: { a: 'x'.repeat(1000) } }, doubling), /copy operation does not apply/)
  const often = Array.from({ length: 500 }, (_, i) => ({ op: 'copy', from: '/a', path: `/b${i}` }))
  assert.throws(() => applyWebhookPatch({ a: 'x'.repeat(10_000) }, often), /copy operation does not apply/)
  const big = { a: 9007199254740993n } as never
  assert.deepEqual(applyWebhookPatch(big, [{ op: 'copy', from: '/a', path: '/b' }]), {
    a: 9007199254740993n,
    b: 9007199254740993n,
  })
})
