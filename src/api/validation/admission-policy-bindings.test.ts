import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MutatingAdmissionPolicyBinding } from '../generated/types.ts'
import { validatePolicyBinding } from './admission-policies.ts'

test('the selector of parameters is judged beside a name, and a missing policy is told of first', () => {
  const binding = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: 'b' },
    spec: { policyName: '', paramRef: { name: 'a/b', selector: { matchLabels: { 'a b': 'c' } } } },
  } as unknown as MutatingAdmissionPolicyBinding
  assert.deepEqual(
    validatePolicyBinding(binding as Parameters<typeof validatePolicyBinding>[0]).map(
      ({ field, type }) => `${field} ${type}`,
    ),
    [
      'spec.policyName FieldValueRequired',
      'spec.paramRef.name FieldValueInvalid',
      'spec.paramRef.name FieldValueForbidden',
      'spec.paramRef.selector.matchLabels FieldValueInvalid',
      'spec.paramRef.selector FieldValueForbidden',
      'spec.paramRef.parameterNotFoundAction FieldValueRequired',
    ],
  )
})
