/** sdk/rust on this checkout's skiff: its own tests, with kube-rs from crates.io. */
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

test('sdk/rust passes its tests', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-rust-'))
  try {
    const env = { ...process.env, SKIFF_BIN: at('bin/skiff.js'), CARGO_TARGET_DIR: folder }
    const line = ['test', '--locked', '--manifest-path', at('sdk/rust/Cargo.toml')]
    const ended = await run('cargo', line, { env, maxBuffer: 64 << 20 }).catch((error) => error)
    assert.match(ended.stdout, /test result: ok\. 9 passed; 0 failed; 3 ignored/, `${ended.stdout}${ended.stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
