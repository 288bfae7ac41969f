import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonOfSearch, searchedTexts } from './searched-texts.ts'

const found = (...lines: readonly string[]) => searchedTexts(lines.join('\n'))

test("a search in an error's text is found, by whatever name the text goes", () => {
  assert.deepEqual(
    found(
      "errors.every((error) => error.includes(': duplicate entries'))",
      "if (reason.ok || message.startsWith('converting ')) return",
      'UNKNOWN.exec(warning)',
      '/^unknown/.test(messageOf(error))',
      '/^unknown/.test((error as Error).message)',
      'messageOf(error)',
      "  .replace(/a/, 'b')",
      "if (message === `Forbidden: ` || message !== 'invalid') return",
      'messages.some((message) => message !== maxLengthMessage(253))',
    ),
    [1, 2, 3, 4, 5, 6, 8, 8, 9],
  )
})

test('what is no search in an error is not', () => {
  assert.deepEqual(
    found(
      'known.message === wanted.message',
      'pods.filter((pod) => !wrong.includes(pod))',
      "typeof problem === 'string'",
      "// message.includes('x')",
      "/* message === 'x' */",
      "error.code === 'ENOENT'",
      "condition.reason === 'Evicted'",
    ),
    [],
  )
})

test("others' errors are searched where a reason stands", () => {
  assert.notEqual(reasonOfSearch('src/storage/etcd/errors.ts'), undefined)
  assert.equal(reasonOfSearch('src/storage/storage.ts'), undefined)
})
