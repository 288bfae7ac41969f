import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaOf } from './builtin.ts'

const core = (name: string) => schemaOf(`io.k8s.api.core.v1.${name}`)

test('a definition compiles once', () => {
  assert.equal(core('Pod'), core('Pod'))
  assert.throws(() => schemaOf('io.k8s.api.core.v1.Bogus'), /no schema/)
})

test('fields stand in the order of the Go struct, inlined ones in place', () => {
  assert.deepEqual(
    core('Pod').fields.map(({ name }) => name),
    ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
  )
  const volume = core('Volume')
  assert.equal(volume.fields[0]?.name, 'name')
  assert.deepEqual(volume.byName.get('configMap')?.inline, ['VolumeSource'])
})

test('a field knows its Go type, pointer, omission and protobuf number', () => {
  const replicas = schemaOf('io.k8s.api.apps.v1.DeploymentSpec').byName.get('replicas')!
  assert.equal(replicas.pointer, true)
  assert.equal(replicas.omitEmpty, true)
  assert.equal(replicas.schema.goType, 'int32')
  assert.deepEqual(replicas.protobuf, { number: 1, type: 'varint', repeated: false, path: [] })
  assert.equal(core('PodStatus').byName.get('phase')?.schema.goType, 'v1.PodPhase')
  assert.equal(core('PodSpec').byName.get('containers')?.schema.goType, '[]v1.Container')
})

test('lists carry their merge keys and list types', () => {
  const containers = core('PodSpec').byName.get('containers')!.schema
  assert.ok(containers.type === 'list')
  assert.equal(containers.listType, 'map')
  assert.deepEqual(containers.listMapKeys, ['name'])
  assert.deepEqual(containers.patchStrategy, ['merge'])
  assert.equal(containers.patchMergeKey, 'name')
})

test('types of one name in two packages stay apart', () => {
  const goFields = (definition: string) => {
    const list = schemaOf(definition).byName.get('subjects')!.schema
    assert.ok(list.type === 'list' && list.items.type === 'struct')
    return list.items.definition
  }
  assert.equal(goFields('io.k8s.api.rbac.v1.RoleBinding'), 'io.k8s.api.rbac.v1.Subject')
  assert.equal(goFields('io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects'), 'io.k8s.api.flowcontrol.v1.Subject')
})

test('a schema may contain itself', () => {
  const schema = schemaOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps')
  const properties = schema.byName.get('properties')!.schema
  assert.ok(properties.type === 'map')
  assert.equal(properties.values, schema)
})
