import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { ApiResponse } from '../../api/request.ts'
import { logFiles as answerOf } from './log-files.ts'

const logFiles = (below: string, path: string, signal = new AbortController().signal) => answerOf(below, path, signal)

const root = mkdtempSync(join(tmpdir(), 'skiff-log-files-'))
after(() => rmSync(root, { recursive: true, force: true }))
const directory = join(root, 'log')
mkdirSync(join(directory, 'pods'), { recursive: true })
writeFileSync(join(directory, 'a&b.log'), 'one\ntwo\n')
writeFileSync(join(directory, 'data'), Buffer.from([1, 0, 2]))
writeFileSync(join(root, 'secret'), 'x')
symlinkSync('../secret', join(directory, 'out'))
symlinkSync('..', join(directory, 'up'))
symlinkSync('a&b.log', join(directory, 'in'))

async function said(answer: ApiResponse): Promise<readonly [status: number, type: string, body: string]> {
  const parts: Uint8Array[] = answer.kind === 'bytes' ? [...answer.bytes] : []
  if (answer.kind === 'stream') for await (const chunk of answer.chunks) parts.push(chunk)
  const type = answer.kind === 'bytes' || answer.kind === 'stream' ? answer.contentType : ''
  return [answer.status, type, Buffer.concat(parts).toString()]
}

test("the machine's logs are listed, and told", async () => {
  const names = ['<a href="a%26b.log">a&#38;b.log</a>', '<a href="data">data</a>', '<a href="in">in</a>']
  const more = ['<a href="out">out</a>', '<a href="pods/">pods/</a>', '<a href="up">up</a>', '</pre>\n']
  assert.deepEqual(await said(await logFiles(directory, '')), [
    200,
    'text/html; charset=utf-8',
    ['<!doctype html>', '<meta name="viewport" content="width=device-width">', '<pre>', ...names, ...more].join('\n'),
  ])
  for (const path of ['a%26b.log', 'in']) assert.equal((await said(await logFiles(directory, path)))[2], 'one\ntwo\n')
  assert.deepEqual((await said(await logFiles(directory, 'data'))).slice(0, 2), [200, 'application/octet-stream'])
  assert.equal((await logFiles(directory, 'pods')).headers?.['location'], 'pods/')
  assert.equal((await logFiles(directory, 'data/')).status, 404)
})

test('nothing is told from outside of them, whatever links and dots lead there', async () => {
  for (const path of ['out', 'up/', 'up/secret', '../secret', '%2e%2e/secret', 'pods/%2e%2e/data', 'data%00', 'nope'])
    assert.deepEqual(await said(await logFiles(directory, path)), [
      404,
      'text/plain; charset=utf-8',
      '404 page not found\n',
    ])
})

/** What this process has open below the test's directory. */
const opened = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(root) ? [path] : []
    } catch {
      return []
    }
  })

test('a pipe is not opened, neither outside of them nor among them', async () => {
  for (const [pipe, path] of [
    [join(root, 'pipe'), '%2e%2e/pipe'],
    [join(root, 'pipe'), '..%2fpipe'],
    [join(directory, 'pipe'), 'pipe'],
  ] as const) {
    execFileSync('mkfifo', [pipe])
    let isRead = false
    const writer = open(pipe, 'w').then((file) => {
      isRead = true
      return file
    })
    assert.equal((await logFiles(directory, path)).status, 404)
    assert.equal(isRead, false)
    const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    await (await writer).close()
    await reader.close()
    rmSync(pipe)
  }
})

test('a file is closed when it was read, when the request ends before, and when it is refused', async () => {
  await said(await logFiles(directory, 'data'))
  for (const path of ['data/', 'out', 'pods/', 'pods']) await logFiles(directory, path)
  assert.deepEqual(opened(), [])
  const request = new AbortController()
  await logFiles(directory, 'data', request.signal)
  assert.deepEqual(opened(), [join(directory, 'data')])
  request.abort()
  while (opened().length > 0) await new Promise(setImmediate)
  await logFiles(directory, 'data', request.signal)
  assert.deepEqual(opened(), [])
})
