import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { noParts } from '../../api/parts.ts'
import { encodeJson } from '../../api/values/json.ts'
import { fitting } from './too-large-for-etcd.ts'

const registry = { encode: (object: KubeObject) => encodeJson(object) }
const endpoint = { row: { storedAsJson: false }, parts: noParts }
const keptAsJson = { row: { storedAsJson: true }, parts: noParts }
const key = '/registry/controllerrevisions/default/big'
const managedFields = [
  {
    manager: 'kubectl',
    operation: 'Update',
    apiVersion: 'apps/v1',
    time: '2026-11-26T18:33:07Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': {}, 'f:revision': {} },
  },
] as const

const revision = (letters: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: {
    name: 'big',
    namespace: 'default',
    uid: '6b3b5c37-471e-41a0-b15f-3aa1a40f2d85',
    creationTimestamp: '2026-11-26T18:33:07Z',
    managedFields,
  },
  // Kubernetes keeps these bytes as they came, here with a space.
  data: { a: ` ${'x'.repeat(letters)}` },
  revision: 1,
})
const created = (letters: number) => fitting(registry, key, revision(letters), endpoint, 0)

test('the largest ControllerRevision that a v1.37.1 creates is created, without managedFields; the next is refused', () => {
  assert.deepEqual(created(1_500_000).object.metadata.managedFields, managedFields)
  assert.equal(created(1_572_609).object.metadata.managedFields, undefined)
  assert.throws(() => created(1_572_610), { code: 500, message: 'etcdserver: request is too large' })
  assert.throws(() => created(2_096_900), { code: 500, message: 'etcdserver: request is too large' })
})

test("above 2 MiB etcd's client does not even send it", () => {
  const message =
    'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097240 vs. 2097152)'
  assert.throws(() => created(2_097_000), { code: 500, message })
})

test('custom resources count as JSON', () => {
  const custom = (letters: number): KubeObject => ({
    apiVersion: 'e.com/v1',
    kind: 'W',
    metadata: {},
    a: 'x'.repeat(letters),
  })
  assert.ok(fitting(registry, key, custom(1_572_500), keptAsJson, 0))
  assert.throws(() => fitting(registry, key, custom(1_572_800), keptAsJson, 7), { code: 500 })
})

test('an applied object keeps its managedFields, or is refused', () => {
  const applied = (letters: number) => fitting(registry, key, revision(letters), endpoint, 0, true)
  assert.ok(applied(1_572_400).object.metadata.managedFields)
  assert.throws(() => applied(1_572_609), { code: 500, message: 'etcdserver: request is too large' })
})

test('definitions count as JSON, which is less than their protobuf', () => {
  const properties = Object.fromEntries(Array.from({ length: 32_000 }, (_, i) => [`f${i}`, { type: 'string' }]))
  const definition: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'ws.e.com' },
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties } } }] },
  }
  assert.ok(
    fitting(registry, '/registry/apiextensions.k8s.io/customresourcedefinitions/ws.e.com', definition, keptAsJson, 0),
  )
})
