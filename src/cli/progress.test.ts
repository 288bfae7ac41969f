import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { progressOn } from './progress.ts'

function on(isTTY: boolean) {
  const out = Object.assign(new PassThrough(), { isTTY })
  const progress = progressOn(out as unknown as NodeJS.WriteStream)
  return { out, progress, said: () => String(out.read() ?? '') }
}

test('a terminal shows one line that changes', () => {
  const { progress, said } = on(true)
  progress.step('starts')
  progress.step('goes on')
  progress.done(['ready', 'twice'])
  assert.equal(said(), '\r\x1b[Kstarts …\r\x1b[Kgoes on …\r\x1b[Kready\ntwice\n')
  progress.end()
  assert.equal(said(), '\r\x1b[K')
})

test('a file gets a line for each step, and nothing before an error', () => {
  const { progress, said } = on(false)
  progress.step('starts')
  progress.end()
  progress.done(['ready'])
  assert.equal(said(), 'starts\nready\n')
})

test('a reader that goes ends nothing', () => {
  const { out, progress } = on(false)
  out.destroy(new Error('EPIPE'))
  assert.doesNotThrow(() => progress.step('goes on'))
})
