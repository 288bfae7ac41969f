/** What is made of a custom resource by the paths of its definition: cells of a table, a Scale. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, Json, KubeObject } from '../../api/object.ts'
import { printerByPaths } from '../handlers/printers/custom-resource-columns.ts'
import { rowsOf } from './rows.ts'
import { customScaleOf, withCustomReplicas } from './scale.ts'

const NOW = Date.parse('2026-01-01T00:10:00Z')
const object = (spec: Fields, status: Fields = {}): KubeObject => ({
  apiVersion: 't.org/v1',
  kind: 'A',
  metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
  status,
})
const printed = (type: string, jsonPath: string, spec: Fields): Json => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'as.t.org' },
    spec: {
      group: 't.org',
      scope: 'Namespaced',
      names: { plural: 'as', kind: 'A' },
      versions: [
        { name: 'v1', served: true, storage: true, additionalPrinterColumns: [{ name: 'X', type, jsonPath }] },
      ],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  } as KubeObject
  const [row] = rowsOf(definition, { replaced: new AbortController().signal, digest: '' })
  assert.ok(row)
  const [name, cell] = printerByPaths(row.columns)(object(spec), NOW)
  assert.equal(name, 'a')
  return cell as Json
}

const cells: readonly (readonly [type: string, path: string, spec: Fields, cell: Json])[] = [
  ['string', '.spec.x', { x: 'text' }, 'text'],
  ['string', '.spec.x', { x: 5 }, '5'],
  ['string', '.spec.x', { x: { a: [1] } }, '{"a":[1]}'],
  ['string', '.spec.x', {}, null],
  ['string', '.spec.l[1]', { l: ['a', 'b'] }, 'b'],
  [
    'string',
    '.spec.l[?(@.k=="y")].v',
    {
      l: [
        { k: 'x', v: '1' },
        { k: 'y', v: '2' },
      ],
    },
    '2',
  ],
  ['integer', '.spec.x', { x: 5 }, 5],
  ['integer', '.spec.x', { x: 5.7 }, 5],
  ['integer', '.spec.x', { x: '5' }, null],
  ['number', '.spec.x', { x: 5.7 }, 5.7],
  ['boolean', '.spec.x', { x: false }, false],
  ['boolean', '.spec.x', { x: 'true' }, null],
  ['date', '.metadata.creationTimestamp', {}, '10m'],
  ['date', '.spec.x', { x: '' }, '<unknown>'],
  ['date', '.spec.x', { x: 'soon' }, '<invalid>'],
  ['date', '.spec.x', { x: 5 }, null],
]
for (const [type, path, spec, cell] of cells)
  test(`a column of type ${type} of ${path} in ${JSON.stringify(spec)}`, () => {
    assert.deepEqual(printed(type, path, spec), cell)
  })

const paths = {
  specReplicasPath: '.spec.size.n',
  statusReplicasPath: '.status.n',
  labelSelectorPath: '.status.selector',
}

test('a scale has what is wanted, what is there and the selector', () => {
  const scale = customScaleOf(object({ size: { n: 3 } }, { n: 2, selector: 'a=b' }), paths)
  assert.deepEqual(
    [scale.kind, scale.metadata.name, scale.metadata.uid, scale.metadata.resourceVersion],
    ['Scale', 'a', 'u', '7'],
  )
  assert.deepEqual([scale['spec'], scale['status']], [{ replicas: 3 }, { replicas: 2, selector: 'a=b' }])
  assert.deepEqual(customScaleOf(object({ size: { n: 3 } }), { ...paths, labelSelectorPath: '' })['status'], {
    replicas: 0,
  })
})

test('a scale of what does not say how many it wants is an error, unless that has a meaning', () => {
  const expected = { code: 500, message: /the spec replicas field ".spec.size.n" does not exist/ }
  for (const spec of [{}, { size: { n: 'x' } }, { size: { n: 1.5 } }])
    assert.throws(() => customScaleOf(object(spec), paths), expected)
  assert.deepEqual(customScaleOf(object({}), paths, 0)['spec'], {})
})

test('replicas are set at their path, and nothing else changes', () => {
  const before = object({ size: { n: 1, m: 2 }, x: 1 })
  assert.deepEqual(withCustomReplicas(before, paths, 5)['spec'], { size: { n: 5, m: 2 }, x: 1 })
  assert.deepEqual(withCustomReplicas(object({}), paths, 5)['spec'], { size: { n: 5 } })
  assert.deepEqual(before['spec'], { size: { n: 1, m: 2 }, x: 1 })
})
