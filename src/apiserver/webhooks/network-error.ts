/** Why a server could not be reached, in the words a Go client has for it: clients of the API look for them. */
import type { Fields } from '../../api/object.ts'

interface NetworkError {
  readonly code?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  readonly message?: string
  readonly cert?: { readonly subjectaltname?: string }
  readonly host?: string
}

const UNKNOWN_AUTHORITY = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
])
const x509 = (text: string) => `tls: failed to verify certificate: x509: ${text}`

export function networkError(thrown: unknown, timedOut: boolean, config: Fields): string {
  if (timedOut) return 'context deadline exceeded'
  const error = thrown as NetworkError
  const code = error.code ?? ''
  if (UNKNOWN_AUTHORITY.has(code)) return x509('certificate signed by unknown authority')
  const at = `${error.address?.includes(':') ? `[${error.address}]` : error.address}:${error.port}`
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${at}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `dial tcp ${at}: connect: no route to host`
    case 'ENETUNREACH':
      return `dial tcp ${at}: connect: network is unreachable`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${error.hostname}: no such host`
    case 'ECONNRESET':
    case 'EPIPE':
      return 'EOF'
    case 'CERT_HAS_EXPIRED':
      return x509('certificate has expired or is not yet valid')
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return x509(otherName(error, config))
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'EPROTO':
      return 'tls: first record does not look like a TLS handshake'
    default:
      return error.message ?? String(thrown)
  }
}

function otherName({ cert, host }: NetworkError, { service }: Fields): string {
  const names = (cert?.subjectaltname ?? '').split(', ').flatMap((entry) => {
    const [type, name = ''] = [entry.slice(0, entry.indexOf(':')), entry.slice(entry.indexOf(':') + 1)]
    return type === 'DNS' || type === 'IP Address' ? [name] : []
  })
  const wanted = service ? `${service.name}.${service.namespace}.svc` : (host ?? '')
  return `certificate is valid for ${names.join(', ')}, not ${wanted}`
}
