import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, ManagedFieldsEntry } from '../object.ts'
import { partsForTest } from '../parts-fixture.test.ts'
import { schemaOf } from '../schema/builtin.ts'
import { structuralOf } from '../schema/structural/structural.ts'
import { customResourceSchema } from '../schema/structural/to-schema.ts'
import { changedFields, removedFields } from './compare.ts'
import { emptyObject, shapeOf } from './shape.ts'
import { type UpdateManagedFieldsOptions, updateManagedFields } from './update.ts'

const schema = schemaOf('io.k8s.api.core.v1.ConfigMap')
const T1 = '2026-01-01T00:00:01Z'
const T2 = '2026-01-01T00:00:02Z'

const configMap = (data: Record<string, string>, metadata: object = {}): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'c', namespace: 'n', uid: 'u', creationTimestamp: T1, ...metadata },
  data,
})

function update(
  live: KubeObject | undefined,
  next: KubeObject,
  options: Partial<UpdateManagedFieldsOptions> = {},
): KubeObject {
  return updateManagedFields({
    live,
    next,
    schema,
    manager: 'm',
    apiVersion: 'v1',
    subresource: '',
    time: T1,
    ...options,
  })
}

const entry = (manager: string, time: string, fieldsV1: object, more: object = {}): ManagedFieldsEntry =>
  ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  }) as ManagedFieldsEntry

test('a creator owns what it set, metadata of the server excepted', () => {
  const made = update(undefined, configMap({ b: '2', a: '1' }, { labels: { l: 'x' }, finalizers: ['e/f'] }))
  assert.deepEqual(made.metadata.managedFields, [
    entry('m', T1, {
      'f:data': { '.': {}, 'f:a': {}, 'f:b': {} },
      'f:metadata': {
        'f:finalizers': { '.': {}, 'v:"e/f"': {} },
        'f:labels': { '.': {}, 'f:l': {} },
      },
    }),
  ])
  assert.deepEqual(Object.keys(made.metadata.managedFields![0]!.fieldsV1!['f:data']!), ['.', 'f:a', 'f:b'])
})

test('who changes a field takes it from its owner; who owns nothing more is dropped', () => {
  const live = update(undefined, configMap({ a: '1' }))
  const next = { ...live, data: { a: '2', b: '3' } }
  const shared = update(live, next, { manager: 'z', time: T2 })
  // The map itself stays its creator's.
  assert.deepEqual(shared.metadata.managedFields, [
    entry('m', T1, { 'f:data': {} }),
    entry('z', T2, { 'f:data': { 'f:a': {}, 'f:b': {} } }),
  ])
  const { data: _, ...without } = shared
  assert.equal(update(shared, without as KubeObject, { manager: 'y', time: T2 }).metadata.managedFields, undefined)
})

test('an update that changes nothing keeps entries and times, even the very list', () => {
  const live = update(undefined, configMap({ a: '1' }))
  const same = update(live, { ...live, data: { a: '1' } }, { time: T2 })
  assert.deepEqual(same.metadata.managedFields, live.metadata.managedFields)
})

test('list items are owned by their keys, and defaults count as keys', () => {
  const podSchema = schemaOf('io.k8s.api.core.v1.Pod')
  const pod = (containers: object[]): KubeObject => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p' },
    spec: { containers },
    status: {},
  })
  const made = update(
    undefined,
    pod([{ name: 'c', image: 'i', ports: [{ containerPort: 443 }, { containerPort: 80 }], resources: {} }]),
    {
      schema: podSchema,
      resetFields: [['f:status']],
    },
  )
  const containers = {
    'k:{"name":"c"}': {
      '.': {},
      'f:image': {},
      'f:name': {},
      'f:ports': {
        '.': {},
        'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
        'k:{"containerPort":443,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
      },
      'f:resources': {},
    },
  }
  assert.deepEqual(made.metadata.managedFields?.[0]?.fieldsV1, { 'f:spec': { 'f:containers': containers } })
  assert.equal(
    JSON.stringify(made.metadata.managedFields?.[0]?.fieldsV1),
    JSON.stringify({ 'f:spec': { 'f:containers': containers } }),
  )
})

test('an endpoint never owns its reset fields, and a subresource names itself', () => {
  const live = update(undefined, configMap({ a: '1' }))
  const made = update(
    live,
    { ...live, data: { a: '2' }, metadata: { ...live.metadata, labels: { l: '1' } } },
    {
      time: T2,
      subresource: 'status',
      resetFields: [['f:data']],
    },
  )
  assert.deepEqual(made.metadata.managedFields, [
    entry('m', T1, { 'f:data': { '.': {}, 'f:a': {} } }),
    entry('m', T2, { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } }, { subresource: 'status' }),
  ])
})

test('a client may clear managedFields, and what it sends that is not valid does not count', () => {
  const live = update(undefined, configMap({ a: '1' }))
  const sent = (managedFields: unknown) => ({ ...live, metadata: { ...live.metadata, managedFields } }) as KubeObject
  assert.equal(update(live, sent([{}])).metadata.managedFields, undefined)
  assert.deepEqual(update(live, sent([])).metadata.managedFields, live.metadata.managedFields)
  assert.deepEqual(update(live, sent([{ manager: 'x' }])).metadata.managedFields, live.metadata.managedFields)
  const replaced = [entry('x', T1, { 'f:data': { 'f:a': {} } })]
  assert.deepEqual(update(live, sent(replaced)).metadata.managedFields, replaced)
  // Once cleared, an object is not tracked again.
  const cleared = update(live, sent([{}]))
  assert.equal(update(cleared, { ...cleared, data: { a: '9' } }).metadata.managedFields, undefined)
})

test('more than ten updaters are merged into ancient-changes', () => {
  let live = update(undefined, configMap({ k0: '' }), { manager: 'm0' })
  for (let i = 1; i < 14; i++) {
    const time = `2026-01-01T00:00:${String(i + 1).padStart(2, '0')}Z`
    live = update(live, { ...live, data: { ...live['data'], [`k${i}`]: '' } }, { manager: `m${i}`, time })
  }
  const managers = live.metadata.managedFields!.map((e) => e.manager)
  assert.deepEqual(managers, ['ancient-changes', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12', 'm13'])
  assert.deepEqual(live.metadata.managedFields![0]!.fieldsV1, {
    'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {}, 'f:k4': {} },
  })
  assert.equal(live.metadata.managedFields![0]!.time, '2026-01-01T00:00:05Z')
})

test('an untyped value that becomes an empty map, or is one no more, has changed; a map that is emptied has not', () => {
  const untyped = shapeOf({ type: 'any', goType: 'interface {}', deduced: true })
  assert.deepEqual(changedFields(untyped, { x: 1 }, { x: {} }), { 'f:x': {} })
  assert.deepEqual(changedFields(untyped, { x: {} }, { x: 1 }), { 'f:x': {} })
  assert.equal(changedFields(untyped, { x: { y: 1 } }, { x: {} }), undefined)
  assert.deepEqual(removedFields(untyped, { x: { y: 1 } }, { x: {} }), { 'f:x': { 'f:y': {} } })
})

test('a key and an item of a set may be whole numbers that no double holds', () => {
  const one = 9007199254740993n
  const integer = { type: 'integer' } as const
  const keyed = { type: 'object', properties: { k: integer } } as const
  const custom = customResourceSchema(
    structuralOf({
      type: 'object',
      properties: {
        m: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: keyed },
        s: { type: 'array', 'x-kubernetes-list-type': 'set', items: integer },
      },
    }),
  )
  const next = { apiVersion: 'e/v1', kind: 'E', metadata: {}, m: [{ k: one }, { k: one - 1n }], s: [one, 1] }
  const made = update(undefined, next as unknown as KubeObject, { schema: custom })
  assert.deepEqual(made.metadata.managedFields?.[0]?.fieldsV1, {
    'f:m': {
      '.': {},
      'k:{"k":9007199254740992}': { '.': {}, 'f:k': {} },
      'k:{"k":9007199254740993}': { '.': {}, 'f:k': {} },
    },
    'f:s': { '.': {}, 'v:1': {}, 'v:9007199254740993': {} },
  })
})

test('the fields of a spec that recurs are those of one that does not, with whatever it is compared', () => {
  const { parts, known } = partsForTest()
  const schema = schemaOf('io.k8s.api.apps.v1.Deployment')
  const shape = shapeOf(schema)
  const next = { spec: known({ replicas: 1, strategy: {} }) }
  for (const live of [emptyObject(schema), {}, emptyObject(schema)])
    assert.deepEqual(changedFields(shape, live, next, parts), changedFields(shape, live, next))
  assert.notDeepEqual(changedFields(shape, emptyObject(schema), next), changedFields(shape, {}, next))
})
