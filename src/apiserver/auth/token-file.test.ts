import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTokenFile } from './token-file.ts'

test('users, uids and quoted groups', () => {
  const users = parseTokenFile('t1,bob,7,"dev,ops"\n\nt2,"eve, the ""second""",8\nt3,"two\nlines",9\n', 'F')
  assert.deepEqual(users.get('t1'), { name: 'bob', uid: '7', groups: ['dev', 'ops'] })
  assert.deepEqual(users.get('t2'), { name: 'eve, the "second"', uid: '8', groups: [] })
  assert.deepEqual(users.get('t3'), { name: 'two\nlines', uid: '9', groups: [] })
})

test('a line without a token is passed over, the last of those with the same token is taken, names may be empty', () => {
  const users = parseTokenFile(',bob,1\nt,a,1\nt,b,2\nq,,\n', 'F')
  assert.deepEqual(
    [...users],
    [
      ['t', { name: 'b', uid: '2', groups: [] }],
      ['q', { name: '', uid: '', groups: [] }],
    ],
  )
})

// As a kube-apiserver v1.37.1 told such users of themselves (2026-11-27).
test('spaces belong to names and groups, an empty column is a group without a name, and a fifth column says nothing', () => {
  const users = parseTokenFile(
    't1, sp ,u ," a, b"\nt2,two,,\nt3,three,3,"a,,b"\nt4,four,4,""\nt5,five,5,x,extra\n',
    'F',
  )
  assert.deepEqual(
    [...users.values()],
    [
      { name: ' sp ', uid: 'u ', groups: [' a', ' b'] },
      { name: 'two', uid: '', groups: [''] },
      { name: 'three', uid: '3', groups: ['a', '', 'b'] },
      { name: 'four', uid: '4', groups: [''] },
      { name: 'five', uid: '5', groups: ['x'] },
    ],
  )
})

// What a kube-apiserver v1.37.1 said of these (2026-11-27).
for (const [text, words] of [
  ['t,bob', "token file 'F' must have at least 3 columns (token, user name, user uid), found 2"],
  ['a,b,c\n\n# x\n', "token file 'F' must have at least 3 columns (token, user name, user uid), found 1"],
  ['a,"b,c\n', 'parse error on line 1, column 8: extraneous or missing " in quoted-field'],
  ['a,b"c,d\n', 'parse error on line 1, column 4: bare " in non-quoted-field'],
  ['"a"x,b,c\n', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'],
  ['a,b,c\na,"b\n,c\n', 'record on line 2; parse error on line 3, column 4: extraneous or missing " in quoted-field'],
  [' "a",b,c\n', 'parse error on line 1, column 2: bare " in non-quoted-field'],
  ['é,"b,c\n', 'parse error on line 1, column 9: extraneous or missing " in quoted-field'],
] as const)
  test(`a token file is refused: ${words}`, () => {
    assert.throws(() => parseTokenFile(text, 'F'), { message: words })
  })
