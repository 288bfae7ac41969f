/** What is wrong with a TLS Secret's certificate and key, in the words of Go's TLS library; a warning, never an error. */
import { createPrivateKey, X509Certificate } from 'node:crypto'

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\s[\s\S]*?-----END \1-----/g

function blockTypes(pem: string): readonly string[] {
  return [...pem.matchAll(BLOCK)].map((match) => match[1]!)
}

/** Both arguments are base64, as the Secret's data has them. */
export function tlsPairWarning(certificate: string, key: string): string | undefined {
  const certificatePem = Buffer.from(certificate, 'base64').toString('latin1')
  const keyPem = Buffer.from(key, 'base64').toString('latin1')
  const certificateBlocks = blockTypes(certificatePem)
  if (certificateBlocks.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (!certificateBlocks.includes('CERTIFICATE')) {
    return certificateBlocks.length === 1 && certificateBlocks[0]!.endsWith('PRIVATE KEY')
      ? 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
      : `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${certificateBlocks.join(' ')}]`
  }
  const keyBlocks = blockTypes(keyPem)
  if (keyBlocks.length === 0) return 'tls: failed to find any PEM data in key input'
  if (!keyBlocks.some((type) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY')))
    return keyBlocks.length === 1 && keyBlocks[0] === 'CERTIFICATE'
      ? 'tls: found a certificate rather than a key in the PEM for the private key'
      : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${keyBlocks.join(' ')}]`
  try {
    const parsed = new X509Certificate(certificatePem)
    const privateKey = createPrivateKey(keyPem)
    return parsed.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key'
  } catch {
    return 'tls: failed to parse private key'
  }
}
