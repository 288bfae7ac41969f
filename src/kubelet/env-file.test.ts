import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EnvFileError, envFileValue } from './env-file.ts'

const valueIn = (text: string) => envFileValue(text, 'D')

test('a variable stands in single quotes, which are all that is not its value', () => {
  const values = {
    "D='y'\n": 'y',
    "  \tD='y'  \r\n": 'y',
    "# c\n\n  # d\nD='y'": 'y',
    "D='a\nb'\n": 'a\nb',
    "D='a\\nb'": 'a\\nb',
    "D='a#b $(X)'": 'a#b $(X)',
    "D='c' # comment\n": 'c',
    "D='c'#x\n": 'c',
    "A B='x'\nexport C='w'\n1a-b.c=\nD='y'\n": 'y',
    // The first counts, and nothing behind it does.
    "D='y'\nD='z'\nno variable\n": 'y',
  }
  for (const [text, value] of Object.entries(values)) assert.equal(valueIn(text), value, text)
})

test('what is not there, or has no value, is told from what is none of the forms', () => {
  for (const text of ['', "E='y'\n", "D=''\n", "D= 'y'\n", "export D='y'\n"])
    assert.equal(valueIn(text), undefined, text)
  for (const text of [
    "D = 'y'\n",
    "D ='y'\n",
    'D="y"\n',
    'D=y\n',
    "X=y\nD='y'\n",
    "NOEQ\nD='x'\n",
    "D='x\n",
    "D='a''b'\n",
    "='x'",
  ])
    assert.throws(() => valueIn(text), EnvFileError, text)
})
