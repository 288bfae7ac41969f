import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodDisruptionBudget } from '../generated/types.ts'
import { validatePodDisruptionBudgetStatus } from './policy.ts'

const allowed = { type: 'DisruptionAllowed', status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' }

const told = (status: object): readonly string[] =>
  validatePodDisruptionBudgetStatus({ status } as PodDisruptionBudget).map(
    ({ field, message }) => `${field}: ${message}`,
  )

/** What a v1.37.1 answered on 2026-11-27, in its order. */
test("conditions of a budget's status are whole, one of each type, and told before its numbers", () => {
  assert.deepEqual(told({ conditions: [allowed] }), [])
  assert.deepEqual(told({ conditions: [allowed, allowed] }), [
    'status.conditions[1]: Duplicate value: "DisruptionAllowed"',
  ])
  const of = 'status.conditions[0]'
  assert.deepEqual(told({ conditions: [{}], disruptionsAllowed: -1, expectedPods: -4 }), [
    `${of}.type: Required value: is required`,
    `${of}.status: Required value`,
    `${of}.lastTransitionTime: Required value`,
    `${of}.reason: Required value`,
    'status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0',
    'status.expectedPods: Invalid value: -4: must be greater than or equal to 0',
  ])
})
