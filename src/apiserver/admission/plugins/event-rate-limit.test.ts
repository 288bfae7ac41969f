import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../api/object.ts'
import { builtinScheme } from '../../../api/scheme/scheme.ts'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import { configMap, creating, endpointOf } from '../policies/fixture.test.ts'
import { eventRateLimit } from './event-rate-limit.ts'

const limiting = (limit: JsonObject) =>
  eventRateLimit(simulatedRuntime(1).clock)(undefined as never, undefined as never, { limits: [limit] })

test('Events are those of the core group, not others of that kind', () => {
  const core = builtinScheme().find('', 'v1', 'events')!
  const { validate } = limiting({ type: 'Namespace', qps: 1, burst: 1 })
  const create = (group: string) => validate?.(creating(configMap({}), { endpoint: endpointOf({ ...core, group }) }))
  for (let i = 0; i < 3; i++) for (const group of ['acme.test', 'events.k8s.io']) create(group)
  create('')
  assert.throws(() => create(''), { code: 429 })
})

test('a limit that cannot be is refused', () => {
  const limit = { type: 'Namespace', qps: 1, burst: 1 }
  assert.throws(() => limiting({ ...limit, cacheSize: -1 }), {
    message: 'limits[0].cacheSize: Invalid value: -1: must not be negative',
  })
  assert.throws(() => limiting({ ...limit, type: 'constructor' }), /limits\[0\].type: Unsupported value: "constructor"/)
  limiting({ ...limit, type: 'Server', cacheSize: -1 })
})
