import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Fields } from '../object.ts'
import { structuralOf } from '../schema/structural/structural.ts'
import { typeOfOpenApi } from './openapi-types.ts'
import { compileExpression } from './program.ts'
import { typeOfSchema } from './schema-types.ts'
import { DYN, type Type } from './types.ts'
import { type Value, wrap } from './values.ts'
import { KEYWORDS, RESERVED_WORDS } from './words.ts'

const words = [...KEYWORDS, ...RESERVED_WORDS]
const properties = Object.fromEntries(
  [...words, '__if__', 'a-b'].map((word) => [
    word,
    { type: 'object', properties: { if: { type: 'string' } } } as Fields,
  ]),
)
const schema: Fields = { type: 'object', properties }
const json = Object.fromEntries([...words, '__if__', 'a-b'].map((word) => [word, { if: word }]))

/** What `self` may be: of a definition's schema, of one that is published, of one of which nothing is known. */
const types: Readonly<Record<string, Type>> = {
  'a definition': typeOfSchema(structuralOf(schema)) as Type,
  'a published schema': typeOfOpenApi({ x: schema }, 'x') as Type,
  'nothing known': DYN,
}

function run(source: string, type: Type): Value | Error {
  const made = compileExpression(source, new Map([['self', type]]))
  if ('error' in made) return new Error(made.error)
  return made.program.run(new Map([['self', wrap(json, type)]]), { used: 0, limit: 1_000_000 })
}

for (const [what, type] of Object.entries(types))
  describe(`fields of ${what}`, () => {
    for (const word of RESERVED_WORDS)
      test(`${word} is a field's name`, () => {
        assert.equal(run(`self.${word}.if`, type), word)
        assert.equal(run(`has(self.${word}) && has(self.${word}.if)`, type), true)
        assert.equal(run(`self.?${word}.value().if`, type), word)
      })
    for (const word of KEYWORDS)
      test(`${word} is none, but between backquotes`, () => {
        const error = run(`self.${word}.if`, type)
        assert.ok(error instanceof Error)
        const wrong =
          word === 'in' ? "no viable alternative at input '.in'" : `mismatched input '${word}' expecting IDENTIFIER`
        assert.equal(error.message.split('\n')[0], `ERROR: <input>:1:6: Syntax error: ${wrong}`)
        assert.match(
          String(run(`self.?${word}.if`, type)),
          new RegExp(`mismatched input '${word}' expecting \\{IDENTIFIER, ESC_IDENTIFIER\\}[^]*unsupported ident kind`),
        )
        assert.equal(run(`self.\`${word}\`.if`, type), word)
      })
    if (type !== DYN)
      test('every word may be escaped', () => {
        for (const word of words) assert.equal(run(`self.__${word}__.__if__`, type), word)
        assert.equal(run('self.__underscores__if__underscores__.if', type), '__if__')
      })
  })

test('no variable has a reserved name', () => {
  for (const word of RESERVED_WORDS) {
    const error = run(`${word} == 1`, DYN)
    assert.ok(error instanceof Error)
    assert.match(error.message, new RegExp(`1:1: .*reserved identifier: ${word}`))
  }
})

test('no macro binds one, and `in` is no value', () => {
  const first = (source: string) => String(run(source, DYN)).split('\n')
  assert.deepEqual(
    first('[1].all(if, true)').filter((line) => line.includes('ERROR')),
    ['Error: ERROR: <input>:1:9: reserved identifier: if', 'ERROR: <input>:1:9: argument must be a simple name'],
  )
  assert.match(first('in == 1')[0] ?? '', /1:1: Syntax error: mismatched input 'in' expecting/)
  assert.match(first('[1].all(in, true)')[0] ?? '', /1:9: Syntax error: mismatched input 'in' expecting .*'\)'/)
  assert.match(first("self.in == 'x'").join(), /1:6: .*no viable.*1:9: Syntax error: extraneous input '=='/)
})

test('only reserved words go by two names', () => {
  for (const source of ['self.__a__', 'self.size', 'self.__name__', 'self.`a-b`']) {
    const error = run(source, types['a definition'] as Type)
    assert.ok(error instanceof Error)
    assert.match(error.message, /undefined field/)
  }
})
