import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../api/object.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { createScheme } from '../../../api/scheme/scheme.ts'
import type { Clock } from '../../../base/clock.ts'
import { createTablePrinter, tablePrinterOf } from './table.ts'

const print = createTablePrinter({ now: () => 0 } as unknown as Clock)

function firstCells(group: string, resource: string, objects: readonly object[], isList: boolean, cell = 0) {
  const row = createScheme().find(group, 'v1', resource) as ResourceRow
  const table = print({
    printer: tablePrinterOf(row),
    objects: objects as readonly KubeObject[],
    metadata: { resourceVersion: '1' },
    apiVersion: 'meta.k8s.io/v1',
    includeObject: 'None',
    withColumns: false,
    isList,
  })
  return table.rows.map(({ cells }) => cells[cell])
}

test('of the storage classes in a list the default one is marked, and one alone is not', () => {
  const mark = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  const classes = [
    { metadata: { name: 'a' }, provisioner: 'p' },
    { metadata: { name: 'b', annotations: mark }, provisioner: 'p' },
    { metadata: { name: 'c', annotations: mark }, provisioner: 'p' },
  ]
  assert.deepEqual(firstCells('storage.k8s.io', 'storageclasses', classes, true), ['a', 'b (default)', 'c'])
  assert.deepEqual(firstCells('storage.k8s.io', 'storageclasses', [classes[1] as object], false), ['b'])
  const attributes = { 'volumeattributesclass.kubernetes.io/is-default-class': 'true' }
  const one = { metadata: { name: 'd', annotations: attributes }, driverName: 'p' }
  assert.deepEqual(firstCells('storage.k8s.io', 'volumeattributesclasses', [one], true), ['d'])
})

test('what a policy is bound to by labels is printed as Go prints the selector', () => {
  const binding = (paramRef: object) => ({ metadata: { name: 'b' }, spec: { policyName: 'p', paramRef } })
  const bindings = [{ selector: { matchLabels: { role: 'param' } } }, { name: 'a' }, { name: 'a', namespace: 'n' }]
  assert.deepEqual(
    firstCells('admissionregistration.k8s.io', 'validatingadmissionpolicybindings', bindings.map(binding), true, 2),
    [
      '&LabelSelector{MatchLabels:map[string]string{role: param,},MatchExpressions:[]LabelSelectorRequirement{},}',
      '*/a',
      'n/a',
    ],
  )
})

test('a slice of devices that is not of one node names none, however its nodes are chosen', () => {
  const slice = (spec: object) => ({ metadata: { name: 's' }, spec: { driver: 'd', pool: { name: 'p' }, ...spec } })
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }
  const slices = [{ nodeName: 'n' }, { allNodes: true }, { nodeSelector: { nodeSelectorTerms: [term] } }].map(slice)
  assert.deepEqual(firstCells('resource.k8s.io', 'resourceslices', slices, true, 1), ['n', '', ''])
})
