/**
 * Kubernetes' own conformance tests on a node of real containers (interop/conformance), those whose names SKIFF_CONFORMANCE finds,
 * or `quick`: those of quick.txt, a few of each group that take some minutes.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withoutKubectl } from '../kubectl.ts'
import { lacks } from '../machine.ts'
import { withoutGo } from '../software/modules.ts'

const main = fileURLToPath(new URL('../../interop/conformance/main.ts', import.meta.url))

const wanted = process.env['SKIFF_CONFORMANCE'] ?? '.'

test('conformance tests pass, but for those that failing.json names', {
  skip: lacks.containers() || withoutKubectl || withoutGo,
}, (t) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, ...(wanted === 'quick' ? ['--quick'] : ['--focus', wanted])],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  )
  t.diagnostic(stdout.slice(stdout.lastIndexOf('\ngroup')))
  assert.equal(status, 0, stderr + stdout)
})
