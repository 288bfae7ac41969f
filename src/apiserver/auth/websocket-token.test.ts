import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webSocketToken } from './websocket-token.ts'

const PREFIX = 'base64url.bearer.authorization.k8s.io.'
const asked = (protocols: string, others: Record<string, string> = {}) =>
  webSocketToken({
    headers: { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-protocol': protocols, ...others },
  })

test('a token among the subprotocols is found wherever it stands, in a WebSocket handshake alone', () => {
  assert.equal(asked(`${PREFIX}YWJj, base64.binary.k8s.io`), 'abc')
  assert.equal(asked(`base64.binary.k8s.io,${PREFIX}YWI`), 'ab')
  assert.equal(asked('base64.binary.k8s.io'), undefined)
  assert.equal(asked(`${PREFIX}, x`), undefined)
  assert.equal(asked(`${PREFIX}YWJj, x`, { upgrade: 'h2c' }), undefined)
})

test('a token that stands alone, twice, or is not base64url is refused', () => {
  for (const protocols of [`${PREFIX}YWJj`, `${PREFIX}YWJj, ${PREFIX}YWJj, x`, `${PREFIX}YWI=, x`, `${PREFIX}$$$, x`])
    assert.throws(() => asked(protocols), /subprotocol/)
})
