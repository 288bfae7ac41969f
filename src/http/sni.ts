/** Certificates by the name that a client asks for (TLS server name indication), as kube-apiserver chooses among them. */
import { X509Certificate } from 'node:crypto'

export interface NamedCertificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** `a.example`, or `*.example` for whatever has one label more. Empty: those that the certificate itself has. */
  readonly names: readonly string[]
}

/** The one of a name: the first that has it, or else the first that has it with its first label as `*`. */
export function byServerName<T>(
  named: readonly (readonly [certificate: NamedCertificate, chosen: T])[],
): (serverName: string) => T | undefined {
  const chosen = new Map<string, T>()
  for (const [certificate, value] of named)
    for (const name of certificate.names.length > 0 ? certificate.names : ownNames(certificate.cert))
      if (!chosen.has(name.toLowerCase())) chosen.set(name.toLowerCase(), value)
  return (serverName) => {
    const name = serverName.toLowerCase()
    return chosen.get(name) ?? chosen.get(name.replace(/^[^.]*/, '*'))
  }
}

/** The common name and the DNS names. */
function ownNames(cert: string): readonly string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(cert)
  const common = /^CN=(.*)$/m.exec(subject ?? '')?.[1]
  const names = subjectAltName.split(', ').flatMap((one) => (one.startsWith('DNS:') ? [one.slice(4)] : []))
  return common === undefined ? names : [common, ...names]
}
