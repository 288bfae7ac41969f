/** docs/where.md names files that exist. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

test('each behaviour of docs/where.md has its file', () => {
  const rows = readFileSync('docs/where.md', 'utf8')
    .split('\n')
    .filter((line) => line.includes('`src/'))
    .map((line) => [...line.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path ?? ''))
  assert.ok(rows.length >= 90, `only ${rows.length} rows`)
  const files = rows.flat()
  assert.deepEqual(
    files.filter((path) => !existsSync(path)),
    [],
  )
})
