import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { AUTO_UPDATE, flowControlSteps } from './flow-control-configuration.ts'

const schema = (name: string, precedence: number, annotation?: string, generation = 1): KubeObject => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, generation, ...(annotation === undefined ? {} : { annotations: { [AUTO_UPDATE]: annotation } }) },
  spec: { matchingPrecedence: precedence },
})
const steps = (wanted: readonly KubeObject[], present: readonly KubeObject[]) =>
  flowControlSteps(wanted, present).map(({ action, object }) => [
    action,
    object.metadata.name,
    object['spec'].matchingPrecedence,
    object.metadata.annotations?.[AUTO_UPDATE],
  ])

test('of suggested and mandatory objects what is missing is made, and what is as it should be is left alone', () => {
  const [own, other] = [schema('probes', 2, 'true'), schema('exempt', 1, 'true')]
  assert.deepEqual(steps([own, other], [other]), [['create', 'probes', 2, 'true']])
  assert.deepEqual(steps([own, other], [own, other]), [])
})

test('a suggested object follows the server as long as its annotation says so; without a word, until its spec was changed', () => {
  for (const [annotation, generation, expected] of [
    ['true', 4, [['update', 'probes', 2, 'true']]],
    ['T', 4, [['update', 'probes', 2, 'T']]],
    ['false', 1, []],
    ['F', 1, []],
    [undefined, 1, [['update', 'probes', 2, 'true']]],
    ['banana', 1, [['update', 'probes', 2, 'true']]],
    [undefined, 2, [['update', 'probes', 8000, 'false']]],
  ] as const)
    assert.deepEqual(
      steps([schema('probes', 2, 'true')], [schema('probes', 8000, annotation, generation)]),
      expected,
      `${annotation} at generation ${generation}`,
    )
})

test('mandatory objects cannot be had for oneself', () => {
  for (const annotation of ['false', undefined, '0'])
    assert.deepEqual(steps([schema('catch-all', 10000, 'true')], [schema('catch-all', 10000, annotation, 3)]), [
      ['update', 'catch-all', 10000, 'true'],
    ])
})

test('what an earlier server had left and this one has not is removed, what users made stays', () => {
  const present = [schema('old', 5, 'true'), schema('own', 6), schema('kept', 7, 'false')]
  assert.deepEqual(steps([], present), [['delete', 'old', 5, 'true']])
})

test('the seats of the level that is never held up are what users make them', () => {
  const level = (exempt: object) => ({
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'exempt', generation: 2, annotations: { [AUTO_UPDATE]: 'true' } },
    spec: { type: 'Exempt', exempt },
  })
  const own = level({ nominalConcurrencyShares: 0, lendablePercent: 0 })
  assert.deepEqual(flowControlSteps([own], [level({ nominalConcurrencyShares: 5, lendablePercent: 7 })]), [])
})
