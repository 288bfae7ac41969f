import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFailure, linesOf, newestAbout } from './logs.ts'

function failureIn(...given: Parameters<typeof newestAbout>) {
  const newest = newestAbout(...given)
  return newest !== undefined && isFailure(newest) ? newest : undefined
}

const ref = { group: 'acme.test', version: 'v1', resource: 'widgets', kind: 'Widget', namespace: 'shop', name: 'w' }
const AT = Date.parse('2026-11-24T10:00:00Z')
const line = (second: number, text: string) => `2026-11-24T10:00:${String(second).padStart(2, '0')}.5Z ${text}\n`
const found = (...lines: readonly string[]) => failureIn(linesOf(lines.join('')), { ...ref, uid: 'u-1' }, AT)?.text

test('the newest line about an object tells whether its controller fails at it', () => {
  const failure = 'ERROR Reconciler error {"Widget": {"name":"w","namespace":"shop"}, "error": "bucket is gone"}'
  assert.equal(found(line(1, failure)), failure)
  assert.equal(found(line(2, failure), line(1, 'Widget w is being cleaned')), failure)
  assert.equal(found(line(1, failure), line(2, 'Widget w: bucket emptied')), undefined)
  assert.equal(found(line(1, 'ERROR u-1 has no bucket')), 'ERROR u-1 has no bucket')
})

test('lines about others, of before, without a time, and of conflicts tell nothing', () => {
  assert.equal(found(line(1, 'ERROR Widget shop/ww: bucket is gone')), undefined)
  assert.equal(found(line(1, 'ERROR Widget shop/w-2: bucket is gone')), undefined)
  assert.equal(found(line(1, 'ERROR w failed')), undefined)
  assert.equal(found('2026-11-24T09:59:58Z ERROR Widget shop/w: bucket is gone\n'), undefined)
  assert.equal(found('ERROR Widget shop/w: bucket is gone\n'), undefined)
  const conflict = 'ERROR Widget shop/w: Operation cannot be fulfilled: the object has been modified'
  assert.equal(found(line(1, conflict)), undefined)
  assert.equal(found('', '\n', ' \n'), undefined)
})

test('a line that tells another namespace is about another object, unless that is its controller’s own', () => {
  const failure = (namespace: string) =>
    `{"level":"error","object":{"name":"w","namespace":"${namespace}"},"controller":"widget"}`
  assert.equal(found(line(1, failure('elsewhere'))), undefined)
  assert.equal(found(line(1, failure('shop'))), failure('shop'))
  for (const other of [
    'ERROR failed widget=w namespace=elsewhere',
    'ERROR failed namespace="elsewhere" uid=u-2 name="w" widget',
    'ERROR widget failed resource_name="w" resource_namespace="elsewhere" resource_kind="Widget"',
    'ERROR widget failed (name: w, namespace: elsewhere)',
    'ERROR widget failed map[name:w namespace:elsewhere]',
    'ERROR failed "request"="elsewhere/w" "controller"="widget"',
    String.raw`{"level":"error","widget":"{\"name\":\"w\",\"namespace\":\"elsewhere\"}"}`,
    String.raw`{"level":"error","widget":"{\"kind\":\"Widget\",\"namespace\":\"elsewhere\",\"name\":\"w\"}"}`,
  ])
    assert.equal(found(line(1, other)), undefined, other)
  for (const own of [
    'ERROR Widget w namespace: not found',
    'ERROR failed widget=w namespace: not found',
    'ERROR Widget w: secret missing in target namespace: backup',
    'ERROR Widget w: lease namespace=kube-system failed',
    'ERROR widget=w lease namespace=kube-system failed',
    'ERROR Widget w: no {"name":"keys","namespace":"backup"}',
    '{"level":"error","widget":{"name":"w"},"secret":{"name":"keys","namespace":"backup"}}',
    'ERROR failed widget=w secret_namespace=backup',
  ])
    assert.equal(found(line(1, own)), own)
  const told = failureIn(linesOf(line(1, failure('widget-system'))), ref, AT, 'widget-system')?.text
  assert.equal(told, failure('widget-system'))
  // What is in no namespace may be made in any.
  const wide = failureIn(linesOf(line(1, failure('elsewhere'))), { ...ref, namespace: '' }, AT)?.text
  assert.equal(wide, failure('elsewhere'))
})

test('a field for an error that says there is none is no failure', () => {
  for (const none of ['"error":null', '"errors":0', '"err":""', 'error=<nil>', 'err=nil', "error: ''", 'errors=[]'])
    assert.equal(found(line(1, `Widget shop/w deleting ${none}`)), undefined, none)
  assert.notEqual(found(line(1, 'Widget shop/w deleting "error":"gone"')), undefined)
  for (const none of [
    'err=nil reconcileID=7',
    'error=<nil> "pod"="a"',
    '\\"error\\":null}',
    'error: none, done',
    'errors=0; done',
  ])
    assert.equal(found(line(1, `Widget shop/w deleting ${none}`)), undefined, none)
  for (const failure of [
    'scheduling failed: 0/3 nodes are available',
    'failed: no 3 nodes are there',
    'error: none of the replicas answered',
    'err: nil pointer dereference',
    'error: 0x80070005',
    'failed: 0 of 3 replicas confirmed',
    'failed: false credentials',
    'error: [] is not a list',
    'error: "" is not a valid bucket',
    'error: null: not an object',
    'failed: 0.5 of it',
    'failed: 0,5 of it',
  ])
    assert.notEqual(found(line(1, `Widget shop/w ${failure}`)), undefined, failure)
})

test('names are no patterns', () => {
  const failureOf = (name: string, text: string) => failureIn(linesOf(line(1, text)), { ...ref, name }, AT)
  assert.equal(failureOf('a.b', 'ERROR Widget axb'), undefined)
  assert.notEqual(failureOf('a.b', 'ERROR Widget a.b'), undefined)
  assert.equal(failureOf('(((((', 'ERROR Widget x'), undefined)
})
