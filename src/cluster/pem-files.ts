/** Certificates and keys in PEM files that an administrator names, refused in kube-apiserver's words. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { certificatesOf } from '../apiserver/auth/x509.ts'
import type { KeyAndCertificate } from './certificate.ts'
import { StartError } from './errors.ts'
import { readText } from './read-file.ts'

/**
 * A certificate, with those between it and its authority, and its key. `prefix`: of what is said of them. `named`: as the controller that
 * watches them is named, which refuses empty files.
 * @throws StartError for files that are none, or of different keys
 */
export function keyPair(
  certFile: string,
  keyFile: string,
  { prefix = '', named }: { readonly prefix?: string; readonly named?: string } = {},
): KeyAndCertificate {
  const [cert, key] = [certFile, keyFile].map((file) => readText(file, (why) => `${prefix}${why}`)) as [string, string]
  if (named !== undefined && (cert === '' || key === ''))
    throw new StartError(`missing content for serving cert "${named}::${certFile}::${keyFile}"`)
  return keyPairOf({ cert, key }, prefix)
}

/** The same of their texts. @throws StartError for texts that are none, or of different keys */
export function keyPairOf({ cert, key }: KeyAndCertificate, prefix = ''): KeyAndCertificate {
  const refuse = (why: string, cause?: unknown) => new StartError(`${prefix}tls: ${why}`, { cause })
  const [first] = blocks(cert).some((kind) => kind === 'CERTIFICATE') ? certificatesOf(cert) : []
  if (first === undefined) throw refuse(whyNoBlock('certificate', cert, /PRIVATE KEY$/, 'a private key'))
  if (!blocks(key).some((kind) => /PRIVATE KEY$/.test(kind)))
    throw refuse(whyNoBlock('key', key, /^CERTIFICATE$/, 'a certificate'))
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(key)
  } catch (cause) {
    throw refuse('failed to parse private key', cause)
  }
  if (!first.checkPrivateKey(privateKey)) throw refuse('private key does not match public key')
  return { cert, key }
}

const blocks = (pem: string): readonly string[] =>
  [...pem.matchAll(/^-----BEGIN ([A-Z0-9 ]+)-----\s*$/gm)].map(([, kind = '']) => kind)

/** `other`: what is in the file when the two were given the other way round. */
function whyNoBlock(wanted: 'certificate' | 'key', pem: string, other: RegExp, found: string): string {
  const kinds = blocks(pem)
  if (kinds.length === 0) return `failed to find any PEM data in ${wanted} input`
  if (!kinds.some((kind) => other.test(kind)))
    return wanted === 'certificate'
      ? `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${kinds.join(' ')}]`
      : `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${kinds.join(' ')}]`
  return wanted === 'certificate'
    ? `failed to find certificate PEM data in certificate input, but did find ${found}; PEM inputs may have been switched`
    : `found ${found} rather than a key in the PEM for the private key`
}

/** Authorities, one or more: the file's text. `named`: as the controller that watches it is named. @throws StartError */
export function authorities(file: string, named: string): string {
  const text = readText(file)
  const name = JSON.stringify(`${named}::${file}`)
  if (text === '') throw new StartError(`missing content for CA bundle ${name}`)
  try {
    certificatesOf(text)
    return text
  } catch (cause) {
    throw new StartError(
      `error loading CA bundle for ${name}: data does not contain any valid RSA or ECDSA certificates`,
      { cause },
    )
  }
}

/** What TLS clients take for authorities: one certificate or more. @throws StartError, with the prefix */
export function rootCertificates(text: string, prefix = ''): string {
  try {
    new X509Certificate(text)
    return text
  } catch (cause) {
    throw new StartError(`${prefix}unable to load root certificates: unable to parse bytes as PEM block`, { cause })
  }
}
