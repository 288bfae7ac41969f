import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import { createNameLookups, LONGEST_LOOKUP_MS } from './name-lookups.ts'

function resolver() {
  const { clock, advance } = simulatedRuntime(1)
  const asked: string[] = []
  const answers = new Map<string, (addresses: readonly string[]) => void>()
  const resolve = createNameLookups((name) => {
    asked.push(name)
    return new Promise((answer) => answers.set(name, answer))
  })
  const abort = new AbortController()
  return { advance, asked, answers, abort, of: (name: string) => resolve(name, clock, abort.signal) }
}

test('two names are resolved at a time, the others in their order', async () => {
  const { asked, answers, of } = resolver()
  const found = ['a', 'b', 'c', 'd'].map(of)
  assert.deepEqual(asked, ['a', 'b'])
  answers.get('b')?.(['::1'])
  assert.deepEqual(await found[1], ['::1'])
  assert.deepEqual(asked, ['a', 'b', 'c'])
  for (const name of ['a', 'c', 'd']) {
    answers.get(name)?.([name])
    await found[['a', 'b', 'c', 'd'].indexOf(name)]
  }
  assert.deepEqual(asked, ['a', 'b', 'c', 'd'])
})

test('one that hangs is given up, and keeps its place until it ends', async () => {
  const { advance, asked, answers, of } = resolver()
  const late = ['a', 'b', 'c'].map((name) => assert.rejects(of(name), /cannot be resolved: no answer within 5 s/))
  await advance(LONGEST_LOOKUP_MS)
  await Promise.all(late)
  const next = of('d')
  assert.deepEqual(asked, ['a', 'b'])
  answers.get('a')?.([])
  await Promise.resolve()
  answers.get('d')?.(['127.0.0.1'])
  assert.deepEqual(await next, ['127.0.0.1'])
  assert.deepEqual(asked, ['a', 'b', 'd'])
})

test('a client that goes waits no longer, and is not asked for', async () => {
  const { abort, asked, of } = resolver()
  const gone = ['a', 'b', 'c'].map((name) => assert.rejects(of(name), /gone/))
  abort.abort(new Error('gone'))
  await Promise.all(gone)
  await assert.rejects(of('d'), /gone/)
  assert.deepEqual(asked, ['a', 'b'])
})
