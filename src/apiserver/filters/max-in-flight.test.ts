import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { requestInfoOf } from '../request/info.ts'
import { maxInFlight } from './max-in-flight.ts'
import { TOO_MANY_REQUESTS } from './priority-and-fairness.ts'

const answer: ApiResponse = { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [] }

/** Requests that are held until they are let go; of a user of that group. */
function server(readOnly: number, mutating: number) {
  const held: ((how: 'answered' | 'failed') => void)[] = []
  const handler = maxInFlight({ readOnly, mutating })(
    () =>
      new Promise((resolve, reject) => {
        held.push((how) => (how === 'answered' ? resolve(answer) : reject(new Error('failed'))))
      }),
  )
  const ask = (method: string, group = 'system:authenticated', path = '/api/v1/pods') => {
    const query = new URLSearchParams(path.split('?')[1])
    const request: ApiRequest = {
      method,
      path: path.split('?')[0] as string,
      query,
      headers: {},
      user: { name: 'u', groups: [group] },
      connection: { remoteAddress: '' },
      signal: new AbortController().signal,
      info: requestInfoOf(method, path.split('?')[0] as string, query),
    }
    return handler(request)
  }
  return { held, ask }
}

test('a request beyond the limit is refused at once, reads and writes apart, until one has ended', async () => {
  const { held, ask } = server(1, 2)
  const first = ask('GET')
  assert.equal(await ask('GET'), TOO_MANY_REQUESTS)
  const writes = [ask('POST'), ask('POST')]
  assert.equal(await ask('POST'), TOO_MANY_REQUESTS)
  for (const end of held) end('answered')
  await Promise.all([first, ...writes])
  const failing = ask('GET')
  held.at(-1)?.('failed')
  await assert.rejects(async () => failing, /failed/)
  void ask('GET')
  assert.equal(held.length, 5, 'it is worked on: the one that failed has given its place back')
})

test('system:masters are let through, watches do not count, 0 is no limit', async () => {
  const { held, ask } = server(1, 0)
  void ask('GET')
  void ask('GET', 'system:masters')
  void ask('GET', 'system:authenticated', '/api/v1/pods?watch=true')
  for (let i = 0; i < 3; i++) void ask('POST')
  assert.equal(held.length, 6)
  assert.equal(await ask('GET'), TOO_MANY_REQUESTS)
})
