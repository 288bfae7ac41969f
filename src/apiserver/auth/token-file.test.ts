import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTokenFile } from './token-file.ts'

test('users, uids and quoted groups', () => {
  const users = parseTokenFile('# who\nt1,bob,7,"dev,ops"\n\nt2,"eve, the ""second""",8\n')
  assert.deepEqual(users.get('t1'), { name: 'bob', uid: '7', groups: ['dev', 'ops'] })
  assert.deepEqual(users.get('t2'), { name: 'eve, the "second"', uid: '8', groups: [] })
})

test('a line without a token is passed over, the last of those with the same token is taken, names may be empty', () => {
  const users = parseTokenFile(',bob,1\nt,a,1\nt,b,2\nq,,\n')
  assert.deepEqual(
    [...users],
    [
      ['t', { name: 'b', uid: '2', groups: [] }],
      ['q', { name: '', uid: '', groups: [] }],
    ],
  )
})

for (const [what, text, message] of [
  ['no uid', 't,bob', /at least 3 columns .*, found 2/],
  ['an open quote', 't,"a,1', /line 1: a quote/],
] as const)
  test(`a line with ${what} is refused`, () => {
    assert.throws(() => parseTokenFile(text), message)
  })
