/** What a certificate authority signs with, read from its certificate and key: one of ours, or any other's with an RSA or an EC key. */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type Der, der, objectIdentifier, readElements, sequence } from '../base/der.ts'

export interface Issuer {
  /** Its subject, DER, as its certificate has it. */
  readonly subject: Uint8Array
  /** By which what it signed names its key. */
  readonly keyId: Uint8Array
  readonly key: KeyObject
  /** DER: the AlgorithmIdentifier of its signatures, with SHA-256. */
  readonly algorithm: Der
}

const NULL = der(0x05)
export const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'))
const ALGORITHMS: Readonly<Record<string, Der>> = {
  ec: ECDSA_WITH_SHA256,
  rsa: sequence(objectIdentifier('1.2.840.113549.1.1.11'), NULL),
}
const SUBJECT_KEY_IDENTIFIER = objectIdentifier('2.5.29.14')
const EXTENSIONS = 0xa3
const VERSION = 0xa0

/** PEM. @throws for what is no certificate with its key, or a key of another kind */
export function readIssuer({ cert, key }: { readonly cert: string; readonly key: string }): Issuer {
  const certificate = new X509Certificate(cert)
  const privateKey = createPrivateKey(key)
  if (!certificate.checkPrivateKey(privateKey)) throw new Error("the key is not the certificate's")
  const algorithm = ALGORITHMS[privateKey.asymmetricKeyType ?? '']
  if (algorithm === undefined)
    throw new Error(`an authority signs with an RSA or an EC key, not ${privateKey.asymmetricKeyType}`)
  const [whole] = readElements(certificate.raw)
  const [certified] = readElements(whole?.content ?? new Uint8Array())
  const fields = readElements(certified?.content ?? new Uint8Array())
  // serial, algorithm, issuer, validity, subject, key; a version before them where it is not the first.
  const subject = fields[fields[0]?.tag === VERSION ? 5 : 4]
  if (subject === undefined) throw new Error('the certificate has no subject')
  return { subject: subject.whole, keyId: keyIdOf(certificate, fields), key: privateKey, algorithm }
}

/** As the certificate says, and else as ours are made. */
function keyIdOf(certificate: X509Certificate, fields: ReturnType<typeof readElements>): Uint8Array {
  const list = fields.find(({ tag }) => tag === EXTENSIONS)
  for (const extension of list === undefined
    ? []
    : readElements(readElements(list.content)[0]?.content ?? list.content)) {
    const [identifier, ...rest] = readElements(extension.content)
    const value = rest.at(-1)
    if (identifier === undefined || value === undefined) continue
    if (SUBJECT_KEY_IDENTIFIER.equals(identifier.whole)) return readElements(value.content)[0]?.content ?? value.content
  }
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha1').update(spki).digest()
}
