import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyWebhookPatch } from './json-patch.ts'

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
