/**
 * A bearer token among the subprotocols of a WebSocket handshake: browsers cannot set an Authorization header there. It stands
 * as `base64url.bearer.authorization.k8s.io.TOKEN`, TOKEN in base64url without padding, beside the subprotocol that is meant.
 */
import type { ApiRequest } from '../../api/request.ts'
import { asksForWebSocket, BEARER_PROTOCOL } from '../../http/websocket.ts'

/** undefined: there is none. @throws when there are several, when nothing else is asked for, or when it is not base64url */
export function webSocketToken({ headers }: Pick<ApiRequest, 'headers'>): string | undefined {
  const asked = headers['sec-websocket-protocol']
  if (asked === undefined || !asksForWebSocket({ headers })) return undefined
  const protocols = asked.split(',').map((protocol) => protocol.trim())
  const tokens = protocols.filter((protocol) => protocol.startsWith(BEARER_PROTOCOL))
  const [found, another] = tokens
  if (found === undefined) return undefined
  if (another !== undefined) throw new Error('several bearer tokens among the subprotocols')
  const encoded = found.slice(BEARER_PROTOCOL.length)
  if (encoded === '') return undefined
  if (!/^[\w-]+$/.test(encoded)) throw new Error('the bearer token among the subprotocols is not base64url')
  if (protocols.length === 1) throw new Error('a bearer token is the only subprotocol')
  return Buffer.from(encoded, 'base64url').toString('utf8')
}
