/** The versions of etcd beside Debian's: built here, and tested by the pieces of check:long that follow (tools/testing/pieces.ts). */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const FROM = join(import.meta.dirname, '../../interop/etcd')
const BIN = join(import.meta.dirname, '../../interop/bin')

test('each is built, and is what its go.mod names', { timeout: 1_800_000 }, () => {
  execFileSync(join(FROM, 'build'), [BIN])
  for (const version of readdirSync(FROM).filter((name) => name.startsWith('3.'))) {
    const [, wanted] =
      /go\.etcd\.io\/etcd\/server\/v3 v(\S+)/.exec(readFileSync(join(FROM, version, 'go.mod'), 'utf8')) ?? []
    const said = execFileSync(join(BIN, `etcd-${version}`), ['--version'], { encoding: 'utf8' })
    assert.equal(/etcd Version: (\S+)/.exec(said)?.[1], wanted)
  }
})
