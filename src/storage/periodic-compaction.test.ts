import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { openStorage } from './open.ts'
import { startCompactor } from './periodic-compaction.ts'

test('history is kept for five minutes, and little longer', async () => {
  const runtime = simulatedRuntime(1)
  const storage = await openStorage({ runtime, driver: 'memory' })
  const stop = startCompactor(runtime, storage)
  for (let minute = 0; minute < 20; minute++) {
    const write = storage.write({ type: 'put', key: `/registry/${minute}`, value: Buffer.from('x'), expectRevision: 0 })
    await runtime.complete(write)
    await runtime.advance(60_000)
    assert.ok(storage.revision - storage.compactedRevision >= 5 || storage.compactedRevision === 0)
    if (minute > 6) assert.ok(storage.revision - storage.compactedRevision <= 7)
  }
  const before = storage.compactedRevision
  stop()
  await runtime.advance(600_000)
  assert.equal(storage.compactedRevision, before)
})
