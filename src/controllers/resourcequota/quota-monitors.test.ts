import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCounted } from './quota-monitors.ts'

const of = (group: string, resource: string, namespaced = true) => ({
  ...{ group, version: 'v1', resource, kind: 'K', namespaced },
  verbs: ['create', 'delete', 'get', 'list', 'watch'],
})

test("quotas count what namespaces hold but for Kubernetes' own Events, also a definition's resource of that name", () => {
  assert.equal(isCounted(of('', 'pods')), true)
  assert.equal(isCounted(of('', 'nodes', false)), false)
  assert.equal(isCounted({ ...of('', 'pods'), verbs: ['create'] }), false)
  assert.deepEqual([isCounted(of('', 'events')), isCounted(of('events.k8s.io', 'events'))], [false, false])
  assert.equal(isCounted(of('example.com', 'events')), true)
})
