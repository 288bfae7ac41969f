/** Requests that node:http's parser refuses, or that it takes and no server should: answered in plain text, as Go's server does. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { StatusError } from '../api/status.ts'
import { afterAnswer, answerOn } from './node-http.ts'

/** Node's parser knows a fixed set of methods; of others the handler never hears. */
const UNKNOWN_METHOD = new StatusError(
  405,
  'MethodNotAllowed',
  'the server does not allow this method on the requested resource',
  {},
)

/** What is not even a request line is a bad request, and a method is a token (RFC 9110, 5.6.2). */
const REQUEST_LINE = /^[\w!#$%&'*+\-.^`|~]+ ([!-~]+) HTTP\/(\d\.\d)\r?\n/

const PLAIN = 'text/plain; charset=utf-8'
const BAD_REQUEST = '400 Bad Request'
const OTHER_VERSION = '505 HTTP Version Not Supported: unsupported protocol version'

/** Kubernetes takes chunked alone. */
const OTHER_ENCODING = ['501 Not Implemented', 'Unsupported transfer encoding'] as const

const LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

type ParseError = NodeJS.ErrnoException & {
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
  /** In words of the parser's own. */
  readonly reason?: string
}

/** The head that could not be parsed: earlier requests may have come in the same packet. */
function headAt({ rawPacket, bytesParsed = 0 }: ParseError): string {
  if (rawPacket === undefined) return ''
  const before = rawPacket.subarray(0, bytesParsed).lastIndexOf('\r\n\r\n')
  const from = before < 0 ? 0 : before + 4
  return rawPacket.toString('latin1', from, from + 8192)
}

/** What comes behind something that was refused is not looked at: its connection closes once that was answered. */
type Refusable = Socket & { isRefused?: true }

export function refuseMalformed(error: ParseError, socket: Refusable): void {
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
  else if (socket.isRefused !== true) {
    socket.isRefused = true
    refuseInTurn(error, socket)
  }
}

/** Behind the answers to what came before; where it is within a body, by the answer to that request, which waits for its end. */
function refuseInTurn(error: ParseError, socket: Refusable): void {
  const before = answerOn(socket)
  if (before === undefined) refuseUnparsed(error, socket)
  else if (before.req.complete) afterAnswer(socket, before, () => refuseInTurn(error, socket))
  // A client that says no more amid a body has gone: whether by halves or wholly cannot be seen.
  else if (error.code === 'HPE_INVALID_EOF_STATE') socket.destroySoon()
  else if (before.req.listenerCount('error') === 0) socket.destroy()
  else {
    // node:http ends a connection that is not kept once it is answered.
    before.shouldKeepAlive = false
    before.req.emit('error', brokenBody(error))
  }
}

/** Kubernetes gives the words of Go's reader of chunks, and no reason. */
function brokenBody({ code, reason }: ParseError): StatusError {
  return new StatusError(500, '', BROKEN_CHUNKS[reason === SIZE_OVERFLOW ? reason : (code ?? '')] ?? MALFORMED_CHUNKS)
}

const SIZE_OVERFLOW = 'Chunk size overflow'
const MALFORMED_CHUNKS = 'malformed chunked encoding'
const BROKEN_CHUNKS: Readonly<Record<string, string>> = {
  HPE_INVALID_CHUNK_SIZE: 'invalid byte in chunk length',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'header line too long',
  [SIZE_OVERFLOW]: 'http chunk length too large',
}

function refuseUnparsed(error: ParseError, socket: Socket): void {
  const [, url = '', version] = REQUEST_LINE.exec(headAt(error)) ?? []
  if (error.code === 'HPE_INVALID_VERSION' && version !== undefined) refuse(socket, OTHER_VERSION)
  else if (error.code === 'HPE_INVALID_TRANSFER_ENCODING') refuse(socket, ...OTHER_ENCODING)
  else if (error.code === 'HPE_INVALID_METHOD' && version?.startsWith('1.') && !BROKEN_PATH.test(url))
    refuse(socket, '405 Method Not Allowed', JSON.stringify(UNKNOWN_METHOD.toStatus()), 'application/json')
  else refuse(socket, LINES[error.code ?? ''] ?? BAD_REQUEST)
}

function refuse(socket: Socket, line: string, body = line, type = PLAIN): void {
  socket.end(`HTTP/1.1 ${line}\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n${body}`)
}

/** What a host may be: a name, an address and a port (RFC 3986, 3.2.2). */
const HOST = /^[\w\-.~!$&'()*+,;=%:[\]]*$/

/** A path with a % that begins no escape; what stands in a query may be anything. */
const BROKEN_PATH = /^[^?]*%(?![0-9A-Fa-f]{2})/

/**
 * Whether it was refused: another version than 1.0 and 1.1, a host that is missing, given twice or none, a coding of the body that is not
 * chunked alone, or a path that cannot be decoded; or whether it came behind what was.
 */
export function refusedHead(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const socket: Refusable = incoming.socket
  if (socket.isRefused === true) return true
  const problem = headProblem(incoming)
  if (problem === undefined) return false
  socket.isRefused = true
  const [line, body = line] = problem
  const code = Number(line.slice(0, 3))
  // Chunks would be told of in a header.
  outgoing.useChunkedEncodingByDefault = false
  outgoing.sendDate = false
  outgoing.writeHead(code, line.slice(4), { 'Content-Type': PLAIN, Connection: 'close' })
  outgoing.end(body)
  return true
}

type Problem = readonly [line: string, body?: string]

function headProblem({ httpVersion, headers, url = '', rawHeaders }: IncomingMessage): Problem | undefined {
  const { host, 'transfer-encoding': coding } = headers
  if ((url.includes('%') && BROKEN_PATH.test(url)) || hasTwoHosts(rawHeaders)) return [BAD_REQUEST]
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return OTHER_ENCODING
  if (httpVersion === '1.1' && host !== undefined && HOST.test(host)) return undefined
  if (httpVersion === '1.0' && (host === undefined || HOST.test(host))) return undefined
  if (httpVersion === '0.9') return [BAD_REQUEST]
  if (!httpVersion.startsWith('1.')) return [OTHER_VERSION]
  return [`${BAD_REQUEST}: ${host === undefined ? 'missing required' : 'malformed'} Host header`]
}

/** HTTP/2 ends the stream alone, without an answer. */
export function refusedStream({ url, stream }: Http2ServerRequest): boolean {
  if (!url.includes('%') || !BROKEN_PATH.test(url)) return false
  stream.close(constants.NGHTTP2_PROTOCOL_ERROR)
  return true
}

/** node:http keeps the first. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
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
