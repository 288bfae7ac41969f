import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { failedIndexesOf, failureAnnotations, indexBackoff, podsToReplace } from './backoff-limit-per-index.ts'
import { indexLabel } from './completion-indexes.ts'
import { trackingFinalizer } from './job.ts'
import { policyVerdict } from './pod-failure-policy.ts'
import { successByPolicy } from './success-policy.ts'

const jobOf = (spec: Fields): KubeObject => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec })
const finishedAt = '2026-01-01T00:00:00Z'
const podOf = (exitCodes: Readonly<Record<string, number>>, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name: 'p', finalizers: [trackingFinalizer], annotations },
  status: {
    phase: 'Failed',
    conditions: [{ type: 'DisruptionTarget', status: 'True' }],
    containerStatuses: Object.entries(exitCodes).map(([name, exitCode]) => ({
      name,
      state: { terminated: { exitCode, finishedAt } },
    })),
  },
})
const policy = (...rules: readonly Fields[]) => jobOf({ podFailurePolicy: { rules } })
const onExit = (operator: string, values: readonly number[], containerName?: string) => ({
  onExitCodes: { operator, values, ...(containerName === undefined ? {} : { containerName }) },
})

test('a rule of exit codes looks at containers that failed, of the name it gives', () => {
  const one = policy({ action: 'Count', ...onExit('In', [3], 'b') })
  assert.equal(policyVerdict(one, podOf({ a: 3 })), undefined)
  assert.deepEqual(policyVerdict(one, podOf({ b: 3 })), { action: 'Count', counts: true })
  const others = policy({ action: 'Ignore', ...onExit('NotIn', [3]) })
  assert.equal(policyVerdict(others, podOf({ a: 0, b: 3 })), undefined)
  assert.deepEqual(policyVerdict(others, podOf({ a: 0, b: 4 })), { action: 'Ignore', counts: false })
})

test('the first rule that matches decides; FailIndex is for jobs with a limit per index', () => {
  const failIndex = { action: 'FailIndex', ...onExit('In', [3]) }
  const disrupted = { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }
  assert.equal(policyVerdict(policy(failIndex, disrupted), podOf({ a: 3 }))?.action, 'Ignore')
  const limited = jobOf({ podFailurePolicy: { rules: [failIndex, disrupted] }, backoffLimitPerIndex: 1 })
  assert.equal(policyVerdict(limited, podOf({ a: 3 }))?.action, 'FailIndex')
})

test('an index has failed when its pods did more often than allowed; its last pod waits for its replacement', () => {
  const job = jobOf({ completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 })
  const first = podOf({ a: 1 }, { [indexLabel]: '2' })
  assert.deepEqual(failedIndexesOf(job, [first]), new Set())
  assert.deepEqual([...podsToReplace(job, [first], [])], [[2, first]])
  const marks = failureAnnotations(job, first)
  assert.deepEqual(marks, { 'batch.kubernetes.io/job-index-failure-count': '1' })
  const second = podOf({ a: 1 }, { [indexLabel]: '2', ...marks })
  assert.deepEqual(failedIndexesOf(job, [second]), new Set([2]))
  assert.deepEqual([...podsToReplace(job, [first, second], [])], [[2, second]])
  assert.deepEqual([...podsToReplace(job, [second], [new Set([2])])], [])
})

test('each failure of an index doubles its wait', () => {
  const job = jobOf({ completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 9 })
  const end = Date.parse(finishedAt)
  assert.equal(indexBackoff(job, undefined, end), 0)
  assert.equal(indexBackoff(job, podOf({ a: 1 }), end + 4000), 6000)
  const third = podOf({ a: 1 }, { 'batch.kubernetes.io/job-index-failure-count': '2' })
  assert.equal(indexBackoff(job, third, end), 40_000)
})

test('a success policy wants all the indexes of a rule, or so many', () => {
  const met = (rules: readonly Fields[], ...succeeded: readonly number[]) =>
    successByPolicy(jobOf({ completions: 5, successPolicy: { rules } }), new Set(succeeded))?.message
  assert.equal(met([{ succeededIndexes: '0,2-3' }], 0, 2), undefined)
  assert.equal(met([{ succeededIndexes: '0,2-3' }], 0, 2, 3), 'Matched rules at index 0')
  assert.equal(
    met([{ succeededCount: 3 }, { succeededIndexes: '1-4', succeededCount: 2 }], 1, 4),
    'Matched rules at index 1',
  )
  assert.equal(met([], 0, 1), undefined)
})
