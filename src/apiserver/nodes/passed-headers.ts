/** What of a request's headers goes on to the server behind a proxy or session: not the credentials it came with. */
import type { ApiRequest } from '../../api/request.ts'
import { subprotocolsOf } from '../../http/channels.ts'
import { hopByHop, tokensOf } from '../../http/hop-by-hop.ts'

/** Credentials and impersonation headers are for this server alone. */
const ABOUT_USER = /^(authorization|impersonate-.*|x-remote-.*|:.*)$/
/** Said anew by what sends it on. */
const SAID_ANEW = new Set(['content-length', 'x-forwarded-for'])

/** `upgrade` keeps what a change of protocol needs. */
export function passedHeaders(request: ApiRequest, { upgrade }: { readonly upgrade: boolean }): Record<string, string> {
  const passed: Record<string, string> = {}
  const isOfConnection = hopByHop(request.headers['connection'])
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || ABOUT_USER.test(name) || SAID_ANEW.has(name) || isOfConnection(name)) continue
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
  const before = isOfConnection('x-forwarded-for') ? undefined : request.headers['x-forwarded-for']
  const address = request.connection?.remoteAddress
  if (address !== undefined) passed['x-forwarded-for'] = before === undefined ? address : `${before}, ${address}`
  return passed
}

/** Whether the request asks for another protocol. */
export const asksForUpgrade = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  headers['upgrade'] !== undefined && tokensOf(headers['connection'] ?? '').includes('upgrade')
