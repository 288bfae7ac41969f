import assert from 'node:assert/strict'
import { test } from 'node:test'
import { strikeLine } from './fault-lines.ts'

test('a fault that has struck is one line, in which nothing of a client is obeyed or hidden', () => {
  const strike = {
    time: '2026-01-01T00:00:00.000000Z',
    fault: 'watch drop 5%',
    client: 'evil\u001b[2J\u202e\n\ud800',
    verb: 'watch',
    resource: 'pods',
    namespace: 'default',
    name: '',
    count: 7,
  }
  assert.equal(
    strikeLine(strike as Parameters<typeof strikeLine>[0]),
    '2026-01-01T00:00:00.000000Z watch drop 5%: evil\\u001b[2J\\u202e \\ud800 watch pods default, number 7',
  )
})
