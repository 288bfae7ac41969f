import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaOf } from './builtin.ts'
import { asGiven } from './canonical.ts'
import { storedForm } from './stored.ts'
import { walkQuickly } from './walk.ts'

const role = schemaOf('io.k8s.api.rbac.v1.Role')
const deployment = schemaOf('io.k8s.api.apps.v1.Deployment')

test('an empty list that its field would write is kept up to the store, and is null in it', () => {
  const decoded = walkQuickly({ metadata: { name: 'r' }, rules: [] }, role, undefined)!
  assert.equal(JSON.stringify(decoded), '{"metadata":{"name":"r"},"rules":[]}')
  assert.equal(JSON.stringify(storedForm(decoded, role)), '{"metadata":{"name":"r"},"rules":null}')
})

test('an object without empty lists is stored as it is', () => {
  const object = { metadata: { name: 'r' }, rules: [{ verbs: ['get'] }] }
  assert.equal(storedForm(object, role), object)
})

test('an empty map that is not written is still told from one that was not given', () => {
  const given = (metadata: object) => {
    const decoded = walkQuickly({ metadata: {}, spec: { template: { metadata } } }, deployment, undefined)!
    return asGiven((decoded['spec'] as { template: { metadata: object } }).template.metadata, 'labels', {})
  }
  assert.deepEqual(given({ labels: {} }), {})
  assert.equal(given({}), null)
  assert.deepEqual(given({ labels: { a: 'b' } }), { a: 'b' })
})
