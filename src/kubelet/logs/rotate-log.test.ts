import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { rotateLog } from './rotate-log.ts'

const directory = mkdtempSync(join(tmpdir(), 'skiff-rotate-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const ROTATION = { largest: 1, mostFiles: 5 }

test('a log that is large is put aside, the one before it compressed, and the newest five files are kept', async () => {
  const path = join(directory, '0.log')
  writeFileSync(join(directory, '1.log.0'), 'of another container')
  for (let round = 0; round < 8; round++) {
    writeFileSync(path, `round ${round}`)
    assert.equal(await rotateLog(path, `2026010${round}`, async () => writeFileSync(path, ''), ROTATION), true)
    assert.equal(await rotateLog(path, 'none', async () => assert.fail('it is small'), ROTATION), false)
  }
  writeFileSync(`${path}.20260103.tmp`, 'half')
  writeFileSync(path, 'round 8')
  assert.equal(await rotateLog(path, '20260108', async () => writeFileSync(path, ''), ROTATION), true)
  const compressed = [5, 6, 7].map((round) => `0.log.2026010${round}.gz`)
  assert.deepEqual(readdirSync(directory).sort(), ['0.log', ...compressed, '0.log.20260108', '1.log.0'])
  for (const [at, name] of compressed.entries())
    assert.equal(gunzipSync(readFileSync(join(directory, name))).toString(), `round ${at + 5}`)
})

test('where the runtime does not begin anew the log stays where it is', async () => {
  const path = join(directory, '2.log')
  writeFileSync(path, 'all')
  await assert.rejects(
    rotateLog(path, 'x', () => Promise.reject(new Error('no')), ROTATION),
    /^Error: no$/,
  )
  assert.equal(readFileSync(path, 'utf8'), 'all')
  assert.equal(await rotateLog(join(directory, 'gone'), 'x', async () => {}, ROTATION), false)
})

test('of logs put aside with and without a dash in their time the newest are kept', async () => {
  const path = join(directory, '3.log')
  for (const suffix of ['20261127182938.gz', '20261127190000.gz', '20261127-183000.gz', '20261127-191500'])
    writeFileSync(`${path}.${suffix}`, suffix)
  writeFileSync(path, 'now')
  assert.equal(await rotateLog(path, '20261127-193000', async () => writeFileSync(path, ''), ROTATION), true)
  const kept = ['20261127-191500.gz', '20261127-193000', '20261127190000.gz', '20261127-183000.gz']
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('3.log')),
    ['3.log', ...kept.map((suffix) => `3.log.${suffix}`).sort()],
  )
})
