import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { ApiResponse } from '../../api/request.ts'
import { logFiles } from './log-files.ts'

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
  for (const path of ['out', 'up/', 'up/secret', '../secret', '%2e%2e/secret', 'nope'])
    assert.deepEqual(await said(await logFiles(directory, path)), [
      404,
      'text/plain; charset=utf-8',
      '404 page not found\n',
    ])
})
