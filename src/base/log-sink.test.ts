import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { liveRuntime } from './live-runtime.ts'
import { type LogSystem, logSink, MOST_HELD } from './log-sink.ts'
import { simulatedRuntime } from './simulated-runtime.ts'

const { clock } = simulatedRuntime(1)
const failing = (code: string) => Object.assign(new Error(`${code}: no`), { code })

/** A disk or a pipe that takes so many bytes; `taken` is what it has. */
function disk() {
  const state = { room: Number.POSITIVE_INFINITY, code: 'ENOSPC', taken: '', paused: 0, roomEachPause: 0 }
  const exits = new Set<() => void>()
  const system: LogSystem = {
    atExit(task) {
      exits.add(task)
      return () => exits.delete(task)
    },
    pause(ms) {
      state.paused += ms
      state.room += state.roomEachPause
    },
    open: () => 3,
    write(_fd, bytes) {
      if (state.room === 0) throw failing(state.code)
      const part = bytes.subarray(0, state.room)
      state.taken += Buffer.from(part).toString()
      state.room -= part.length
      return part.length
    },
  }
  return { state, system, exits }
}

test('lines that find no room are lost, never thrown, and told of once there is room again', () => {
  const { state, system } = disk()
  const sink = logSink('log', clock, system)
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
  const sink = logSink(2, clock, system)
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
  const sink = logSink('log', clock, { ...system, open })
  sink.write('one\n')
  code = ''
  sink.write('two\n')
  assert.match(state.taken, /1 lines of this log were lost.*\ntwo\n$/)
  code = 'EACCES'
  assert.throws(() => logSink('log', clock, { ...system, open }), /EACCES/)
})

test('a file is made with its directory, for its owner alone, and appended to', () => {
  const dir = mkdtempSync(join(tmpdir(), 'skiff-log-'))
  try {
    const path = join(dir, 'a/log')
    for (const line of ['one\n', 'two\n']) logSink(path, clock).write(line)
    assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n')
    assert.equal(statSync(path).mode & 0o777, 0o600)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

/** A pipe whose reader has not read for a while, and the time in which it does. */
function slowPipe() {
  const runtime = simulatedRuntime(1)
  const { state, system, exits } = disk()
  Object.assign(state, { room: 0, code: 'EAGAIN' })
  return { runtime, state, exits, sink: logSink(2, runtime.clock, system) }
}

test('lines that a slow reader does not take yet come when it reads on, whole and in order', async () => {
  const { runtime, state, exits, sink } = slowPipe()
  state.room = 5
  for (const line of ['one\n', 'two\n', 'three\n']) sink.write(line)
  assert.equal(state.taken, 'one\nt')
  assert.equal(exits.size, 1)
  state.room = 4
  await runtime.run({ until: () => state.room === 0 })
  assert.equal(state.taken, 'one\ntwo\nt')
  state.room = Number.POSITIVE_INFINITY
  await runtime.run({ until: () => state.taken.endsWith('three\n') })
  assert.equal(state.taken, 'one\ntwo\nthree\n')
  assert.equal(exits.size, 0)
  sink.write('four\n')
  assert.equal(state.taken, 'one\ntwo\nthree\nfour\n')
})

test('no more is held than the bound for a reader that never reads, and what is lost is told where it was', async () => {
  const { runtime, state, sink } = slowPipe()
  const line = (n: number) => `${n} ${'x'.repeat(1000)}\n`
  const count = 2 * Math.ceil(MOST_HELD / 1000)
  for (let n = 0; n < count; n++) sink.write(line(n))
  state.room = 500_000
  await runtime.run({ until: () => state.room === 0 })
  for (let n = count; n < count + 10; n++) sink.write(line(n))
  state.room = Number.POSITIVE_INFINITY
  await runtime.run({ until: () => state.taken.endsWith(line(count + 9)) })
  const lines = state.taken.split('\n').slice(0, -1)
  const at = lines.findIndex((text) => text.startsWith('{'))
  const lost = Number(/"(\d+) lines of this log were lost: its reader is too far behind"/.exec(lines[at] ?? '')?.[1])
  assert.ok(at * 1000 <= MOST_HELD + 2000, `${at} lines were held`)
  assert.deepEqual(
    lines.filter((_, index) => index !== at).map((text) => Number(text.split(' ')[0])),
    Array.from({ length: count + 10 }, (_, n) => n).filter((n) => n < at || n >= at + lost),
  )
  assert.equal(at + lost, count)
})

test('what was lost last is told as soon as the reader has read on, though nothing more is written', async () => {
  const { runtime, state, sink } = slowPipe()
  for (let n = 0; n < 3; n++) sink.write(`${'x'.repeat(MOST_HELD)}\n`)
  state.room = Number.POSITIVE_INFINITY
  await runtime.run({ until: () => /2 lines of this log were lost.*\n$/.test(state.taken) })
})

test('a reader that goes away while lines wait for it loses them, counted', () => {
  const { state, sink } = slowPipe()
  state.room = 2
  sink.write('one\n')
  sink.write('two\n')
  Object.assign(state, { room: 0, code: 'EPIPE' })
  sink.write(`${'x'.repeat(MOST_HELD)}\n`)
  sink.write('four\n')
  state.room = Number.POSITIVE_INFINITY
  sink.write('five\n')
  assert.match(state.taken, /^on\n\{.*4 lines of this log were lost: EPIPE.*\}\nfive\n$/)
})

test('a process that ends waits for a slow reader, for a while', () => {
  const { state, exits, sink } = slowPipe()
  sink.write('the last words\n')
  state.roomEachPause = 1
  for (const task of exits) task()
  assert.equal(state.taken, 'the last words\n')
  Object.assign(state, { room: 0, roomEachPause: 0, paused: 0 })
  sink.write('unheard\n')
  for (const task of exits) task()
  assert.ok(state.paused >= 500 && state.paused <= 2000)
})

test('standard error that does not block loses nothing to a reader that begins late', { timeout: 60_000 }, async () => {
  const count = 3000
  const script = `
    import { liveRuntime } from ${JSON.stringify(new URL('live-runtime.ts', import.meta.url).href)}
    // As soon as it is looked at, a pipe does not block any more.
    process.stderr.isTTY
    const { log } = liveRuntime()
    for (let n = 0; n < ${count}; n++) log.info(0, 'x'.repeat(200), { n })
    process.stdout.write('written')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  await once(child.stdout, 'data')
  const lines = (await text(child.stderr)).split('\n').slice(0, -1)
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).n),
    Array.from({ length: count }, (_, n) => n),
  )
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
