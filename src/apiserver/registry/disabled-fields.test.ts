import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, KubeObject } from '../../api/object.ts'
import { noParts } from '../../api/parts.ts'
import { partsForTest } from '../../api/parts-fixture.test.ts'
import type { Schema } from '../../api/schema/schema.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import { DISABLED_FIELDS, withoutDisabledFields } from './disabled-fields.ts'

const rows = createScheme()
  .rows()
  .filter(({ custom }) => custom === undefined)

/** A value that has `field` of `definition` set to `value`; undefined where the schema does not lead there. */
function leading(
  schema: Schema,
  [definition, field, value]: readonly [string, string, Json],
  seen: readonly string[] = [],
): Json | undefined {
  if (schema.type === 'list' || schema.type === 'map') {
    const inner = leading(schema.type === 'list' ? schema.items : schema.values, [definition, field, value], seen)
    return inner === undefined ? undefined : schema.type === 'list' ? [inner] : { key: inner }
  }
  if (schema.type !== 'struct' || seen.includes(schema.definition)) return undefined
  if (schema.definition === definition) return { [field]: value }
  for (const one of schema.fields) {
    const inner = leading(one.schema, [definition, field, value], [...seen, schema.definition])
    if (inner !== undefined) return { [one.name]: inner }
  }
  return undefined
}

function objectWith(row: ResourceRow, definition: string, field: string, value: Json = 'x'): KubeObject | undefined {
  const made = leading(row.schema, [definition, field, value])
  return made === undefined
    ? undefined
    : ({ ...(made as object), apiVersion: 'v1', kind: row.kind, metadata: { name: 'a' } } as KubeObject)
}

const mentions = (object: KubeObject, field: string): boolean => JSON.stringify(object).includes(`"${field}":`)

for (const { definition, field, feature, kind } of DISABLED_FIELDS) {
  const places = rows
    .filter((row) => kind === undefined || row.kind === kind)
    .flatMap((row) => {
      const object = objectWith(row, definition, field)
      return object === undefined ? [] : [{ row, object }]
    })

  test(`${definition}.${field} is dropped while ${feature} is off`, () => {
    assert.notEqual(places.length, 0, 'no kind has the field')
    for (const { row, object } of places)
      assert.equal(mentions(withoutDisabledFields(object, undefined, row.schema), field), false, row.kind)
  })

  test(`${definition}.${field} is kept where the stored object uses ${feature}`, () => {
    for (const { row, object } of places) {
      const changed = objectWith(row, definition, field, 'y')!
      assert.equal(withoutDisabledFields(changed, object, row.schema), changed, row.kind)
      const unused: KubeObject = { apiVersion: 'v1', kind: row.kind, metadata: { name: 'a' } }
      assert.equal(mentions(withoutDisabledFields(changed, unused, row.schema), field), false, row.kind)
    }
  })
}

const pods = rows.find(({ resource, group }) => resource === 'pods' && group === '')!
const pod = (spec: object): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
const stopping = (lifecycle: object) => pod({ containers: [{ name: 'c', lifecycle, image: 'i' }], nodeName: 'n' })
const cleaned = (object: KubeObject, old?: KubeObject, parts = noParts) =>
  withoutDisabledFields(object, old, pods.schema, parts)

test('what uses no feature that is off stays the very object', () => {
  const object = stopping({ preStop: { sleep: { seconds: 1 } } })
  assert.equal(cleaned(object), object)
})

test('a lifecycle that held only a stop signal goes with it; its hooks stay', () => {
  assert.deepEqual(cleaned(stopping({ stopSignal: 'SIGINT' }))['spec'].containers[0], { name: 'c', image: 'i' })
  const hooks = { preStop: { sleep: { seconds: 1 } } }
  assert.deepEqual(cleaned(stopping({ ...hooks, stopSignal: 'SIGINT' }))['spec'].containers[0].lifecycle, hooks)
})

test('a feature that is used in one place of the stored object may be used in others', () => {
  const volume = (source: object) => pod({ containers: [], volumes: [{ name: 'v', ...source }] })
  const old = volume({ secret: { secretName: 's', defaultUser: 1 } })
  const next = volume({ configMap: { name: 'c', items: [{ key: 'k', path: 'p', user: 2 }] } })
  assert.equal(cleaned(next, old), next)
  assert.equal(mentions(cleaned(next, volume({ emptyDir: { mode: 1 } })), 'user'), false)
})

test('a spec that recurs is cleaned each time it comes, and a clean one stays itself', () => {
  const { parts, known } = partsForTest()
  const spec = known({ containers: [{ name: 'c', image: 'i', lifecycle: { stopSignal: 'SIGINT' } }] })
  for (let turn = 0; turn < 2; turn++) assert.equal(mentions(cleaned(pod(spec), undefined, parts), 'stopSignal'), false)
  const clean = known({ containers: [{ name: 'c', image: 'i' }] })
  for (let turn = 0; turn < 2; turn++) assert.equal(cleaned(pod(clean), undefined, parts)['spec'], clean)
})

test("a claim's health is a claim's alone to lose: a set's template of claims keeps it", () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'a' },
    status: { healthStatus: {} },
  }
  const claims = rows.find(({ resource }) => resource === 'persistentvolumeclaims')!
  assert.equal(mentions(withoutDisabledFields(claim, undefined, claims.schema), 'healthStatus'), false)
  const sets = rows.find(({ resource }) => resource === 'statefulsets')!
  const set = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 's' },
    spec: { volumeClaimTemplates: [claim] },
  }
  assert.equal(mentions(withoutDisabledFields(set, undefined, sets.schema), 'healthStatus'), true)
})

test('a Lease that names a strategy does not keep a preferred holder', () => {
  const row = rows.find(({ kind }) => kind === 'Lease')!
  const lease = (spec: Readonly<Record<string, Json>>): KubeObject =>
    ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec }) as KubeObject
  const old = lease({ strategy: 'OldestEmulationVersion' })
  const next = lease({ strategy: 'OldestEmulationVersion', preferredHolder: 'b' })
  assert.deepEqual(withoutDisabledFields(next, old, row.schema)['spec'], { strategy: 'OldestEmulationVersion' })
  assert.deepEqual(withoutDisabledFields(next, next, row.schema), next)
})
