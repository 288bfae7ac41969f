/** docs/where.md names files that exist. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

test('each behaviour of docs/where.md has its file', () => {
  const files = [...readFileSync('docs/where.md', 'utf8').matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path ?? '')
  assert.equal(files.length, 60)
  assert.deepEqual(
    files.filter((path) => !existsSync(path)),
    [],
  )
})
