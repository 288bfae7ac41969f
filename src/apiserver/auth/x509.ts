/** Client certificates: CN is the user (of several the last, as for the issuer), every O a group. The TLS layer verified the chain; how long it holds is checked here. */
import { createHash, X509Certificate } from 'node:crypto'
import type { UserInfo } from '../../api/request.ts'

export interface CertificateIdentity {
  readonly user: UserInfo
  /** Milliseconds since the epoch. */
  readonly validFrom: number
  readonly validTo: number
}

/** The object identifier of a user's uid in a subject (feature gate AllowParsingUserUIDFromCertAuth). */
const UID = '1.3.6.1.4.1.57683.2'

/** undefined when the certificate names no user. */
export function certificateIdentity(certificate: Uint8Array): CertificateIdentity | undefined {
  const parsed = new X509Certificate(certificate)
  const subject = new Map<string, string | string[] | undefined>(Object.entries(parsed.toLegacyObject().subject))
  const name = values(subject.get('CN')).at(-1)
  if (name === undefined || name === '') return undefined
  const [uid] = values(subject.get(UID))
  const fingerprint = createHash('sha256').update(certificate).digest('hex')
  return {
    user: {
      name,
      ...(uid === undefined ? {} : { uid }),
      groups: values(subject.get('O')),
      extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
    },
    validFrom: Date.parse(parsed.validFrom),
    validTo: Date.parse(parsed.validTo),
  }
}

/**
 * Whether a certificate's chain leads to one of these authorities (PEM, one or more): its own bytes first, then those that its
 * holder sent between it and the authority, asked for only where they are needed. Each link's signature is verified.
 * @throws when there is no authority
 */
export function certifiedBy(
  authorities: string,
): (certificate: Uint8Array, issuers?: () => readonly Uint8Array[]) => boolean {
  const keys = certificatesOf(authorities).map(({ publicKey }) => publicKey)
  const isSigned = (certificate: X509Certificate) => keys.some((key) => certificate.verify(key))
  return (certificate, issuers = () => []) => {
    let last = new X509Certificate(certificate)
    if (isSigned(last)) return true
    for (const bytes of issuers()) {
      const issuer = new X509Certificate(bytes)
      if (!issuer.ca || !last.verify(issuer.publicKey)) return false
      if (isSigned(issuer)) return true
      last = issuer
    }
    return false
  }
}

/** All of a PEM file. @throws when there is none, or one cannot be read */
export function certificatesOf(pem: string): readonly X509Certificate[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0) throw new Error('data does not contain any valid certificates')
  return found.map((one) => new X509Certificate(one))
}

function values(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
