import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../api/request.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { createGuard } from './guard.ts'

const { random } = liveRuntime({ log: { write: () => {} } })
const request = (headers: Record<string, string>, method = 'GET'): ApiRequest => ({
  method,
  path: '/',
  query: new URLSearchParams(),
  headers: { host: '127.0.0.1:5000', ...headers },
  signal: new AbortController().signal,
})
const cookieOf = (set: string | undefined) => set?.split(';')[0] ?? ''

test('only the address that was shown is answered: a name that leads here is not', () => {
  const { refuse } = createGuard(random, 5000)
  for (const host of ['127.0.0.1:5000', 'localhost:5000', 'LOCALHOST:5000'])
    assert.equal(refuse(request({ host })), undefined, host)
  for (const host of ['127.0.0.1', '127.0.0.1:5001', 'evil.test:5000', 'localhost.evil.test:5000', '', '0.0.0.0:5000'])
    assert.equal(refuse(request({ host }))?.status, 421, host)
})

test('requests of other pages are refused, whatever they ask', () => {
  const { refuse } = createGuard(random, 5000)
  assert.equal(refuse(request({ origin: 'http://127.0.0.1:5000' }, 'POST')), undefined)
  for (const origin of [
    'null',
    'http://evil.test',
    'https://127.0.0.1:5000',
    'http://127.0.0.1:5001',
    'http://localhost:5000',
  ])
    assert.equal(refuse(request({ origin }))?.status, 403, origin)
  for (const site of ['cross-site', 'same-site', 'none'])
    assert.equal(refuse(request({ 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' }, 'POST'))?.status, 403, site)
  assert.equal(refuse(request({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' })), undefined, 'a link')
  assert.equal(refuse(request({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 'POST'))?.status, 403)
})

test('a token opens one session, once', () => {
  const guard = createGuard(random, 5000)
  const token = guard.newToken()
  const set = guard.exchange(token)
  assert.match(set ?? '', /^skiff-ui-5000=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/[\w-]{43}\/$/)
  assert.equal(guard.exchange(token), undefined)
  assert.equal(guard.exchange('x'), undefined)
  assert.notEqual(guard.session(request({ cookie: `a=b; ${cookieOf(set)}` })), undefined)
  assert.equal(guard.session(request({})), undefined)
  assert.equal(guard.session(request({ cookie: 'skiff-ui-5000=x' })), undefined)
  assert.equal(guard.session(request({ cookie: cookieOf(set).replace('5000', '5001') })), undefined)
})

test('all stands in a folder of a name that cannot be guessed, and the cookie is for it alone', () => {
  const guard = createGuard(random, 5000)
  const { folder } = guard
  assert.ok(guard.exchange(guard.newToken())?.endsWith(`; Path=${folder}`))
  assert.notEqual(folder, createGuard(random, 5000).folder)
  assert.equal(guard.within(folder), '/')
  assert.equal(guard.within(`${folder}api/session`), '/api/session')
  for (const path of ['/', '/api/session', folder.slice(0, -1), `/x${folder}`, `${folder.slice(0, -1)}x/`, ''])
    assert.equal(guard.within(path), undefined, path)
})

test("a session's requests carry its own second token, and not that of another", () => {
  const guard = createGuard(random, 5000)
  const [one, other] = [1, 2].map(() => guard.session(request({ cookie: cookieOf(guard.exchange(guard.newToken())) })))
  assert.ok(one !== undefined && other !== undefined)
  assert.equal(guard.isOfPage(request({ 'x-skiff-csrf': one.csrf }), one), true)
  assert.equal(guard.isOfPage(request({ 'x-skiff-csrf': other.csrf }), one), false)
  assert.equal(guard.isOfPage(request({}), one), false)
})

test('many links and sessions do not pile up: the oldest end', () => {
  const guard = createGuard(random, 5000)
  const first = guard.newToken()
  const cookies = Array.from({ length: 40 }, () => cookieOf(guard.exchange(guard.newToken())))
  assert.notEqual(guard.session(request({ cookie: cookies.at(-1) ?? '' })), undefined)
  assert.equal(guard.session(request({ cookie: cookies[0] ?? '' })), undefined)
  for (let i = 0; i < 40; i++) guard.newToken()
  assert.equal(guard.exchange(first), undefined)
})
