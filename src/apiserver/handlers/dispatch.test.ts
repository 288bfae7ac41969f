import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import { StatusError } from '../../api/status.ts'
import { requestInfoOf } from '../request/info.ts'
import type { ServerContext } from './context.ts'
import { createDispatch } from './dispatch.ts'
import { createRequestPlans } from './request-plan.ts'

test('what follows from a path is found out once, until a row of its own group comes or goes', () => {
  const scheme = createScheme()
  const pods = scheme.find('', 'v1', 'pods') as ResourceRow
  const rowOf = (group: string): ResourceRow => ({ ...pods, group, resource: 'widgets', kind: 'Widget' })
  let asked = 0
  const context = {
    runtime: {},
    scheme,
    endpointOf(row: ResourceRow) {
      asked++
      return { row, planOf: createRequestPlans() }
    },
    caches: { revision: 1, fresh: () => undefined },
    registry: { current: () => undefined },
  } as unknown as ServerContext
  const dispatch = createDispatch(context, [])
  const path = '/api/v1/namespaces/n/pods/absent'
  const query = new URLSearchParams()
  const info = requestInfoOf('GET', path, query)
  /** How often a request asks for what is known of a row. */
  const asks = () => {
    const before = asked
    const request = { method: 'GET', path, query, headers: {}, info, user: { name: 'a', groups: [] } }
    const answer = () => dispatch({ ...request, signal: new AbortController().signal })
    assert.throws(answer, (error) => error instanceof StatusError && error.code === 404)
    return asked - before
  }
  assert.notEqual(asks(), 0)
  assert.equal(asks(), 0)
  const other = rowOf('other.org')
  scheme.addRows([other])
  assert.equal(asks(), 0, 'a row of another group came')
  scheme.removeRows([other])
  assert.equal(asks(), 0, 'and went')
  scheme.addRows([rowOf('')])
  assert.notEqual(asks(), 0, 'a row of its own group came')
})
