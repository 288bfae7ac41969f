import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTokenFile } from './token-file.ts'

test('users, uids and quoted groups', () => {
  const users = parseTokenFile('# who\nt1,bob,7,"dev,ops"\n\nt2,"eve, the ""second""",8\n')
  assert.deepEqual(users.get('t1'), { name: 'bob', uid: '7', groups: ['dev', 'ops'] })
  assert.deepEqual(users.get('t2'), { name: 'eve, the "second"', uid: '8', groups: [] })
})

for (const [what, text, message] of [
  ['no token', ',bob,1', /line 1: the token is empty/],
  ['no uid', 't,bob', /line 1: a token needs/],
  ['the same token twice', 't,a,1\nt,b,2', /line 2: the token was there/],
  ['an open quote', 't,"a,1', /line 1: a quote/],
] as const)
  test(`a line with ${what} is refused by its number`, () => {
    assert.throws(() => parseTokenFile(text), message)
  })
