/** X.509 certificates with ECDSA P-256 keys, issued by an authority of ours. */

import { createHash, createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { certificateIdentity } from '../apiserver/auth/x509.ts'
import {
  bitString,
  derInteger,
  objectIdentifier,
  octetString,
  sequence,
  set,
  TRUE,
  tagged,
  time,
  utf8String,
} from '../base/der.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SigningRequest } from '../controllers/certificates/signing-controller.ts'
import { ECDSA_WITH_SHA256, type Issuer, readIssuer } from './issuer.ts'

export interface KeyAndCertificate {
  /** PEM. */
  readonly cert: string
  /** PEM, SEC 1. */
  readonly key: string
}

export interface CertificateRequest {
  readonly commonName: string
  /** Groups, for a client certificate. */
  readonly organizations?: readonly string[]
  readonly usage: 'ca' | 'server' | 'client'
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[]
  /** How many authorities may stand between this one and the certificate; without it any number. */
  readonly pathLength?: number
  readonly validDays: number
}

const DAY_MS = 86_400_000
/** By their bit (RFC 5280, 4.2.1.3). */
const KEY_USAGES = [
  'digital signature',
  'content commitment',
  'key encipherment',
  'data encipherment',
  'key agreement',
  'cert sign',
  'crl sign',
  'encipher only',
  'decipher only',
]
const EXTENDED_USAGES: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
}
/** PKCS #9: extensions that a request asks for. */
const EXTENSION_REQUEST = objectIdentifier('1.2.840.113549.1.9.14')
const SUBJECT_ALT_NAME = '2.5.29.17'
const EXTENDED_USAGE = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const

/** `issuer` undefined makes a self-signed one. Valid from five minutes ago, for clocks that differ. */
export function issue(
  runtime: Runtime,
  request: CertificateRequest,
  issuer?: KeyAndCertificate | Issuer,
): KeyAndCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const keyId = createHash('sha1').update(spki).digest()
  const subject = distinguishedName(request)
  const parent = issuer === undefined || 'keyId' in issuer ? issuer : readIssuer(issuer)
  const now = runtime.clock.now()
  const serial = serialOf(runtime)
  const certified = sequence(
    tagged(0, derInteger(Buffer.from([2]))),
    derInteger(serial),
    parent?.algorithm ?? ECDSA_WITH_SHA256,
    parent?.subject ?? subject,
    sequence(time(now - 300_000), time(now + request.validDays * DAY_MS)),
    subject,
    spki,
    tagged(3, sequence(...extensions(request, keyId, parent?.keyId ?? keyId))),
  )
  const signature = sign('sha256', certified, parent?.key ?? privateKey)
  const bytes = sequence(certified, parent?.algorithm ?? ECDSA_WITH_SHA256, bitString(signature))
  return {
    cert: pem('CERTIFICATE', bytes),
    // SEC 1, as Go's tools write it: clients in Java tell the algorithm by the label, and take PKCS #8 for RSA.
    key: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  }
}

/** A request for a certificate (PKCS #10) with a new key, both PEM. What is asked for beyond the subject and hosts is the signer's to say. */
export function certificateRequest(request: Pick<CertificateRequest, 'commonName' | 'organizations' | 'hosts'>): {
  readonly request: string
  readonly key: string
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { hosts = [] } = request
  const names = extension(SUBJECT_ALT_NAME, false, sequence(...hosts.map(generalName)))
  const attributes = hosts.length === 0 ? [] : [sequence(EXTENSION_REQUEST, set(sequence(names)))]
  const body = sequence(
    derInteger(Buffer.alloc(1)),
    distinguishedName(request),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0, Buffer.concat(attributes)),
  )
  return {
    request: pem('CERTIFICATE REQUEST', sequence(body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, privateKey)))),
    key: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  }
}

function serialOf(runtime: Runtime): Buffer {
  const serial = Buffer.from(runtime.random.bytes(16))
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  return serial
}

const sorted = (names: readonly string[]): string => JSON.stringify([...names].sort())

/**
 * The certificate, PEM: valid from five minutes ago, and not longer than its issuer.
 *
 * @throws when it cannot be read, or names another than it was found to name
 */
export function issueForRequest(runtime: Runtime, request: SigningRequest, issuer: KeyAndCertificate): string {
  const parent = readIssuer(issuer)
  const now = runtime.clock.now()
  const end = Math.min(now + request.validSeconds * 1000, new X509Certificate(issuer.cert).validToDate.getTime())
  const certified = sequence(
    tagged(0, derInteger(Buffer.from([2]))),
    derInteger(serialOf(runtime)),
    parent.algorithm,
    parent.subject,
    sequence(time(now - 300_000), time(end)),
    request.subject,
    request.publicKey,
    tagged(3, sequence(...requestedExtensions(request, parent.keyId))),
  )
  const signature = sign('sha256', certified, parent.key)
  const bytes = sequence(certified, parent.algorithm, bitString(signature))
  const user = certificateIdentity(bytes)?.user
  const isMeant =
    (user?.name ?? '') === request.commonName &&
    (user === undefined || sorted(user.groups) === sorted(request.organizations))
  if (!isMeant) throw new Error('the subject of the certificate request has two readings')
  return pem('CERTIFICATE', bytes)
}

function requestedExtensions({ usages, subjectAltName }: SigningRequest, issuerKeyId: Uint8Array): Buffer[] {
  const bits = KEY_USAGES.flatMap((usage, bit) => (usages.includes(usage) ? [bit] : []))
  const extended = usages.flatMap((usage) => EXTENDED_USAGES[usage] ?? [])
  return [
    ...(bits.length === 0 ? [] : [extension('2.5.29.15', true, keyUsage(bits))]),
    ...(extended.length === 0
      ? []
      : [extension('2.5.29.37', false, sequence(...extended.map((oid) => objectIdentifier(oid))))]),
    extension('2.5.29.19', true, sequence()),
    extension('2.5.29.35', false, sequence(tagged(0, issuerKeyId, false))),
    ...(subjectAltName === undefined ? [] : [extension(SUBJECT_ALT_NAME, false, Buffer.from(subjectAltName))]),
  ]
}

/** A named bit list: as short as its last bit allows. */
function keyUsage(bits: readonly number[]): Buffer {
  const last = Math.max(...bits)
  const bytes = Buffer.alloc((last >> 3) + 1)
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return bitString(bytes, 7 - (last & 7))
}

function distinguishedName({
  commonName,
  organizations = [],
}: Pick<CertificateRequest, 'commonName' | 'organizations'>) {
  const attribute = (oid: string, value: string) => set(sequence(objectIdentifier(oid), utf8String(value)))
  return sequence(...organizations.map((name) => attribute('2.5.4.10', name)), attribute('2.5.4.3', commonName))
}

const extension = (oid: string, critical: boolean, value: Buffer) =>
  sequence(objectIdentifier(oid), ...(critical ? [TRUE] : []), octetString(value))

function extensions(request: CertificateRequest, keyId: Buffer, issuerKeyId: Uint8Array): Buffer[] {
  const isAuthority = request.usage === 'ca'
  const { pathLength } = request
  const constraint = pathLength === undefined ? [] : [derInteger(Buffer.from([pathLength]))]
  return [
    // digitalSignature; an authority also keyCertSign and cRLSign.
    extension('2.5.29.15', true, isAuthority ? bitString(Buffer.from([0x86]), 1) : bitString(Buffer.from([0x80]), 7)),
    ...(request.usage === 'ca'
      ? []
      : [extension('2.5.29.37', false, sequence(objectIdentifier(EXTENDED_USAGE[request.usage])))]),
    extension('2.5.29.19', true, isAuthority ? sequence(TRUE, ...constraint) : sequence()),
    extension('2.5.29.14', false, octetString(keyId)),
    ...(isAuthority ? [] : [extension('2.5.29.35', false, sequence(tagged(0, issuerKeyId, false)))]),
    ...(request.hosts === undefined
      ? []
      : [extension(SUBJECT_ALT_NAME, false, sequence(...request.hosts.map(generalName)))]),
  ]
}

function generalName(host: string): Buffer {
  const family = isIP(host)
  if (family === 0) return tagged(2, Buffer.from(host, 'ascii'), false)
  return tagged(7, family === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6Bytes(host), false)
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::')
  const words = (part: string) => (part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16)))
  const before = words(head)
  const after = tail === undefined ? [] : words(tail)
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]))
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

export interface WantedCertificate {
  /** Names and addresses that it must be for. */
  readonly hosts?: readonly string[]
  /** It must be valid for so long yet. */
  readonly days: number
  /** The groups of the user that it names: these and no others. */
  readonly groups?: readonly string[]
}

/** Whether `cert` was issued by `ca`, is of that key, stays valid for `days` and, for a server, names all hosts. */
export function stillGood(
  now: number,
  pair: KeyAndCertificate,
  ca: string,
  { hosts = [], days, groups }: WantedCertificate,
): boolean {
  const certificate = new X509Certificate(pair.cert)
  const authority = new X509Certificate(ca)
  return (
    certificate.verify(authority.publicKey) &&
    certificate.checkPrivateKey(createPrivateKey(pair.key)) &&
    certificate.validToDate.getTime() > now + days * DAY_MS &&
    (groups === undefined || isDeepStrictEqual(certificateIdentity(certificate.raw)?.user.groups, groups)) &&
    hosts.every((host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined)
  )
}
