import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartError } from './errors.ts'
import { simulationResources } from './simulation.ts'

test('what simulated containers may use of the machine is checked when the cluster starts', () => {
  assert.deepEqual(simulationResources(), {})
  assert.deepEqual(simulationResources({}, 'cri'), {})
  assert.deepEqual(simulationResources({ directory: tmpdir(), forward: ['127.0.0.1:80', '[::1]:1-2'] }), {
    directory: tmpdir(),
    forward: [
      { ip: '127.0.0.1', first: 80, last: 80 },
      { ip: '::1', first: 1, last: 2 },
    ],
  })
  const refused = (options: Parameters<typeof simulationResources>[0], words: RegExp, runtime?: 'cri') =>
    assert.throws(
      () => simulationResources(options, runtime),
      (error) => error instanceof StartError && words.test(error.message) && !error.message.includes('\n'),
    )
  refused({ directory: join(tmpdir(), 'no such folder') }, /^--sim-dir: there is no folder/)
  refused({ directory: import.meta.filename }, /^--sim-dir: there is no folder/)
  refused({ forward: ['example.com:80'] }, /^--sim-forward: "example\.com:80" is no address with ports/)
  refused({ directory: tmpdir() }, /^--sim-dir is for simulated containers/, 'cri')
  refused({ forward: ['127.0.0.1:80'] }, /^--sim-forward is for simulated containers/, 'cri')
})
