/** How sessions of WebSocket are named, and how another server is asked for the same by SPDY/3.1 (API concept: KEP-4006). */

/** The subprotocols that become SPDY/3.1. */
export const TRANSLATED = 'v5.channel.k8s.io'
export const TUNNELED = 'SPDY/3.1+portforward.k8s.io'
/** Of SPDY/3.1, as the other server is asked for them. */
export const COMMAND_PROTOCOLS = 'v5.channel.k8s.io, v4.channel.k8s.io'
export const FORWARD_PROTOCOL = 'portforward.k8s.io'

/** The client's headers without those of its WebSocket, and with what asks for SPDY/3.1 instead. */
export function spdyHeaders(headers: Readonly<Record<string, string>>, protocols: string): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => !name.startsWith('sec-websocket-'))
  return { ...Object.fromEntries(others), upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocols }
}
