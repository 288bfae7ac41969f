/** Requests that node:http's parser refuses, or that it takes and no server should: answered in plain text, as Go's server does. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { StatusError } from '../api/status.ts'

/** Node's parser knows a fixed set of methods; of others the handler never hears. */
const UNKNOWN_METHOD = new StatusError(
  405,
  'MethodNotAllowed',
  'the server does not allow this method on the requested resource',
  {},
)

/** What is not even a request line is a bad request, and a method is a token (RFC 9110, 5.6.2). */
const REQUEST_LINE = /^[\w!#$%&'*+\-.^`|~]+ [!-~]+ HTTP\/(\d\.\d)\r?\n/

const BAD_REQUEST = '400 Bad Request'
const OTHER_VERSION = '505 HTTP Version Not Supported: unsupported protocol version'

const LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

type ParseError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

export function refuseMalformed(error: ParseError, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const version = REQUEST_LINE.exec(error.rawPacket?.toString('latin1', 0, 8192) ?? '')?.[1]
  if (error.code === 'HPE_INVALID_VERSION' && version !== undefined) refuse(socket, OTHER_VERSION)
  else if (error.code === 'HPE_INVALID_TRANSFER_ENCODING')
    refuse(socket, '501 Not Implemented', 'Unsupported transfer encoding')
  else if (error.code === 'HPE_INVALID_METHOD' && version?.startsWith('1.'))
    refuse(socket, '405 Method Not Allowed', JSON.stringify(UNKNOWN_METHOD.toStatus()), 'application/json')
  else refuse(socket, LINES[error.code ?? ''] ?? BAD_REQUEST)
}

function refuse(socket: Socket, line: string, body = line, type = 'text/plain; charset=utf-8'): void {
  socket.end(`HTTP/1.1 ${line}\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n${body}`)
}

/** What a host may be: a name, an address and a port (RFC 3986, 3.2.2). */
const HOST = /^[\w\-.~!$&'()*+,;=%:[\]]*$/

/** A path with a % that begins no escape; what stands in a query may be anything. */
const BROKEN_PATH = /^[^?]*%(?![0-9A-Fa-f]{2})/

/** Whether it was refused: another version than 1.0 and 1.1, a host that is missing or none, or a path that cannot be decoded. */
export function refusedHead({ httpVersion, headers, socket, url = '' }: IncomingMessage): boolean {
  const { host } = headers
  if (url.includes('%') && BROKEN_PATH.test(url)) {
    refuse(socket, BAD_REQUEST)
    return true
  }
  if (httpVersion === '1.1' && host !== undefined && HOST.test(host)) return false
  if (httpVersion === '1.0' && (host === undefined || HOST.test(host))) return false
  if (httpVersion === '0.9') refuse(socket, BAD_REQUEST)
  else if (!httpVersion.startsWith('1.')) refuse(socket, OTHER_VERSION)
  else refuse(socket, `${BAD_REQUEST}: ${host === undefined ? 'missing required' : 'malformed'} Host header`)
  return true
}

/** A client that speaks plainly where TLS is spoken is told so, on the socket below that of TLS. */
export function refuseHandshake(error: NodeJS.ErrnoException, socket: TLSSocket): void {
  const { _parent: plain } = socket as TLSSocket & { readonly _parent?: Socket }
  if (error.code === 'ERR_SSL_HTTP_REQUEST' && plain?.writable === true) {
    plain.on('error', () => {})
    plain.write('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n')
  }
  socket.destroy()
}
