import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression } from './program.ts'
import { STRING } from './types.ts'
import { CelError } from './values.ts'

function answer(expression: string, self: string): unknown {
  const made = compileExpression(expression, new Map([['self', STRING]]))
  assert.ok('program' in made, 'error' in made ? made.error : '')
  try {
    return made.program.run(new Map([['self', self]]), { used: 0, limit: 10_000 })
  } catch (error) {
    if (error instanceof CelError) return error.message
    throw error
  }
}

const PARTS = ['Scheme', 'Host', 'Hostname', 'Port', 'EscapedPath']

/** As a Kubernetes v1.37.1 reads them: the parts of PARTS and how many names the query has, or what it says is wrong. */
const READ: Readonly<Record<string, readonly string[] | string>> = {
  '': 'empty url',
  ' ': 'invalid URI for request',
  a: 'invalid URI for request',
  '/a': ['', '', '', '', '/a', '0'],
  '//a/b': ['', 'a', 'a', '', '/b', '0'],
  '///a': ['', '', '', '', '///a', '0'],
  ':a': 'missing protocol scheme',
  '1a:b': 'invalid URI for request',
  'a:b': ['a', '', '', '', '', '0'],
  'a:/b': ['a', '', '', '', '/b', '0'],
  'a://': ['a', '', '', '', '', '0'],
  'a://b': ['a', 'b', 'b', '', '', '0'],
  'http://a b': 'invalid character " " in host name',
  'http://a/b c': ['http', 'a', 'a', '', '/b%20c', '0'],
  'http://a/%zz': 'invalid URL escape "%zz"',
  'http://a%zz/': 'invalid URL escape "%zz"',
  'http://a%20b/': 'invalid URL escape "%20"',
  'http://[::1': "missing ']' in host",
  'http://[::1]:80/x': ['http', '[::1]:80', '::1', '80', '/x', '0'],
  'http://[::1]a': 'invalid port "a" after host',
  'http://a:b': 'invalid port ":b" after host',
  'http://a:80': ['http', 'a:80', 'a', '80', '', '0'],
  'http://a:': ['http', 'a:', 'a', '', '', '0'],
  'http://::1/': 'invalid port "::1" after host',
  'http://a:1:2/': 'invalid port ":1:2" after host',
  'http://u:p@h/': ['http', 'h', 'h', '', '/', '0'],
  'http://u p@h/': 'net/url: invalid userinfo',
  'http://u%zz@h/': 'invalid URL escape "%zz"',
  'http://h/?a=b&c=d&a=e': ['http', 'h', 'h', '', '/', '2'],
  'http://h/?a=%zz': ['http', 'h', 'h', '', '/', '0'],
  'http://h/?a;b': ['http', 'h', 'h', '', '/', '0'],
  'http://h?q': ['http', 'h', 'h', '', '', '1'],
  'http://h#f': 'invalid character "#" in host name',
  'http://h/a#f': ['http', 'h', 'h', '', '/a', '0'],
  'http://h/#%zz': 'invalid URL escape "%zz"',
  '*': ['', '', '', '', '*', '0'],
  'mailto:a@b': ['mailto', '', '', '', '', '0'],
  'http:a': ['http', '', '', '', '', '0'],
  'HTTP://H/': ['http', 'H', 'H', '', '/', '0'],
  'http://h/ä': ['http', 'h', 'h', '', '/%C3%A4', '0'],
  'http://ä/': ['http', 'ä', 'ä', '', '/', '0'],
  'http://h/a%2Fb': ['http', 'h', 'h', '', '/a%2Fb', '0'],
  'http://h/\u0001': 'net/url: invalid control character in URL',
  'http://h\u007f/': 'net/url: invalid control character in URL',
  'a+b.c-d://x': ['a+b.c-d', 'x', 'x', '', '', '0'],
  'a_b://x': 'invalid URI for request',
  '//': ['', '', '', '', '', '0'],
  '/': ['', '', '', '', '/', '0'],
  '?a': 'invalid URI for request',
  '#a': 'invalid URI for request',
  '/a?b#c': ['', '', '', '', '/a', '1'],
  'http://[fe80::1%25en0]/': ['http', '[fe80::1%en0]', 'fe80::1%en0', '', '/', '0'],
  'http://[fe80::1%en0]/': 'invalid URL escape "%en"',
  'http://h\\x': 'invalid character "\\\\" in host name',
  'http://<h>/': ['http', '<h>', '<h>', '', '/', '0'],
  'http://h"x/': ['http', 'h"x', 'h"x', '', '/', '0'],
  'http://h/"x^': ['http', 'h', 'h', '', '/%22x%5E', '0'],
  'http://[a]/': 'invalid host: ParseAddr("a"): unable to parse IP',
  'https://example.com:8080/path?x=1': ['https', 'example.com:8080', 'example.com', '8080', '/path', '1'],
  'http://@h': ['http', 'h', 'h', '', '', '0'],
  'http://h:065536/': ['http', 'h:065536', 'h', '065536', '/', '0'],
  'http://h/%': 'invalid URL escape "%"',
  'http://h/%2': 'invalid URL escape "%2"',
  'http://h//a': ['http', 'h', 'h', '', '//a', '0'],
  'http://h/./a/../b': ['http', 'h', 'h', '', '/./a/../b', '0'],
  'http://h/?a=b%20c+d': ['http', 'h', 'h', '', '/', '1'],
  'http://h/?=x': ['http', 'h', 'h', '', '/', '1'],
  'http://h/?&&': ['http', 'h', 'h', '', '/', '0'],
  'http://h/a;b': ['http', 'h', 'h', '', '/a;b', '0'],
  'http://[]/': 'invalid host: ParseAddr(""): unable to parse IP',
  'http://[v1.a]/': 'invalid host: ParseAddr("v1.a"): unexpected character (at "v1.a")',
  'http://1.2.3/': ['http', '1.2.3', '1.2.3', '', '/', '0'],
  'http://h/[a]': ['http', 'h', 'h', '', '/[a]', '0'],
}

for (const [text, read] of Object.entries(READ))
  test(`the URL ${JSON.stringify(text)}`, () => {
    assert.equal(answer('isURL(self)', text), typeof read !== 'string')
    if (typeof read === 'string') {
      const told = String(answer("url(self).getPort() == ''", text))
      assert.ok(told.startsWith('URL parse error during conversion from string: parse "'))
      assert.ok(told.endsWith(`": ${read}`), told)
    } else {
      const parts = PARTS.map((part) => answer(`url(self).get${part}()`, text))
      assert.deepEqual([...parts, String(answer('url(self).getQuery().size()', text))], read)
    }
  })

test('the values of a name of the query stand together, unescaped', () => {
  assert.deepEqual(answer("url(self).getQuery()['a']", 'http://h/?a=b%20c+d&b&a=%C3%A4'), ['b c d', 'ä'])
})
