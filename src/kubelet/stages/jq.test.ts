import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileJq } from './jq.ts'
import { JqError } from './jq-filters.ts'

const POD = {
  metadata: { labels: { 'a.b/c': 'x' }, ownerReferences: [{ kind: 'Job' }, { kind: 'Other' }] },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Initialized', status: 'False' },
    ],
  },
}

test('paths, iteration, select, comparisons and functions', () => {
  const cases: readonly (readonly [string, readonly unknown[]])[] = [
    ['.', [POD]],
    ['.status.phase', ['Running']],
    ['.status.conditions.[] | select( .type == "Ready" ) | .status', ['True']],
    ['.status.conditions[].type', ['Ready', 'Initialized']],
    ['.metadata.ownerReferences.[].kind', ['Job', 'Other']],
    ['.metadata.labels["a.b/c"]', ['x']],
    ['.metadata.labels."a.b/c"', ['x']],
    ['.status.conditions[-1].type, .status.conditions[9]', ['Initialized', null]],
    ['.none.deeper', [null]],
    ['.none // "d"', ['d']],
    ['.status.conditions | length', [2]],
    ['[.status.conditions[] | .type] | join("-")', ['Ready-Initialized']],
    ['.status.phase | test("^Run") and (. != "x")', [true]],
    ['any(.status.conditions[]; . == 1)', []],
    ['.status.conditions | map(.status) | index', []],
    ['.status.conditions | any(.status == "True")', [true]],
    ['if .status.phase == "Running" then 1 elif true then 2 else 3 end', [1]],
    ['.status | has("phase")', [true]],
    ['.status.phase[]?', []],
    ['1 + 2 - 4', [-1]],
    ['.metadata.labels | keys | first', ['a.b/c']],
    ['.constructor', [null]],
  ]
  for (const [source, expected] of cases) {
    if (expected.length === 0 && !source.endsWith('?')) assert.throws(() => compileJq(source), JqError, source)
    else assert.deepEqual(compileJq(source)(POD), expected, source)
  }
})

test('what cannot be asked of a value is an error, which selectors take for nothing', () => {
  for (const source of ['.status.phase.x', '.none[]', '.status.phase | keys', '.status[0]', '.metadata | tonumber'])
    assert.throws(() => compileJq(source)(POD), JqError, source)
})

test('what is not understood is an error at once', () => {
  for (const source of [
    '',
    '.a |',
    '.[',
    'reduce .[] as $x (0; . + $x)',
    '.a = 1',
    'def f: .; f',
    '$x',
    '.a..b',
    `${'('.repeat(99)}1${')'.repeat(99)}`,
  ])
    assert.throws(() => compileJq(source), JqError, source)
})

test('what objects of JavaScript have is no function, and no value becomes larger than a machine can bear', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'constructor(.)', 'valueOf(.)'])
    assert.throws(() => compileJq(name), /there is no function/)
  const twice = (step: string) => Array(40).fill(step).join(' | ')
  for (const source of [
    `[1] | ${twice('. + .')}`,
    `"ab" | ${twice('. + .')}`,
    `[1] | ${twice('[., .]')} | tostring`,
    `"\\"" | ${twice('[.] | tostring')}`,
    `[${Array(400).fill('1').join()}][] | . == ([${Array(400).fill('1').join()}][])`,
  ])
    assert.throws(() => compileJq(source)(null), { constructor: JqError, message: /too large|more than/ })
})
