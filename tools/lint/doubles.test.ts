import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doublesOf } from './doubles.ts'

const source = (file: string, text: string) => ({ file, text })

test('a name that two files export is found, in whatever rooms', () => {
  assert.deepEqual(
    doublesOf([
      source('src/proxy/a.ts', 'export const isReady = 1\nconst own = 1'),
      source('src/apiserver/b.ts', 'export function isReady() {}\nconst own = 2'),
    ]),
    [{ name: 'isReady', files: ['src/proxy/a.ts', 'src/apiserver/b.ts'] }],
  )
})

test('a file may overload a name, and what it does not export is its own', () => {
  assert.deepEqual(
    doublesOf([
      source('src/proxy/a.ts', 'export interface Flow {}\nexport function f(a: 1): 1\nexport function f(a: 2): 2'),
      source('src/apiserver/b.ts', 'interface Flow {}'),
    ]),
    [],
  )
})
