import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doublesOf } from './doubles.ts'

const source = (file: string, text: string) => ({ file, text })

test('a name that two files of a room export is found', () => {
  assert.deepEqual(
    doublesOf([
      source('src/proxy/a.ts', 'export const isReady = 1\nconst own = 1'),
      source('src/proxy/b.ts', 'export function isReady() {}\nconst own = 2'),
    ]),
    [{ name: 'isReady', files: ['src/proxy/a.ts', 'src/proxy/b.ts'] }],
  )
})

test('rooms that do not meet may use one word each in its own sense, and a file may overload a name', () => {
  assert.deepEqual(
    doublesOf([
      source('src/proxy/a.ts', 'export interface Flow {}\nexport function f(a: 1): 1\nexport function f(a: 2): 2'),
      source('src/apiserver/b.ts', 'export interface Flow {}'),
    ]),
    [],
  )
})
