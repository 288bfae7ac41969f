import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { HttpsRequest } from '../../http/client.ts'
import { passOn } from './pass.ts'

/** A client that keeps what it is asked, and answers with these headers. */
function answering(headers: Readonly<Record<string, string>>) {
  const asked: HttpsRequest[] = []
  const client = {
    send: async (request: HttpsRequest) => {
      asked.push(request)
      return { status: 200, headers, bytes: async () => new Uint8Array(), chunks: () => Readable.from([]) }
    },
    upgrade: () => Promise.reject(new Error('not asked')),
    retire: () => {},
    inUse: false,
    close: () => {},
  }
  return { asked, remote: { client, server: 'https://a:1', serverName: 'a', ca: undefined } }
}

test('what Connection names is passed on neither way', async () => {
  const answered = { connection: 'X-Theirs', 'x-theirs': '1', 'keep-alive': 'timeout=5', 'x-other': '2' }
  const { asked, remote } = answering(answered)
  const request: ApiRequest = {
    method: 'GET',
    path: '/apis/a.example.com/v1/things',
    query: new URLSearchParams(),
    // Whom the request is of is said by this server, whatever Connection says.
    headers: { connection: 'close, X-Secret, x-remote-user', 'x-secret': '1', 'x-own': '2' },
    user: { name: 'alice', groups: [] },
    signal: new AbortController().signal,
  }
  const { headers = {} } = await passOn(simulatedRuntime(1), request, () => remote)
  assert.deepEqual(headers, { 'x-other': '2' })
  const sent = asked[0]?.headers ?? {}
  assert.deepEqual([sent['x-own'], sent['x-secret'], sent['connection']], ['2', undefined, undefined])
  assert.equal(sent['x-remote-user'], 'alice')
})

test('what proves who asks is not shown to the other server: it is told who asks', async () => {
  const { asked, remote } = answering({})
  const request: ApiRequest = {
    method: 'GET',
    path: '/apis/a.example.com/v1/things',
    query: new URLSearchParams('watch=1'),
    headers: {
      accept: 'application/json',
      authorization: 'Bearer secret',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.c2VjcmV0, x',
      'x-remote-user': 'somebody else',
    },
    user: { name: 'alice', groups: ['a'] },
    signal: new AbortController().signal,
  }
  await passOn(simulatedRuntime(1), request, () => remote)
  const [{ headers = {} } = assert.fail('nobody was asked')] = asked
  const { accept, 'x-remote-user': user, 'x-remote-group': groups, ...others } = headers
  assert.deepEqual([accept, user, groups], ['application/json', 'alice', ['a']])
  assert.deepEqual(Object.keys(others), ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-uri'])
})

test('the user is told in UTF-8, a character for each byte as Node sends it', async () => {
  const { asked, remote } = answering({})
  const request: ApiRequest = {
    method: 'GET',
    path: '/apis/a.example.com/v1/things',
    query: new URLSearchParams(),
    headers: {},
    user: { name: '日本', uid: 'é', groups: ['J\u00c3\u00bcrgen', 'Jürgen', 'plain'], extra: { Ort: ['Köln'] } },
    signal: new AbortController().signal,
  }
  await passOn(simulatedRuntime(1), request, () => remote)
  const read = (name: string) =>
    [asked[0]?.headers?.[name] ?? []].flat().map((value) => Buffer.from(value, 'latin1').toString())
  assert.deepEqual(read('x-remote-user'), ['日本'])
  assert.deepEqual(read('x-remote-uid'), ['é'])
  assert.deepEqual(read('x-remote-group'), ['J\u00c3\u00bcrgen', 'Jürgen', 'plain'])
  assert.deepEqual(read('x-remote-extra-ort'), ['Köln'])
  for (const value of Object.values(asked[0]?.headers ?? {}).flat()) assert.match(value, /^[\x20-\xff]*$/)
})
