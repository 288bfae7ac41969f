/** What faults do to the events of watches, on a clock of the test's own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestInfo, WatchEvent } from '../../api/request.ts'
import { ConnectionCut } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { Stream, type StreamReader } from '../../base/stream.ts'
import { createFaultyWatches } from './watch.ts'
import { createFaults } from './which-requests-are-struck.ts'

const event = (version: number, type: WatchEvent['type'] = 'ADDED'): WatchEvent => ({
  type,
  object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: `o${version}`, resourceVersion: String(version) } },
})

function fixture(...rules: readonly string[]) {
  const runtime = simulatedRuntime(1)
  const faults = createFaults(runtime, { faults: rules, seed: 1 })
  const watches = createFaultyWatches(runtime, faults)
  const struck: string[] = []
  /** Reads as the transport does, noting what came and when. */
  const watch = (resource: string, told: string[] = []) => {
    const source = new Stream<WatchEvent>()
    const info = { verb: 'watch', resource, group: '', subresource: '', namespace: '', name: '' } as RequestInfo
    const reader = watches.around(source, { info, userAgent: 'op/1', isOwn: false }, 3, ({ text }) => struck.push(text))
    const reading = read(reader, (line) => told.push(`${runtime.clock.monotonic()} ${resource} ${line}`))
    return { source, reader, told, reading }
  }
  return { runtime, faults, watch, struck }
}

async function read(reader: StreamReader<WatchEvent>, say: (line: string) => void): Promise<void> {
  const tell = ({ type, object }: WatchEvent) =>
    say(type === 'ERROR' ? `${(object as { message?: string }).message}` : `${type} ${object.metadata.resourceVersion}`)
  try {
    for (let one = await reader.next(); one !== undefined; one = await reader.next()) {
      tell(one)
      for (const more of reader.drain()) tell(more)
    }
    say('end')
  } catch (error) {
    say(error instanceof ConnectionCut ? 'cut' : String(error))
  }
}

test('without faults events pass as they come, and the source ends the watch', async () => {
  const { runtime, watch } = fixture()
  const { source, told } = watch('pods')
  source.push(event(4))
  source.push(event(5))
  await runtime.settle()
  source.push(event(6, 'DELETED'))
  source.close()
  await runtime.settle()
  assert.deepEqual(told, ['0 pods ADDED 4', '0 pods ADDED 5', '0 pods DELETED 6', '0 pods end'])
})

test('a watch is cut behind the event that is struck; bookmarks do not count', async () => {
  const { runtime, watch, struck } = fixture('watch drop every 2')
  const { source, told } = watch('pods')
  for (const one of [event(4), event(5, 'BOOKMARK'), event(6), event(7)]) source.push(one)
  await runtime.settle()
  assert.deepEqual(told, ['0 pods ADDED 4', '0 pods BOOKMARK 5', '0 pods ADDED 6', '0 pods cut'])
  assert.ok(source.closed)
  assert.deepEqual(struck, ['watch drop every 2'])
  const next = watch('pods')
  next.source.push(event(7))
  next.source.push(event(8))
  await runtime.settle()
  assert.deepEqual(next.told, ['0 pods ADDED 7', '0 pods ADDED 8', '0 pods cut'])
})

test('an expired watch ends with the error instead of the event', async () => {
  const { runtime, watch } = fixture('watch expire every 2')
  const { source, told } = watch('pods')
  source.push(event(4))
  source.push(event(9))
  source.push(event(10))
  await runtime.settle()
  assert.deepEqual(told, ['0 pods ADDED 4', '0 pods too old resource version: 4 (9)', '0 pods end'])
  assert.ok(source.closed)
})

test('an event that is delayed holds those behind it, of its watch alone', async () => {
  const { runtime, watch } = fixture('watch delay 2s first 1 on pods')
  const told: string[] = []
  const pods = watch('pods', told)
  const nodes = watch('nodes', told)
  pods.source.push(event(4))
  pods.source.push(event(5))
  nodes.source.push(event(6))
  await runtime.advance(1999)
  assert.deepEqual(told, ['0 nodes ADDED 6'])
  await runtime.advance(1)
  assert.deepEqual(told.slice(1), ['2000 pods ADDED 4', '2000 pods ADDED 5'])
})

test('an event that is reordered comes behind one of another resource, or after a second', async () => {
  const { runtime, watch } = fixture('watch reorder every 1 on pods')
  const told: string[] = []
  const pods = watch('pods', told)
  const nodes = watch('nodes', told)
  pods.source.push(event(4))
  await runtime.advance(400)
  assert.deepEqual(told, [])
  nodes.source.push(event(5))
  await runtime.settle()
  assert.deepEqual(told, ['400 nodes ADDED 5', '400 pods ADDED 4'])
  pods.source.push(event(6))
  await runtime.advance(1000)
  assert.deepEqual(told.slice(2), ['1400 pods ADDED 6'])
})

test('an open watch meets faults that come later, and is free of those that go', async () => {
  const { runtime, watch, faults } = fixture()
  const { source, told } = watch('pods')
  source.push(event(4))
  await runtime.settle()
  faults.add(['watch delay 1h 100%'])
  source.push(event(5))
  await runtime.settle()
  faults.clear()
  source.push(event(6))
  await runtime.advance(3_600_000)
  assert.deepEqual(told, ['0 pods ADDED 4', '3600000 pods ADDED 5', '3600000 pods ADDED 6'])
})

test('closed while an event is held, it ends at once and leaves no timer', async () => {
  const { runtime, watch } = fixture('watch delay 1h 100%')
  const { source, reader, told, reading } = watch('pods')
  source.push(event(4))
  await runtime.settle()
  reader.close()
  await reading
  assert.deepEqual(told, ['0 pods end'])
  assert.ok(source.closed)
  await runtime.advance(3_600_000)
  assert.deepEqual(told, ['0 pods end'])
})
