import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownFinalizer, meantFor } from './known-finalizers.ts'

test("a finalizer of Kubernetes' own is known on the resources alone that its controller looks after", () => {
  assert.equal(knownFinalizer('kubernetes.io/pvc-protection', 'persistentvolumeclaims')?.follow, 'claim')
  assert.equal(knownFinalizer('kubernetes.io/pvc-protection', 'configmaps'), undefined)
  assert.deepEqual(meantFor('kubernetes.io/pvc-protection', 'configmaps'), ['persistentvolumeclaims'])
  assert.deepEqual(meantFor('foregroundDeletion', 'configmaps'), [])
  assert.deepEqual(meantFor('acme.test/cleanup', 'configmaps'), [])
})

test('what stands for any text is known with any', () => {
  assert.equal(knownFinalizer('group.ingress.k8s.aws/shared', 'ingresses')?.controller, 'AWS Load Balancer Controller')
  assert.equal(knownFinalizer('ingress.k8s.aws/resources', 'ingresses')?.controller, 'AWS Load Balancer Controller')
})
