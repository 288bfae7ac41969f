/** Why no connection was made, in the words a Go client has for it. */
import { getServers } from 'node:dns'

interface DialError {
  readonly code?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  /** Of a name with several addresses: the first is told. */
  readonly errors?: readonly DialError[]
}

/** undefined for what happened on a connection. */
export function dialProblem(thrown: object): string | undefined {
  const whole = thrown as DialError
  const error = whole.errors?.[0] ?? whole
  const at = `${error.address?.includes(':') ? `[${error.address}]` : error.address}:${error.port}`
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${at}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `dial tcp ${at}: connect: no route to host`
    case 'ENETUNREACH':
      return `dial tcp ${at}: connect: network is unreachable`
    case 'ENOTFOUND':
      return `dial tcp: lookup ${error.hostname}${resolver()}: no such host`
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${error.hostname}${resolver()}: server misbehaving`
    default:
      return undefined
  }
}

function resolver(): string {
  const [server] = getServers()
  if (server === undefined) return ''
  const address = server.includes(':') && !server.startsWith('[') ? `[${server}]` : server
  return ` on ${/\]?:\d+$/.test(server) ? server : `${address}:53`}`
}
