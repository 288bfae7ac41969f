import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRestless } from './watch.ts'

test("Events and Leases are passed over, and a definition's resources of those names are not", () => {
  const passed = ['/events', 'events.k8s.io/events', 'coordination.k8s.io/leases']
  const watched = ['acme.test/events', 'acme.test/leases', '/leases', '/pods', 'coordination.k8s.io/leasecandidates']
  const isPassed = (one: string) => {
    const [group = '', resource = ''] = one.split('/')
    return isRestless({ group, resource })
  }
  assert.deepEqual([...passed, ...watched].filter(isPassed), passed)
})
