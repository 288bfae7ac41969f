import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../object.ts'
import { indexOverlap, parsedIndexes } from './job-indexes.ts'
import { validateJobStatus } from './job-status.ts'

const job = (status: Fields, spec: Fields): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  spec,
  status,
})
const told = (status: Fields, before: Fields = {}, spec: Fields = { completions: 3, parallelism: 1 }) =>
  validateJobStatus(job(status, spec), job(before, spec)).map(({ field, message }) => `${field}: ${message}`)
const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']
const is = (...types: string[]) => types.map((type) => ({ type, status: 'True' }))
const complete = { conditions: is('SuccessCriteriaMet', 'Complete'), startTime: early, completionTime: late }

test('a list of indexes rises and stays below the completions', () => {
  assert.deepEqual(parsedIndexes('0,2-4,+7', 8), {
    intervals: [
      [0, 0],
      [2, 4],
      [7, 7],
    ],
  })
  const problem = (text: string) => (parsedIndexes(text, 8) as { problem?: string }).problem
  assert.equal(problem('8'), 'too large index: "8"')
  assert.equal(problem('1,1'), 'non-increasing order, previous: 1, current: 1')
  assert.equal(problem('0,,1'), 'cannot convert string to integer for index: ""')
  assert.equal(problem('99999999999999999999'), 'cannot convert string to integer for index: "99999999999999999999"')
  assert.match(problem('1-2-3')!, /at most two parts/)
  assert.deepEqual(parsedIndexes('99', undefined), { intervals: [[99, 99]] })
})

test('two lists meet at the first index that both have', () => {
  const meet = (a: string, b: string) => indexOverlap(parsedIndexes(a, undefined), parsedIndexes(b, undefined))
  assert.equal(meet('0-5', '3-9'), 3)
  assert.equal(meet('0-2', '3'), undefined)
  assert.equal(meet('x', '0'), undefined)
})

test('an end is announced, has its times, and leaves nothing running', () => {
  assert.deepEqual(told(complete), [])
  assert.deepEqual(told({ conditions: is('Complete') }), [
    'status.completionTime: Required value: completionTime is required for Complete jobs',
    'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    'status.startTime: Required value: startTime is required for finished job',
  ])
  assert.deepEqual(told({ ...complete, active: 1, terminating: 2, uncountedTerminatedPods: { failed: ['u'] } }), [
    'status.active: Invalid value: 1: active>0 is invalid for finished job',
    'status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["u"]}: must be empty for finished job',
    'status.terminating: Invalid value: 2: terminating>0 is invalid for finished job',
  ])
  assert.deepEqual(told({ ...complete, startTime: late, completionTime: early }), [
    `status.completionTime: Invalid value: "${early}": must be equal to or after \`startTime\``,
  ])
})

test('a job that never started may end without a start', () => {
  const ended = { conditions: is('FailureTarget', 'Failed') }
  assert.deepEqual(told(ended, {}, { suspend: true, completions: 0 }), [])
  assert.equal(told(ended, {}, { suspend: true, completions: 1 }).length, 1)
})

test('success and failure exclude each other', () => {
  assert.deepEqual(told({ conditions: is('SuccessCriteriaMet', 'FailureTarget') }), [
    'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
  ])
})

test('an end stays, and so do its times and counters', () => {
  assert.deepEqual(told({ ...complete, conditions: [], completionTime: undefined }, complete), [
    'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
    'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
  ])
  assert.deepEqual(told({ startTime: late, failed: 1, succeeded: 1 }, { startTime: early, failed: 2, succeeded: 2 }), [
    'status.failed: Invalid value: 1: cannot decrease the failed counter',
    'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
    `status.startTime: Invalid value: "${late}": field is immutable for unsuspended job once set`,
  ])
  const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 }
  assert.deepEqual(told({ succeeded: 1 }, { succeeded: 2 }, indexed), [])
  assert.equal(told({ succeeded: 1 }, { succeeded: 2 }, { ...indexed, parallelism: 2 }).length, 1)
})

test('what was stored before a rule was made keeps no status from being written', () => {
  const wrong = { ready: 3, completedIndexes: 'x', conditions: is('Complete') }
  assert.deepEqual(told({ ...wrong, succeeded: 1 }, wrong), [])
})
