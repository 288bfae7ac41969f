import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { newToken, readToken, tokenText } from './bootstrap-token.ts'
import { readHash } from './discovery.ts'

test('a token is six and sixteen letters and digits, all of them alike', () => {
  const random = seededRandom(7)
  const seen = new Map<string, number>()
  for (let made = 0; made < 2000; made++) {
    const text = tokenText(newToken(random))
    assert.deepEqual(tokenText(readToken(text)), text)
    for (const letter of text.replace('.', '')) seen.set(letter, (seen.get(letter) ?? 0) + 1)
  }
  assert.equal(seen.size, 36)
  // 44,000 letters: 1,222 of each.
  for (const [letter, times] of seen) assert.ok(times > 1000 && times < 1450, `${letter}: ${times}`)
})

test('what is no token or no hash is refused, and the token is not repeated', () => {
  for (const text of ['', 'qwerty', 'qwerty.9876543210zyxwv', 'QWERTY.9876543210zyxwvu', 'qwerty.9876543210zyxwvu\n'])
    assert.throws(
      () => readToken(text),
      ({ message }: Error) => !/qwerty|zyx/i.test(message),
      text,
    )
  assert.equal(readHash(`sha256:${'AB'.repeat(32)}`), `sha256:${'ab'.repeat(32)}`)
  for (const text of ['', 'sha256:', `sha1:${'ab'.repeat(32)}`, `sha256:${'ab'.repeat(33)}`])
    assert.throws(() => readHash(text), /is no hash/)
})
