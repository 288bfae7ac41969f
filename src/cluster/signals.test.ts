import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { SAME_SIGNAL_S, stopOnSignals } from './signals.ts'

/** A process that does nothing but note what happens, in order. */
function stopping() {
  const seen: string[] = []
  const signals = new EventEmitter()
  const state = { uptime: 10 }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const tell = (stopped: boolean) => void seen.push(stopped ? 'stopped' : 'stopping')
  const stop = () => {
    seen.push('stop')
    return promise
  }
  stopOnSignals(stop, () => seen.push('released'), tell, {
    on: (signal, listener) => signals.on(signal, () => listener(signal)),
    uptime: () => state.uptime,
    exit: (code) => seen.push(`exit ${code}`),
    stderr: { write: (text) => seen.push(text) },
  })
  return { seen, state, resolve, reject, send: (signal: NodeJS.Signals) => signals.emit(signal) }
}

test('a signal stops in order, lets go of the directory and ends with 0', async () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { seen, resolve, send } = stopping()
    send(signal)
    assert.deepEqual(seen, ['stopping', 'stop'])
    resolve()
    await Promise.resolve()
    assert.deepEqual(seen.slice(2), ['released', 'stopped', 'exit 0'])
  }
})

test('the same signal arriving twice is one; a later one ends at once', () => {
  const { seen, state, send } = stopping()
  send('SIGINT')
  state.uptime += SAME_SIGNAL_S
  send('SIGINT')
  send('SIGTERM')
  assert.deepEqual(seen, ['stopping', 'stop'])
  state.uptime += 0.001
  send('SIGINT')
  send('SIGTERM')
  assert.deepEqual(seen.slice(2), ['exit 130', 'exit 143'])
})

test('what cannot stop in order says so and ends with 1', async () => {
  const { seen, reject, send } = stopping()
  send('SIGTERM')
  reject(new Error('the disk is gone'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(seen.slice(2), ['released', 'skiff: could not stop in order: the disk is gone\n', 'exit 1'])
})
