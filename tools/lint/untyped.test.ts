import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { untypedAccesses } from './untyped.ts'

const directory = mkdtempSync(join(tmpdir(), 'skiff-untyped-'))
after(() => rmSync(directory, { recursive: true }))

/** The lines of an untyped access in these, after some declarations that have none. */
function untypedIn(...lines: readonly string[]): readonly number[] {
  const declarations = [
    'type Fields = { readonly [field: string]: any }',
    'interface Pod { readonly spec?: { readonly nodeName?: string }; readonly [field: string]: any }',
    'type Unknown = Readonly<Record<string, unknown>>',
    'type Json = null | string | { readonly [key: string]: Json }',
    'declare const fields: Fields, pod: Pod, unknown: Unknown, json: { readonly [key: string]: Json }, name: string',
    'declare const labels: Record<string, string>',
  ]
  const file = join(directory, 'file.ts')
  const project = join(directory, 'tsconfig.json')
  writeFileSync(file, [...declarations, ...lines, 'export {}'].join('\n'))
  writeFileSync(project, JSON.stringify({ compilerOptions: { strict: true, types: [] }, files: ['file.ts'] }))
  const found = untypedAccesses(project, [file]).get(file) ?? []
  return found.map((line) => line - declarations.length)
}

test('a field that no type declares is counted, by whatever name its object goes', () => {
  assert.deepEqual(
    untypedIn(
      "fields['spec']",
      "fields['metadata']?.name",
      "pod['status']",
      "unknown['a']",
      'fields.spec',
      'pod.spec?.nodeName',
    ),
    [1, 2, 2, 3, 4],
  )
})

test('what is declared, computed, or checked before it is used is not counted', () => {
  assert.deepEqual(
    untypedIn('fields[name]', "labels['app']", "json['spec']", "type A = Pod['spec']", "pod['spec']"),
    [],
  )
})

test('a field that is declared to be unknown, or taken out only to be left away, is not counted', () => {
  assert.deepEqual(
    untypedIn(
      'declare const failure: { readonly cause: unknown }',
      'const { cause } = failure',
      'const { status: _, ...rest } = fields',
      'const { a } = unknown',
    ),
    [4],
  )
})

test('taking a field out of its object is an access to it, each in its own line', () => {
  assert.deepEqual(
    untypedIn(
      'const { spec: { replicas }, kind } = fields',
      'const { spec } = pod',
      'f(({',
      '  status })',
      '  => status)',
      'declare function f(of: (fields: Fields) => unknown): void',
    ),
    [1, 1, 1, 4],
  )
})
