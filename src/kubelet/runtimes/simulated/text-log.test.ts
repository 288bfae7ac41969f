import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PrintedQuery } from '../../logs/printed-log.ts'
import { annotationText, type LogText, textLog, textPrintsNextAt } from './text-log.ts'

const START = 1_000_000
const running = { state: 'running', startedAt: START, finishedAt: 0 } as const
const fileOf = (text: string, offset = 0, file = 1): LogText => ({
  bytes: Buffer.from(text),
  offset,
  file,
  whole: false,
})
const shown = (text: LogText, query: PrintedQuery = {}, { everyMs = 0, ageMs = 0 } = {}) => {
  const { lines, next } = textLog(text, everyMs, running, START + ageMs, query)
  return { next, lines: [...lines].map((line) => `${line.at - START} ${line.text}`) }
}

test('a text is there at once, or line by line', () => {
  const text = 'x\n\ny'
  assert.deepEqual(shown(annotationText(text, {})).lines, ['0 x', '0 ', '0 y'])
  assert.deepEqual(shown(annotationText('', {})).lines, [])
  const slow = { everyMs: 1000, ageMs: 1500 }
  const { lines, next } = shown(annotationText(text, { follow: true }), { follow: true }, slow)
  assert.deepEqual(lines, ['0 x', '1000 '])
  const more = { from: next, follow: true }
  assert.deepEqual(shown(annotationText(text, more), more, slow).lines, [])
  assert.deepEqual(shown(annotationText(text, more), more, { everyMs: 1000, ageMs: 2000 }).lines, ['2000 y'])
  assert.deepEqual(shown(annotationText(text, {}), { tail: 1 }, slow).lines, ['1000 '])
  assert.deepEqual(
    [-1, 0, 1500, 2000].map((ageMs) => textPrintsNextAt(text, 1000, ageMs)),
    [0, 1000, 2000, undefined],
  )
  assert.equal(textPrintsNextAt(text, 0, 5), undefined)
})

test('of a file that is followed a line comes when its end is there', () => {
  assert.deepEqual(shown(fileOf('a\nb')).lines, ['0 a', '0 b'])
  const { lines, next } = shown(fileOf('a\nb'), { follow: true })
  assert.deepEqual([lines, next], [['0 a'], { line: 0, offset: 2, file: 1 }])
  assert.deepEqual(shown(fileOf('bc\n', 2), { follow: true, from: next }).lines, ['0 bc'])
  assert.deepEqual(shown(fileOf('anew\n', 0, 2), { follow: true, from: next }).lines, ['0 anew'])
})

test('the end of a long text is found from its end, and lines are made as they are read', () => {
  const long = fileOf('\n'.repeat(10 * 1024 * 1024))
  for (const [tail, count] of [
    [0, 0],
    [1, 1],
    [3, 3],
  ] as const)
    assert.equal(shown(long, { tail }).lines.length, count)
  assert.deepEqual(shown(fileOf('a\nbc\nd'), { tail: 2 }).lines, ['0 bc', '0 d'])
  assert.deepEqual(shown(fileOf('a\nbc\nd\n'), { tail: 9 }).lines, ['0 a', '0 bc', '0 d'])
  const [first] = textLog(long, 0, running, START).lines
  assert.deepEqual(first, { at: START, stream: 'stdout', text: '' })
})
