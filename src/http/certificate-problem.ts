/** What is wrong with a server's certificate, looked at in the order in which Go does: its time, its names, its signer. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

interface Expected {
  /** The name or address the certificate must be for. */
  readonly host: string
  /** PEM of the authorities that are trusted, undefined: the system's. */
  readonly ca: string | undefined
  readonly nowMs: number
  /** OpenSSL's word for why it was refused. */
  readonly code: string
  format(ms: number): string
}

export function certificateProblem(certificate: X509Certificate | undefined, expected: Expected): string {
  if (certificate !== undefined) return problemOf(certificate, expected)
  return expected.code === 'INVALID_PURPOSE' ? PURPOSE : UNKNOWN
}

const PURPOSE = 'certificate specifies an incompatible key usage'
const UNKNOWN = 'certificate signed by unknown authority'

function problemOf(certificate: X509Certificate, expected: Expected): string {
  const { nowMs, format, host, code } = expected
  const current = `certificate has expired or is not yet valid: current time ${format(nowMs)} is`
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
  if (nowMs < from) return `${current} before ${format(from)}`
  if (nowMs > to) return `${current} after ${format(to)}`
  return (
    nameProblem(certificate, host) ?? (code === 'INVALID_PURPOSE' ? PURPOSE : authorityProblem(certificate, expected))
  )
}

function nameProblem(certificate: X509Certificate, host: string): string | undefined {
  const names = (certificate.subjectAltName ?? '').split(', ')
  const ofType = (type: string) => names.filter((name) => name.startsWith(type)).map((name) => name.slice(type.length))
  if (isIP(host) !== 0) {
    const addresses = ofType('IP Address:').map(compressed)
    if (addresses.includes(compressed(host))) return undefined
    return addresses.length === 0
      ? `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
      : `certificate is valid for ${addresses.join(', ')}, not ${host}`
  }
  if (certificate.checkHost(host, { subject: 'never' }) !== undefined) return undefined
  if (certificate.subjectAltName === undefined)
    return 'certificate relies on legacy Common Name field, use SANs instead'
  const hosts = ofType('DNS:')
  return hosts.length === 0
    ? `certificate is not valid for any names, but wanted to match ${host}`
    : `certificate is valid for ${hosts.join(', ')}, not ${host}`
}

/** An address as Go prints it. */
function compressed(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}

const FAILURES: Readonly<Record<string, string>> = {
  ec: 'x509: ECDSA verification failure',
  rsa: 'crypto/rsa: verification error',
  ed25519: 'x509: Ed25519 verification failure',
}

const NO_AUTHORITY = 'x509: invalid signature: parent certificate cannot sign this kind of certificate'

/** One of the right name may still be no authority, or not have signed it. */
function authorityProblem(certificate: X509Certificate, { ca }: Expected): string {
  const candidate = authoritiesOf(ca).find(({ subject }) => subject === certificate.issuer)
  if (candidate === undefined) return UNKNOWN
  const why = candidate.ca ? FAILURES[candidate.publicKey.asymmetricKeyType ?? ''] : NO_AUTHORITY
  if (why === undefined || (candidate.ca && certificate.verify(candidate.publicKey))) return UNKNOWN
  const name = /^(?:CN|O)=(.*)$/m.exec(candidate.subject)?.[1] ?? `serial:${BigInt(`0x${candidate.serialNumber}`)}`
  return `${UNKNOWN} (possibly because of ${JSON.stringify(why)} while trying to verify candidate authority certificate ${JSON.stringify(name)})`
}

function authoritiesOf(ca: string | undefined): readonly X509Certificate[] {
  const blocks = ca?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}
