import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asKubeObject } from '../object.ts'
import { validateJobSpec } from './jobs.ts'

test('of a Job of very many indexes with a backoff limit each fewer run at a time and may fail', () => {
  const template = asKubeObject({ spec: {} })
  const wrong = (spec: object) => {
    const errors: Parameters<typeof validateJobSpec>[2] = []
    validateJobSpec({ template, completionMode: 'Indexed', backoffLimitPerIndex: 1, ...spec } as never, 'spec', errors)
    return errors
      .map(({ field, message }) => `${field} ${message.replace(/^Invalid value: \d+: /, '')}`)
      .filter((text) => text.includes('less than'))
  }
  const many =
    'must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index'
  assert.deepEqual(wrong({ completions: 100_001, parallelism: 20_000, maxFailedIndexes: 10_001 }), [
    `spec.parallelism ${many}`,
    `spec.maxFailedIndexes ${many}`,
  ])
  assert.deepEqual(wrong({ completions: 100_000, parallelism: 20_000, maxFailedIndexes: 100_001 }), [
    'spec.maxFailedIndexes must be less than or equal to completions',
    'spec.maxFailedIndexes must be less than or equal to 100000',
  ])
})
