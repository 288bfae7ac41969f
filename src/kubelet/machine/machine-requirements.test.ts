import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '@grpc/grpc-js'
import type { Clock } from '../../base/clock.ts'
import { RuntimeCallError } from '../runtimes/cri/connection.ts'
import { onceInitialized } from './machine-requirements.ts'

/** Time passes by waiting alone. */
function passingClock(): Clock {
  let now = 0
  return {
    now: () => now,
    monotonic: () => now,
    setTimer: (ms: number, _label: string, run: () => void) => {
      now += ms
      queueMicrotask(run)
      return { cancel() {} }
    },
  } as unknown as Clock
}

test('a runtime that has just begun is waited for, until it knows its containers', async () => {
  let refusals = 20
  const answer = await onceInitialized(passingClock(), async () => {
    if (refusals-- > 0) throw new RuntimeCallError('server is not initialized yet', status.UNKNOWN)
    return 'containerd'
  })
  assert.equal(answer, 'containerd')
})

test('a runtime that never gets ready is not waited for without end, and another failure not at all', async () => {
  const clock = passingClock()
  const refuse = (message: string, code: status) =>
    onceInitialized(clock, () => Promise.reject(new RuntimeCallError(message, code)))
  await assert.rejects(refuse('server is not initialized yet', status.UNKNOWN), /not initialized/)
  const waited = clock.monotonic()
  assert.ok(waited > 30_000 && waited < 120_000)
  await assert.rejects(refuse('unknown service runtime.v1.RuntimeService', status.UNIMPLEMENTED), /unknown service/)
  assert.equal(clock.monotonic(), waited)
})
