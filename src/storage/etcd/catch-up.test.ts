import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '@grpc/grpc-js'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { CompactedError, StoreError } from '../storage.ts'
import { catchUp, type Missed } from './catch-up.ts'
import { EtcdError } from './errors.ts'

const away = new StoreError('etcd: away', { cause: new EtcdError('away', status.UNAVAILABLE, true) })
const denied = new EtcdError('etcdserver: permission denied', status.PERMISSION_DENIED, false)

/** A subscriber that has seen 1 where the feed is at 2. */
function behind(read: Missed['read']) {
  const lines: string[] = []
  const runtime = simulatedRuntime(1, { log: { level: 0, write: (line) => lines.push(line) } })
  const over = new AbortController()
  const heard: number[] = []
  const tries: number[] = []
  const begun = runtime.clock.monotonic()
  const task = catchUp(
    runtime,
    1,
    {
      read(after) {
        tries.push(runtime.clock.monotonic() - begun)
        return read(after)
      },
      joins: (at) => at >= 2,
    },
    { events: (_events, revision) => heard.push(revision) },
    over.signal,
  )
  let end: unknown
  task.then(
    () => {
      end = 'done'
    },
    (error) => {
      end = error
    },
  )
  return { runtime, over, heard, tries, lines, end: () => end }
}

test('while etcd is away each try waits longer, and unsubscribing ends that at once', async () => {
  const { runtime, tries, over, end, lines } = behind(() => Promise.reject(away))
  await runtime.advance(60_000)
  assert.deepEqual(tries.slice(0, 4), [0, 100, 300, 600])
  assert.ok(tries.length > 55 && tries.length < 70, `${tries.length} tries`)
  assert.equal(lines.length, tries.length)
  over.abort()
  await runtime.advance(0)
  assert.equal(end(), 'done')
  const made = tries.length
  await runtime.advance(60_000)
  assert.equal(tries.length, made)
})

test('what was away is read when it is back, and so is what etcd compacts once more meanwhile', async () => {
  let tries = 0
  // As grpc-js words connections that break, and as a watch is ended without a reason.
  const broken = new EtcdError('Call ended without gRPC status', status.INTERNAL, false)
  const ended = new StoreError('etcd: ended', {
    cause: new EtcdError('etcd has ended the watch', status.UNKNOWN, false),
  })
  const errors = [away, new CompactedError(2), broken, ended]
  const { runtime, heard, end } = behind(async () => {
    const error = errors[tries++]
    if (error !== undefined) throw error
    return { events: [], revision: 2 }
  })
  await runtime.advance(2000)
  assert.deepEqual([heard, end()], [[2], 'done'])
})

test('an error that does not pass ends it, in its own words', async () => {
  const error = new StoreError('etcd refuses', { cause: denied })
  const { runtime, tries, end } = behind(() => Promise.reject(error))
  await runtime.advance(60_000)
  assert.deepEqual([tries.length, end()], [1, error])
})
