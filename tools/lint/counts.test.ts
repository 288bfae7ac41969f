import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOf, placesOf, type TextKind } from './counts.ts'

const counted = (kind: TextKind, ...lines: readonly string[]) => placesOf(kind, lines.join('\n'))

test('types that check nothing are counted in code, and nowhere else', () => {
  assert.deepEqual(
    counted('any', 'const a: any = 1', 'f<any>(x as any)', "const b = 'any'", '// any: of them', 'any(a)', 'T | any'),
    [1, 2, 2, 6],
  )
  assert.deepEqual(counted('doubleCast', 'a as unknown as B', '/** as unknown as */', 'a as B'), [1])
  assert.deepEqual(counted('ignored', '// @ts-ignore', 'const a = 1 // biome-ignore lint: x', "'biome-ignore'"), [1, 2])
})

test('riddles are counted in comments alone', () => {
  const lines = [
    '/** Who asks. */',
    ' * nobody, somebody',
    "const who = 'who'",
    'f() // who else',
    '// whole, the pod whose node',
  ]
  assert.deepEqual(counted('riddle', ...lines), [1, 2, 2, 4])
  const others = [
    '// Whoever asks, and everybody',
    '// Whose it is',
    '// of no one, to whom',
    '// no one-off',
    '// what he may',
  ]
  assert.deepEqual(counted('riddle', ...others), [1, 1, 2, 3, 3, 5])
})

test('state of a module is counted, and what never changes is not', () => {
  const lines = [
    'let last = 0',
    'const known = new WeakMap<A, B>()',
    'export const all: Map<string, A> = new Map()',
    'const kept = createLruMap<string, A>(32)',
    "const NAMES = new Set(['a'])",
    '  const inner = new Map()',
    'const NONE: ReadonlyMap<string, A> = new Map()',
  ]
  assert.deepEqual(counted('shared', ...lines), [1, 2, 3, 4])
})

test("a file's folder is at most two below src", () => {
  assert.deepEqual(['src/a.ts', 'src/a/b.ts', 'src/a/b/c.ts', 'src/a/b/c/d.ts'].map(folderOf), [
    'src',
    'src/a',
    'src/a/b',
    'src/a/b',
  ])
})
