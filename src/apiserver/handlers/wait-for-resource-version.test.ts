import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceRequest } from './context.ts'
import { handleGet } from './get.ts'
import { versionProblem } from './wait-for-resource-version.ts'

test('a version is a number of 64 bits without a sign', () => {
  for (const text of ['0', '7', '18446744073709551615']) assert.equal(versionProblem(text), undefined)
  assert.match(versionProblem('-1') as string, /invalid syntax$/)
  assert.match(versionProblem('18446744073709551616') as string, /value out of range$/)
})

test('one object is not read from before the version that was asked for', async () => {
  const { signal } = new AbortController()
  const waited: number[] = []
  const reached = async (revision: number) => waited.push(revision) === 0
  const caches = { revision: 5, reached, fresh: () => undefined }
  const request = { headers: {}, query: new URLSearchParams('resourceVersion=9'), signal }
  const resource = { context: { caches }, request, info: {}, endpoint: { row: {} }, warnings: [] }
  await assert.rejects(async () => handleGet(resource as unknown as ResourceRequest), {
    code: 504,
    message: 'Timeout: Too large resource version: 9, current: 5',
  })
  assert.deepEqual(waited, [9])
})
