import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from './live.ts'
import { type LogSystem, logSink } from './log-sink.ts'

const failing = (code: string) => Object.assign(new Error(`${code}: no`), { code })

/** A disk that takes so many bytes; `taken` is what it has. */
function disk() {
  const state = { room: Number.POSITIVE_INFINITY, code: 'ENOSPC', taken: '' }
  const system: LogSystem = {
    open: () => 3,
    write(_fd, bytes) {
      if (state.room === 0) throw failing(state.code)
      const part = bytes.subarray(0, state.room)
      state.taken += Buffer.from(part).toString()
      state.room -= part.length
      return part.length
    },
  }
  return { state, system }
}

test('lines that find no room are lost, never thrown, and told of once there is room again', () => {
  const { state, system } = disk()
  const sink = logSink('log', system)
  sink.write('one\n')
  state.room = 2
  // The disk takes "tw" and refuses the rest.
  sink.write('two\n')
  sink.write('three\n')
  state.room = Number.POSITIVE_INFINITY
  sink.write('four\n')
  const [first, torn, told = '', last] = state.taken.split('\n')
  assert.deepEqual([first, torn, last], ['one', 'tw', 'four'])
  assert.match(JSON.parse(told).msg, /^2 lines of this log were lost: ENOSPC/)
  sink.write('five\n')
  assert.ok(state.taken.endsWith('four\nfive\n'))
})

test('a reader that went away ends nothing', () => {
  const { state, system } = disk()
  const sink = logSink(2, system)
  Object.assign(state, { room: 0, code: 'EPIPE' })
  sink.write('one\n')
  assert.equal(state.taken, '')
})

test('a log that a full disk has no place for is opened later; one that may not be opened is an error at once', () => {
  const { state, system } = disk()
  let code = 'ENOSPC'
  const open = () => {
    if (code !== '') throw failing(code)
    return 3
  }
  const sink = logSink('log', { ...system, open })
  sink.write('one\n')
  code = ''
  sink.write('two\n')
  assert.match(state.taken, /1 lines of this log were lost.*\ntwo\n$/)
  code = 'EACCES'
  assert.throws(() => logSink('log', { ...system, open }), /EACCES/)
})

test('a file is made with its directory, for its owner alone, and appended to', () => {
  const dir = mkdtempSync(join(tmpdir(), 'skiff-log-'))
  try {
    const path = join(dir, 'a/log')
    for (const line of ['one\n', 'two\n']) logSink(path).write(line)
    assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n')
    assert.equal(statSync(path).mode & 0o777, 0o600)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('what a timer or a hand-over throws goes to whoever asked for it', async () => {
  const caught: string[] = []
  const { clock, scheduler } = liveRuntime({ onUncaught: (error) => caught.push((error as Error).message) })
  const thrower = (what: string) => () => {
    throw new Error(what)
  }
  scheduler.handOver('a', thrower('handed over'))
  scheduler.later('b', thrower('later'))
  await new Promise<void>((resolve) => {
    clock.setTimer(1, 'c', thrower('timer'))
    const keepAlive = setInterval(() => {}, 1000)
    clock.setTimer(5, 'd', () => {
      clearInterval(keepAlive)
      scheduler.later('e', resolve)
    })
  })
  assert.deepEqual(caught.sort(), ['handed over', 'later', 'timer'])
})
