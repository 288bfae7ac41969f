/** Why a server could not be asked, in the words a Go client has for it: clients of the API look for them. */
import { formatTime } from '../base/clock.ts'
import { certificateProblem } from './certificate-problem.ts'
import { firstWords, peerCertificate } from './diagnose.ts'
import { dialProblem } from './dial-problem.ts'

interface NetworkError {
  readonly code?: string
  readonly syscall?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  readonly message?: string
  readonly rawPacket?: Uint8Array
  /** Of a connection that was tried at several addresses. */
  readonly errors?: readonly NetworkError[]
  /** `address:port` of this end of the connection. */
  readonly local?: string
}

/** OpenSSL's words for a certificate that is refused. */
const CERTIFICATE_CODES = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'INVALID_PURPOSE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  // Node has no word for it: one in the chain is no authority.
  'UNSPECIFIED',
])

/** The server that was to be asked: its URL, the name that its certificate is held against, and the authorities for it, in PEM. */
export interface AskedServer {
  readonly server: string
  readonly serverName: string
  readonly ca: string | undefined
  /** The way there. */
  readonly proxy?: string | undefined
}

export interface Attempt {
  /** undefined: no address was found to connect to. */
  readonly endpoint: AskedServer | undefined
  readonly nowMs: number
  readonly timeout: AbortSignal
  /** A proxy passes requests on without Go's HTTP client, which alone looks whether the other side spoke plain HTTP. */
  readonly proxied?: boolean
}

export async function networkError(thrown: unknown, attempt: Attempt): Promise<string> {
  const { endpoint, timeout, nowMs, proxied = false } = attempt
  if (timeout.aborted) return 'context deadline exceeded'
  const whole = thrown as NetworkError
  const error = whole.errors?.[0] ?? whole
  const code = error.code ?? ''
  if (endpoint !== undefined && CERTIFICATE_CODES.has(code)) {
    const { server, serverName, ca, proxy } = endpoint
    const named = /[a-z]/i.test(serverName) && !serverName.includes(':')
    const certificate = await peerCertificate({ server, proxy, signal: timeout, ...(named ? { serverName } : {}) })
    const problem = certificateProblem(certificate, { host: serverName, ca, nowMs, code, format: formatTime })
    return `tls: failed to verify certificate: x509: ${problem}`
  }
  const dialed = dialProblem(error)
  if (dialed !== undefined) return dialed
  switch (code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return error.syscall === undefined || endpoint === undefined ? 'EOF' : reset(error, endpoint)
    case 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION':
      return PROTOCOL_VERSION
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'EPROTO':
      if (error.message?.includes('alert protocol version')) return PROTOCOL_VERSION
      return !proxied && endpoint !== undefined && (await gavePlainHttp(error, endpoint, timeout))
        ? 'http: server gave HTTP response to HTTPS client'
        : 'tls: first record does not look like a TLS handshake'
    default:
      if (code.startsWith('HPE_') && error.rawPacket !== undefined)
        return `net/http: HTTP/1.x transport connection broken: ${malformed(code, error.rawPacket)}`
      return error.message ?? String(thrown)
  }
}

const PROTOCOL_VERSION = 'remote error: tls: protocol version not supported'

function reset({ local }: NetworkError, { server }: Pick<AskedServer, 'server'>): string {
  const ends = local === undefined ? new URL(server).host : `${local}->${new URL(server).host}`
  return `read tcp ${ends}: read: connection reset by peer`
}

const NO_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO'])

/** Whether it failed because a server that was asked by HTTPS speaks HTTP: it is looked at once more. */
export async function gavePlainHttp(
  thrown: unknown,
  { server, proxy }: Pick<AskedServer, 'server' | 'proxy'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!NO_TLS.has((thrown as NetworkError).code ?? '')) return false
  return (await firstWords({ server, proxy, signal })).startsWith('HTTP/')
}

/** What is wrong with the head of an answer. */
function malformed(code: string, packet: Uint8Array): string {
  const [line = ''] = Buffer.from(packet).toString('latin1').split(/\r?\n/)
  const [, length] = /^content-length:(.*)$/im.exec(Buffer.from(packet).toString('latin1')) ?? []
  if (code === 'HPE_INVALID_CONTENT_LENGTH' && length !== undefined)
    return `bad Content-Length ${JSON.stringify(length.trim())}`
  const at = line.indexOf(' ')
  if (at < 0) return `malformed HTTP response ${JSON.stringify(line)}`
  const [status = ''] = line.slice(at).trimStart().split(' ')
  return /^\d{3}$/.test(status)
    ? `malformed HTTP version ${JSON.stringify(line.slice(0, at))}`
    : `malformed HTTP status code ${JSON.stringify(status)}`
}
