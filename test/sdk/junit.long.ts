/** sdk/junit on this checkout's skiff: its own tests, with fabric8's client from Maven Central. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

test('sdk/junit passes its tests', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-junit-'))
  try {
    cpSync(at('sdk/junit'), folder, { recursive: true, filter: (path) => !path.startsWith(at('sdk/junit/target')) })
    const env = { ...process.env, SKIFF_BIN: at('bin/skiff.js') }
    const ended = await run('mvn', ['-B', 'test'], { cwd: folder, env, maxBuffer: 64 << 20 }).catch((error) => error)
    assert.match(ended.stdout, /Tests run: 11, Failures: 0, Errors: 0, Skipped: 0/, `${ended.stdout}${ended.stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
