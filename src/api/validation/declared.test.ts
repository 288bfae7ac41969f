import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaOf } from '../schema/builtin.ts'
import { validateDeclared } from './declared.ts'

const errorsOf = (definition: string, object: object, old?: object) =>
  validateDeclared(object, old, schemaOf(`io.k8s.api.${definition}`)).map(
    ({ field, message }) => `${field}: ${message}`,
  )

test('what a type declares as required, bounded or of a format is asked of its values', () => {
  assert.deepEqual(errorsOf('node.v1.RuntimeClass', { handler: '' }), ['handler: Required value'])
  assert.match(errorsOf('node.v1.RuntimeClass', { handler: 'A_B' })[0]!, /^handler: Invalid value: "A_B": a lowercase/)
  assert.deepEqual(errorsOf('autoscaling.v2.HorizontalPodAutoscaler', { spec: { maxReplicas: -1 } }), [
    'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
  ])
})

test('a list that is too long is only told to be so; items that repeat a key are shown whole', () => {
  const claim = (requests: readonly object[]) => ({ spec: { devices: { requests } } })
  const one = { name: 'r', exactly: { count: 1, deviceClassName: 'c' } }
  assert.deepEqual(errorsOf('resource.v1.ResourceClaim', claim(Array.from({ length: 33 }, () => one))), [
    'spec.devices.requests: Too many: 33: must have at most 32 items',
  ])
  assert.deepEqual(errorsOf('resource.v1.ResourceClaim', claim([one, one])), [
    'spec.devices.requests[1]: Duplicate value: {"name":"r","exactly":{"deviceClassName":"c","count":1}}',
  ])
})

test('a field of another mode is forbidden before the fields are judged', () => {
  const level = { spec: { type: 'Limited', limited: { limitResponse: { queuing: {} } } } }
  assert.deepEqual(errorsOf('flowcontrol.v1.PriorityLevelConfiguration', level), [
    'spec.limited.limitResponse.queuing: Forbidden',
    'spec.limited.limitResponse.type: Required value',
  ])
})

test('an update is judged where it changes something, and what is immutable does not change', () => {
  const slice = (addressType: string, addresses: readonly string[]) => ({ addressType, endpoints: [{ addresses }] })
  assert.deepEqual(errorsOf('discovery.v1.EndpointSlice', slice('IPv4', []), slice('IPv4', [])), [])
  assert.deepEqual(errorsOf('discovery.v1.EndpointSlice', slice('IPv6', []), slice('IPv4', [])), [
    'addressType: Invalid value: null: field is immutable',
  ])
})

test('rules in their alpha stage are not enforced', () => {
  assert.deepEqual(errorsOf('apps.v1.StatefulSet', { spec: {} }), [])
})
