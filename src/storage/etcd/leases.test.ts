import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createLeases } from './leases.ts'
import type { Members } from './members.ts'

/** Seconds of the leases that keys of an hour got which were written each ten seconds for two minutes. */
async function granted(reuseSeconds?: number): Promise<readonly number[]> {
  const runtime = simulatedRuntime(1)
  const asked: number[] = []
  const call = async (_name: string, request: { TTL: number; ID: number }) => {
    asked.push(request.TTL)
    return request
  }
  const leases = createLeases(runtime, { call } as unknown as Pick<Members, 'call'>, reuseSeconds)
  for (let seconds = 0; seconds < 120; seconds += 10) {
    await leases.leaseFor(3600)
    await runtime.advance(10_000)
  }
  return asked
}

test('keys that end by themselves share a lease for a minute, or as long as the flag says', async () => {
  assert.deepEqual(await granted(), [3660, 3660])
  assert.deepEqual(await granted(20), Array(6).fill(3620))
  assert.deepEqual(await granted(0), Array(12).fill(3600))
  // A twentieth of their time at most.
  assert.deepEqual(await granted(600), [3780])
})
