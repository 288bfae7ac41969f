import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastLink } from './finding.ts'
import { waysOut } from './ways-out.ts'

const failing = (message: string) =>
  waysOut([
    lastLink('refused', {
      kind: 'controller-failing',
      controller: 'namespace controller',
      source: 'condition',
      reason: 'ContentDeletionFailed',
      message,
    }),
  ]).map(({ what }) => what)

test('a controller that no role lets is given its right back; whatever else it complains of is to be mended', () => {
  const user = 'system:serviceaccount:kube-system:namespace-controller'
  const denied = `pods is forbidden: User "${user}" cannot deletecollection resource "pods" in API group "" in the namespace "a"`
  assert.deepEqual(failing(`Failed to delete all resource types, 1 remaining: ${denied}`), [
    `give ${user} the right back to deletecollection pods`,
  ])
  const mended = ['mend what namespace controller complains of: ContentDeletionFailed']
  assert.deepEqual(failing('pods is forbidden: exceeded quota'), mended)
  assert.deepEqual(failing('timeout'), mended)
})
