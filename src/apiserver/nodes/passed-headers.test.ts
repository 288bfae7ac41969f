import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { asksForUpgrade, passedHeaders } from './passed-headers.ts'

const request = (headers: ApiRequest['headers'], remoteAddress?: string) =>
  ({ headers, ...(remoteAddress === undefined ? {} : { connection: { remoteAddress } }) }) as ApiRequest

const plain = { upgrade: false }

test('who asks, and for whom, is not passed on', () => {
  const about = { authorization: 'Bearer t', 'impersonate-user': 'u', 'x-remote-user': 'u', ':path': '/' }
  assert.deepEqual(passedHeaders(request({ ...about, 'x-own': '1', accept: undefined }), plain), { 'x-own': '1' })
})

test('what Connection names goes no further, nor does what is of one connection by its name', () => {
  const headers = {
    connection: 'close, X-Secret',
    'x-secret': '1',
    te: 'trailers',
    'content-length': '3',
    'x-own': '1',
  }
  assert.deepEqual(passedHeaders(request(headers), plain), { 'x-own': '1' })
})

test('a change of protocol is passed on without what else Connection names, and without a token', () => {
  const headers = {
    connection: 'Upgrade, x-secret',
    upgrade: 'websocket',
    'x-secret': '1',
    'sec-websocket-key': 'k',
    'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.dG9r, v4.channel.k8s.io',
  }
  assert.equal(asksForUpgrade({ headers }), true)
  assert.deepEqual(passedHeaders(request(headers), { upgrade: true }), {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'k',
    'sec-websocket-protocol': 'v4.channel.k8s.io',
  })
  assert.equal(asksForUpgrade({ headers: { upgrade: 'websocket' } }), false)
})

test('the client is added to those the request came through, unless they are of one connection', () => {
  const before = { 'x-forwarded-for': '192.0.2.1' }
  assert.deepEqual(passedHeaders(request(before, '192.0.2.2'), plain), { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' })
  assert.deepEqual(passedHeaders(request({}, '192.0.2.2'), plain), { 'x-forwarded-for': '192.0.2.2' })
  assert.deepEqual(passedHeaders(request({ ...before, connection: 'x-forwarded-for' }, '192.0.2.2'), plain), {
    'x-forwarded-for': '192.0.2.2',
  })
})
