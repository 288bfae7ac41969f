import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noParts } from '../../api/parts.ts'
import { servedAnew } from '../request/served.ts'
import type { ResourceRequest } from './context.ts'
import { admissionAttributes } from './write.ts'

const asked = (audit: { annotations: Record<string, string> } | undefined) =>
  admissionAttributes(
    {
      endpoint: { row: { resource: 'pods', namespaced: true }, parts: noParts },
      info: { namespace: 'n', name: 'p', subresource: '' },
      user: { name: 'alice', groups: [] },
      warnings: [],
      request: { served: { ...servedAnew(), audit } },
    } as unknown as ResourceRequest,
    'CREATE',
    { dryRun: false, options: {} },
    undefined,
    undefined,
  )

test("what admission notes stands in the request's audit event", () => {
  const audit = { annotations: {} }
  asked(audit).annotate?.('note/who', 'p')
  assert.deepEqual(audit.annotations, { 'note/who': 'p' })
})

test('a request that is not audited is admitted without notes', () => {
  assert.doesNotThrow(() => asked(undefined).annotate?.('note/who', 'p'))
})
