/** Logs that are rotated, cut or taken away while they are followed. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { followAuditLog, followAuditLogs, readAuditLogFile, readAuditLogFiles } from './audit-log-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'audit-log-'))
after(() => rmSync(directory, { recursive: true }))

let count = 0
function logOf(text: string): string {
  const path = join(directory, `${count++}.log`)
  writeFileSync(path, text)
  return path
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

test('what is added is read, and nothing from before', () => {
  const path = logOf('old\n')
  const read = followAuditLog(path)
  appendFileSync(path, 'new\nnewer\n')
  assert.deepEqual(linesOf(read()), ['new', 'newer'])
})

test('the rest of a line that was being written when it began is left out', () => {
  const path = logOf('old\nhalf a li')
  const read = followAuditLog(path)
  appendFileSync(path, 'ne\nnew\n')
  assert.deepEqual(linesOf(read()), ['new'])
})

test('of a log that is rotated, the end of the old file and all of the new one are read', () => {
  const path = logOf('old\n')
  const read = followAuditLog(path)
  appendFileSync(path, 'before\n')
  renameSync(path, `${path}.1`)
  writeFileSync(path, 'behind\n')
  assert.deepEqual(linesOf(read()), ['before', 'behind'])
})

test('a log that is cut to nothing is read from its beginning, one that is taken away as far as it went', () => {
  const path = logOf('old, and longer than what comes\n')
  const cut = followAuditLog(path)
  truncateSync(path, 0)
  appendFileSync(path, 'new\n')
  assert.deepEqual(linesOf(cut()), ['new'])
  const taken = followAuditLog(path)
  appendFileSync(path, 'last\n')
  rmSync(path)
  assert.deepEqual(linesOf(taken()), ['last'])
})

test('of several servers the logs are read together, also where one ends in the middle of a line', () => {
  const [one, two] = [logOf('old\n'), logOf('older\n')]
  const read = followAuditLogs([one, two])
  appendFileSync(one, 'first\nhalf')
  appendFileSync(two, 'second\n')
  assert.deepEqual(linesOf(read()), ['first', 'half', 'second'])
  assert.deepEqual(linesOf(readAuditLogFiles([one, two])), ['old', 'first', 'half', 'older', 'second'])
})

test('what is no file, or not there, is refused at once; a pipe is not waited for', () => {
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const read of [followAuditLog, readAuditLogFile]) {
    assert.throws(() => read(join(directory, 'none')), /^StartError: the audit log cannot be read: no file /)
    for (const path of [directory, pipe])
      assert.throws(() => read(path), /the audit log cannot be read: .* is no regular file$/)
  }
  assert.equal(readAuditLogFile(logOf('a\nb')), 'a\nb')
})
