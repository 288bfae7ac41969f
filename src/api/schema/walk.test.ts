import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherProblem } from '../decode-problem.ts'
import { deepFreeze } from '../freeze.ts'
import { parseJson } from '../values/json.ts'
import { schemaOf } from './builtin.ts'
import { walkExactly } from './field-validation.ts'
import { countKeys, walkQuickly } from './walk.ts'

/** The canonical text that both halves of the walk agree on. */
function canonical(definition: string, value: unknown): string {
  const schema = schemaOf(definition)
  const text = JSON.stringify(value)
  const shared = walkQuickly(deepFreeze(JSON.parse(text)), schema, countKeys(value))
  const owned = walkQuickly(JSON.parse(text), schema, countKeys(value), { owned: true })
  const exact = walkExactly(parseJson(text), schema)
  assert.equal(exact.error, undefined)
  assert.deepEqual(exact.strict, [])
  assert.equal(JSON.stringify(shared), JSON.stringify(exact.object))
  assert.equal(JSON.stringify(owned), JSON.stringify(exact.object))
  return JSON.stringify(exact.object)
}

const core = (name: string) => `io.k8s.api.core.v1.${name}`

test('fields come in struct order, map keys sorted', () => {
  assert.equal(
    canonical(core('ConfigMap'), {
      data: { b: '1', a: '2' },
      metadata: { labels: { y: '', x: '' }, name: 'c' },
      kind: 'ConfigMap',
    }),
    '{"kind":"ConfigMap","metadata":{"name":"c","labels":{"x":"","y":""}},"data":{"a":"2","b":"1"}}',
  )
})

test('structs that are not pointers are written though absent', () => {
  assert.equal(canonical(core('Container'), { name: 'c' }), '{"name":"c","resources":{}}')
  assert.equal(
    canonical('io.k8s.api.apps.v1.Deployment', { spec: { template: null } }),
    '{"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}',
  )
})

test('null, empty lists, empty maps and zero values vanish where omitempty has it', () => {
  assert.equal(
    canonical(core('PodSpec'), { containers: [], nodeSelector: {}, hostNetwork: false, nodeName: '', volumes: null }),
    '{"containers":[]}',
  )
  assert.equal(
    canonical(core('PodSpec'), { containers: [null], terminationGracePeriodSeconds: 0, priority: null }),
    '{"containers":[{"name":"","resources":{}}],"terminationGracePeriodSeconds":0}',
  )
})

test('an empty list that is a value of a map stays, and so does null', () => {
  assert.equal(
    canonical('io.k8s.api.authorization.v1.SubjectAccessReviewSpec', { extra: { a: [], b: ['x'], c: null } }),
    '{"extra":{"a":[],"b":["x"],"c":null}}',
  )
})

test('the zero time is omitted from metadata, and kept as null where Go keeps it', () => {
  assert.equal(canonical(core('ConfigMap'), { metadata: { creationTimestamp: null } }), '{"metadata":{}}')
})

test('quantities and times have one spelling', () => {
  assert.equal(
    canonical(core('ResourceRequirements'), { limits: { memory: '1024Mi', cpu: '1000m' } }),
    '{"limits":{"cpu":"1","memory":"1Gi"}}',
  )
})

test('free-form fields stay as they are', () => {
  const data = { z: [1, { '': null }], a: { b: {} } }
  assert.match(
    canonical('io.k8s.api.apps.v1.ControllerRevision', { data, revision: 1 }),
    /"data":\{"z":\[1,\{"":null\}\],"a":\{"b":\{\}\}\}/,
  )
})

test('__proto__ and constructor are keys like any other', () => {
  const text = '{"metadata":{"labels":{"__proto__":"x","constructor":"y"}},"data":{"__proto__":"z"}}'
  const schema = schemaOf(core('ConfigMap'))
  for (const owned of [true, false]) {
    const made = walkQuickly(JSON.parse(text), schema, 6, { owned })
    assert.equal(JSON.stringify(made), text)
  }
  assert.equal(JSON.stringify(walkExactly(parseJson(text), schema).object), text)
  assert.equal(({} as Record<string, unknown>)['z'], undefined)
})

test('a canonical tree that is owned is kept, not copied', () => {
  const tree = JSON.parse('{"kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}')
  assert.equal(walkQuickly(tree, schemaOf(core('ConfigMap')), 5, { owned: true }), tree)
})

test('of a shared tree only what must change is copied', () => {
  const schema = schemaOf(core('Pod'))
  const text =
    '{"kind":"Pod","metadata":{"name":"p","labels":{"a":"1"}},"spec":{"containers":[{"name":"c","image":"i","resources":{}}]},"status":{}}'
  const canonicalTree = deepFreeze(JSON.parse(text))
  assert.equal(walkQuickly(canonicalTree, schema, undefined), canonicalTree)
  const tree = deepFreeze({
    ...canonicalTree,
    spec: { ...canonicalTree.spec, nodeName: '', volumes: [], hostAliases: undefined },
    metadata: { ...canonicalTree.metadata, annotations: { z: 'z', a: null } },
  })
  const made = walkQuickly(tree, schema, undefined) as typeof canonicalTree
  assert.equal(made.spec.containers, canonicalTree.spec.containers)
  assert.equal(made.status, canonicalTree.status)
  assert.equal(made.metadata.labels, canonicalTree.metadata.labels)
  assert.equal(
    JSON.stringify({ ...made, kind: 'Pod' }),
    text.replace('"labels":{"a":"1"}', '"labels":{"a":"1"},"annotations":{"a":"","z":"z"}'),
  )
  assert.equal(walkQuickly({ ...canonicalTree, bogus: 1 }, schema, undefined), undefined)
})

test('the quick walk gives up at any doubt', () => {
  const schema = schemaOf(core('ConfigMap'))
  for (const value of [{ data: { a: 1 } }, { bogus: 1 }, { metadata: [] }, { immutable: 'x' }, []])
    for (const owned of [true, false])
      assert.equal(walkQuickly(structuredClone(value), schema, countKeys(value), { owned }), undefined)
  assert.equal(walkQuickly({ data: { a: '1' } }, schema, 3), undefined, 'a key was written twice')
})

test('nesting is bounded', () => {
  const deep = `${'{"not":'.repeat(3000)}{}${'}'.repeat(3000)}`
  const schema = schemaOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps')
  assert.equal(walkQuickly(JSON.parse(deep), schema, 3000, { owned: true }), undefined)
  assert.deepEqual(walkExactly(parseJson(deep), schema).error, otherProblem('exceeded max depth'))
})
