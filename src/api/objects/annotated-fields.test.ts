import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AUTOSCALER_BEHAVIOR,
  AUTOSCALER_METRICS,
  annotationReader,
  ConversionError,
  emptyAutoscalerFields,
  ROLLBACK_TO,
  TEMPLATE_GENERATION,
  withoutAnnotations,
} from './annotated-fields.ts'

const DAEMON_SET = 'io.k8s.api.apps.v1.DaemonSet'
const DEPLOYMENT = 'io.k8s.api.apps.v1.Deployment'
const read = (definition: string, name: string, text: string) =>
  annotationReader(definition)!({ other: 'x', [name]: text })[name]
const refused = (definition: string, name: string, text: string, message: string) =>
  assert.throws(
    () => read(definition, name, text),
    (error) => {
      assert.ok(error instanceof ConversionError)
      assert.equal(error.message, message)
      return true
    },
  )

test('numbers in annotations are read as fields, and written in one way', () => {
  for (const [definition, name] of [
    [DAEMON_SET, TEMPLATE_GENERATION],
    [DEPLOYMENT, ROLLBACK_TO],
  ] as const) {
    for (const [text, expected] of [
      ['0', '0'],
      ['+3', '3'],
      ['007', '7'],
      ['-5', '-5'],
      ['9223372036854775807', '9223372036854775807'],
    ] as const)
      assert.equal(read(definition, name, text), expected)
  }
  const same = { [ROLLBACK_TO]: '3' }
  assert.equal(annotationReader(DEPLOYMENT)!(same), same)
})

test('what is no number of 64 bits is refused in the words of strconv', () => {
  const syntax = (quoted: string) => `strconv.ParseInt: parsing ${quoted}: invalid syntax`
  const range = 'strconv.ParseInt: parsing "9223372036854775808": value out of range'
  const rollback = (text: string, problem: string) =>
    `failed to parse annotation[${ROLLBACK_TO}]=${text} as int64: ${problem}`
  for (const text of ['x', '1.5', ' 1', '0x10', '1_0', '-']) {
    refused(DAEMON_SET, TEMPLATE_GENERATION, text, syntax(`"${text}"`))
    refused(DEPLOYMENT, ROLLBACK_TO, text, rollback(text, syntax(`"${text}"`)))
  }
  refused(DAEMON_SET, TEMPLATE_GENERATION, '\u0001é"<\\', syntax('"\\x01é\\"<\\\\"'))
  refused(DAEMON_SET, TEMPLATE_GENERATION, '9223372036854775808', range)
  refused(DEPLOYMENT, ROLLBACK_TO, '9223372036854775808', rollback('9223372036854775808', range))
})

test('an empty text is no revision to go back to, but no template generation either', () => {
  assert.equal(read(DEPLOYMENT, ROLLBACK_TO, ''), undefined)
  refused(DAEMON_SET, TEMPLATE_GENERATION, '', 'strconv.ParseInt: parsing "": invalid syntax')
})

test('only the kind that the field belongs to reads its annotation', () => {
  assert.equal(read(DEPLOYMENT, TEMPLATE_GENERATION, 'x'), 'x')
  assert.equal(read(DAEMON_SET, ROLLBACK_TO, 'x'), 'x')
  assert.equal(annotationReader('io.k8s.api.apps.v1.ReplicaSet'), undefined)
  assert.equal(annotationReader('constructor'), undefined)
})

test('annotations taken away leave the others, and no empty field', () => {
  assert.deepEqual(withoutAnnotations({ metadata: { name: 'a', annotations: { b: '1', c: '2' } } }, ['b', 'x']), {
    name: 'a',
    annotations: { c: '2' },
  })
  assert.deepEqual(withoutAnnotations({ metadata: { name: 'a', annotations: { b: '1' } } }, ['b']), { name: 'a' })
  assert.equal(withoutAnnotations({ metadata: { name: 'a', annotations: { c: '2' } } }, ['b']), undefined)
  assert.equal(withoutAnnotations({}, ['b']), undefined)
})

test("an autoscaler's annotations that hold nothing are told apart from those that do", () => {
  for (const [name, empty, full] of [
    [AUTOSCALER_METRICS, ['x', '[', '[]', '{}', ''], '[{"type":"Pods"}]'],
    [AUTOSCALER_BEHAVIOR, ['x', '[', '[]', '{}', ''], '{"scaleUp":{}}'],
  ] as const) {
    for (const text of empty) assert.ok(emptyAutoscalerFields({ [name]: text }).includes(name), `${name} ${text}`)
    assert.ok(!emptyAutoscalerFields({ [name]: full }).includes(name))
  }
})
