/** What of a request's headers goes on to the server behind a proxy or session: not the credentials it came with. */
import type { ApiRequest } from '../../api/request.ts'
import { subprotocolsOf } from '../../http/channels.ts'

/** Headers that belong to one connection (RFC 9110, section 7.6.1). */
const OF_CONNECTION = new Set([
  ...['connection', 'http2-settings', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'content-length'],
])
/** What proves who asks here, and for whom, is this server's alone. */
const ABOUT_USER = /^(authorization|impersonate-.*|x-remote-.*|:.*)$/

/** `upgrade` keeps what a change of protocol needs. */
export function passedHeaders(request: ApiRequest, { upgrade }: { readonly upgrade: boolean }): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || ABOUT_USER.test(name) || OF_CONNECTION.has(name)) continue
    if (name === 'x-forwarded-for') continue
    passed[name] = value
  }
  if (upgrade) {
    passed['connection'] = 'Upgrade'
    passed['upgrade'] = request.headers['upgrade'] ?? ''
    const subprotocols = subprotocolsOf(request)
    // A token may stand among them.
    if (subprotocols.length > 0) passed['sec-websocket-protocol'] = subprotocols.join(', ')
    else delete passed['sec-websocket-protocol']
  }
  const before = request.headers['x-forwarded-for']
  const address = request.connection?.remoteAddress
  if (address !== undefined) passed['x-forwarded-for'] = before === undefined ? address : `${before}, ${address}`
  return passed
}

/** Whether the request asks for another protocol. */
export const asksForUpgrade = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  headers['upgrade'] !== undefined &&
  (headers['connection'] ?? '').split(',').some((word) => word.trim().toLowerCase() === 'upgrade')
