/** sdk/pytest on this checkout's skiff: its own tests in a virtual environment, with the official client from PyPI. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

test('sdk/pytest passes its tests', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-pytest-'))
  try {
    await run('python3', ['-m', 'venv', folder])
    await run(join(folder, 'bin/pip'), ['install', '--quiet', `${at('sdk/pytest')}[kubernetes]`])
    const env = { ...process.env, SKIFF_BIN: at('bin/skiff.js') }
    const ended = await run(join(folder, 'bin/pytest'), ['-q', '-p', 'no:cacheprovider', at('sdk/pytest/tests')], {
      env,
    }).catch((error) => error)
    assert.match(ended.stdout, /^7 passed/m, `${ended.stdout}${ended.stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
