import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noParts } from '../../api/parts.ts'
import { servedAnew } from '../request/served.ts'
import type { ServerRequest } from '../request/server-request.ts'
import type { ResourceRequest } from './context.ts'
import { admissionAttributes, managerOf } from './write.ts'

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

test('the manager is the first word of the user agent, read as UTF-8, without what is not shown, in 128 bytes', () => {
  const sent = (text: string) => Buffer.from(text).toString('latin1')
  const named = (agent: string) =>
    managerOf({ headers: { 'user-agent': agent } } as unknown as ServerRequest, { fieldManager: '' })
  assert.equal(named('kubectl/v1.37.1'), 'kubectl')
  assert.equal(named(sent('Jürgen/1')), 'Jürgen')
  assert.equal(named(sent('日本語/1')), '日本語')
  assert.equal(named('J\u00fcrgen/1'), 'J\ufffdrgen')
  assert.equal(named(sent('ü'.repeat(100))), 'ü'.repeat(64))
  assert.equal(named(sent('a\u0085b/1')), 'ab')
})
