import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '../errors/field-errors.ts'
import { validateConditions } from './conditions.ts'

const whole = { type: 'Ready', status: 'True', reason: 'Because', lastTransitionTime: '2026-01-01T00:00:00Z' }

function told(...list: readonly object[]): readonly string[] {
  const errors: FieldError[] = []
  validateConditions(list, 'c', errors)
  return errors.map(({ field, message }) => `${field}: ${message.slice(0, 60)}`)
}

test('a whole condition is right, and so is its longest message', () => {
  assert.deepEqual(told(whole, { ...whole, type: 'example.com/Other', message: 'x'.repeat(32_768) }), [])
})

test('each field of a condition is asked for', () => {
  assert.deepEqual(told({}), [
    'c[0].type: Required value: is required',
    'c[0].status: Required value',
    'c[0].lastTransitionTime: Required value',
    'c[0].reason: Required value',
  ])
})

test('a type is a qualified name, and stands once', () => {
  assert.match(told({ ...whole, type: 'a b' })[0]!, /^c\[0\]\.type: Invalid value: "a b"/)
  assert.deepEqual(told(whole, whole), ['c[1]: Duplicate value: "Ready"'])
})

test('a status is one of three words', () => {
  assert.match(told({ ...whole, status: 'true' })[0]!, /^c\[0\]\.status: Unsupported value: "true"/)
  assert.deepEqual(told({ ...whole, status: 'Unknown' }), [])
})

test('a reason has the form of a name, of at most 1024 bytes', () => {
  assert.match(told({ ...whole, reason: 'a reason' })[0]!, /^c\[0\]\.reason: Invalid value: "a reason"/)
  assert.match(told({ ...whole, reason: '1st' })[0]!, /^c\[0\]\.reason/)
  assert.deepEqual(told({ ...whole, reason: 'ReasonA,ReasonB:C_d' }), [])
  assert.deepEqual(told({ ...whole, reason: 'r'.repeat(1024) }), [])
  assert.match(told({ ...whole, reason: 'r'.repeat(1025) })[0]!, /^c\[0\]\.reason: Too long/)
})

test('a generation is not below zero, and a message not longer than 32 KiB', () => {
  assert.match(told({ ...whole, observedGeneration: -1 })[0]!, /^c\[0\]\.observedGeneration: Invalid value: -1/)
  assert.deepEqual(told({ ...whole, observedGeneration: 0 }), [])
  assert.match(told({ ...whole, message: 'x'.repeat(32_769) })[0]!, /^c\[0\]\.message: Too long/)
})
