import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { LogOptions } from './log-options.ts'
import { readLog } from './read-log.ts'

const directory = mkdtempSync(join(tmpdir(), 'skiff-log-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const { clock } = liveRuntime()
const line = (second: number, text: string, tag = 'F', stream = 'stdout') =>
  `2026-01-02T03:04:0${second}.5Z ${stream} ${tag} ${text}\n`

function logOf(content: string, isRunning = () => false) {
  const path = join(directory, 'log')
  writeFileSync(path, content)
  const abort = new AbortController()
  return {
    path,
    abort,
    read: (options: LogOptions) => readLog({ clock, path, isRunning, signal: abort.signal }, options),
  }
}

async function whole(content: string, options: LogOptions = {}): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of logOf(content).read(options)) parts.push(part)
  return Buffer.concat(parts).toString()
}

const five = [1, 2, 3, 4, 5].map((second) => line(second, `line ${second}`)).join('')

test('a log is what was said, without times unless they are asked for', async () => {
  assert.equal(await whole(line(1, 'ä b') + line(2, '', 'F', 'stderr')), 'ä b\n\n')
  assert.equal(await whole(line(1, 'a'), { timestamps: true }), '2026-01-02T03:04:01.500000000Z a\n')
})

test('a long line that was written in parts is one line, with one time', async () => {
  const parts = line(1, 'one ', 'P') + line(2, 'two ', 'P') + line(3, 'three')
  assert.equal(await whole(parts), 'one two three\n')
  assert.equal(await whole(parts, { timestamps: true }), '2026-01-02T03:04:01.500000000Z one two three\n')
})

test('the end, what came since a time, so many bytes, one stream', async () => {
  assert.equal(await whole(five, { tailLines: 2 }), 'line 4\nline 5\n')
  assert.equal(await whole(five, { tailLines: 0 }), '')
  assert.equal(await whole(five, { tailLines: 99 }), await whole(five))
  assert.equal(await whole(five, { since: Date.parse('2026-01-02T03:04:04Z') }), 'line 4\nline 5\n')
  assert.equal(await whole(five, { limitBytes: 9 }), 'line 1\nli')
  assert.equal(await whole(line(1, 'o') + line(2, 'e', 'F', 'stderr'), { stream: 'stderr' }), 'e\n')
})

test('the end of a log that is larger than one read', async () => {
  const many = Array.from({ length: 5000 }, (_, at) => line(1, `${at} ${'x'.repeat(40)}`)).join('')
  const text = await whole(many, { tailLines: 3000 })
  assert.equal(text.split('\n').length, 3001)
  assert.ok(text.startsWith('2000 '))
})

test('of a log that grows while it is read no more lines are given than were asked for', async () => {
  const { path, read } = logOf(Array.from({ length: 5000 }, (_, at) => line(1, `${at} ${'x'.repeat(40)}`)).join(''))
  const reading = read({ tailLines: 3000 })
  let text = ''
  for (let part = await reading.next(); !part.done; part = await reading.next()) {
    text += Buffer.from(part.value)
    appendFileSync(path, line(2, 'later'))
  }
  assert.equal(text.split('\n').length, 3001)
  assert.ok(!text.includes('later'))
})

test('a log is followed as it grows and is turned over, until its container has ended', async () => {
  let running = true
  const { path, read } = logOf(line(1, 'a'), () => running)
  const seen: string[] = []
  for await (const part of read({ follow: true })) {
    seen.push(Buffer.from(part).toString())
    if (seen.length === 1) appendFileSync(path, line(2, 'b'))
    if (seen.length === 2) {
      renameSync(path, `${path}.1`)
      writeFileSync(path, line(3, 'c'))
    }
    if (seen.length === 3) running = false
  }
  assert.deepEqual(seen, ['a\n', 'b\n', 'c\n'])
})

test('what the old file of a log still gets until the runtime writes to the new one is read, and before the new one', async () => {
  let running = true
  const path = join(directory, 'turned')
  writeFileSync(path, line(1, 'a'))
  // Each time the reader has read all there is and begins to wait.
  const waits = [
    () => {
      renameSync(path, `${path}.1`)
      writeFileSync(path, '')
    },
    () => appendFileSync(`${path}.1`, line(2, 'b')),
    () => {
      appendFileSync(`${path}.1`, line(3, 'c'))
      appendFileSync(path, line(4, 'd'))
    },
    () => {
      running = false
    },
  ]
  const setTimer: typeof clock.setTimer = (_, name, run) => {
    waits.shift()?.()
    return clock.setTimer(0, name, run)
  }
  const source = { clock: { ...clock, setTimer }, path, isRunning: () => running, signal: new AbortController().signal }
  const seen: string[] = []
  for await (const part of readLog(source, { follow: true })) seen.push(Buffer.from(part).toString())
  assert.deepEqual(seen, ['a\n', 'b\n', 'c\n', 'd\n'])
})

test('a container that ends just as its log is turned over is read to the end of the new file', async () => {
  const { path, read } = logOf(line(1, 'a'), () => false)
  const seen: string[] = []
  for await (const part of read({ follow: true })) {
    seen.push(Buffer.from(part).toString())
    if (seen.length > 1) continue
    renameSync(path, `${path}.1`)
    writeFileSync(path, line(2, 'b'))
  }
  assert.deepEqual(seen, ['a\n', 'b\n'])
})

test('whoever follows and goes is let go', async () => {
  const { read, abort } = logOf(line(1, 'a'), () => true)
  const seen: string[] = []
  for await (const part of read({ follow: true })) {
    seen.push(Buffer.from(part).toString())
    abort.abort()
  }
  assert.deepEqual(seen, ['a\n'])
})
