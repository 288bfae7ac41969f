import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unreadableObject, untransformable } from '../apiserver/cache/unreadable.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { whenReadable } from './when-readable.ts'

const unreadable = () => unreadableObject({ key: '/registry/configmaps/a/b' }, untransformable(new Error('no key')))
const { signal } = new AbortController()

test('a start waits for a plugin that is away, for half a minute when it is back, and not without plugins', async () => {
  const runtime = simulatedRuntime(1)
  let isAway = true
  let attempts = 0
  let needed = 20
  const act = async () => {
    attempts++
    if (attempts < needed) throw unreadable()
  }
  const check = async () => {
    if (isAway) throw new Error('away')
  }
  const started = whenReadable(runtime, check, signal, act)
  await runtime.advance(3000)
  assert.equal(attempts, 4)
  isAway = false
  await runtime.complete(started)
  assert.equal(attempts, 20)
  attempts = 0
  needed = 99
  await assert.rejects(
    runtime.complete(whenReadable(runtime, check, signal, act)),
    /start with the encryption configuration/,
  )
  assert.equal(attempts, 31)
  attempts = 0
  await assert.rejects(runtime.complete(whenReadable(runtime, undefined, signal, act)), /start with the encryption/)
  assert.equal(attempts, 1)
})
