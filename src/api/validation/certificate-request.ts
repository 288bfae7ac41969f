/**
 * What a PEM-encoded PKCS #10 request says of its subject, and what a signer needs of it. A request is read whole and as DER or
 * not at all: what is passed over here would still stand in the certificate, for another reader.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { der, sequence, set as setOf, utf8String } from '../../base/der.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { pemBlocks } from './pem.ts'

export interface CertificateSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** As it is to be certified: DER. A subject's other attributes, such as a user's uid, are not. */
export interface CertificateRequestParts extends CertificateSubject {
  readonly subject: Uint8Array
  readonly publicKey: Uint8Array
  /** The value of the extension, when it is asked for. */
  readonly subjectAltName?: Uint8Array
  /** Kinds of names in it. */
  readonly altNames: ReadonlySet<'Email' | 'DNS' | 'URI' | 'IP'>
}

interface Element {
  readonly tag: number
  /** With tag and length. */
  readonly whole: Uint8Array
  readonly content: Uint8Array
  /** Where the next element begins. */
  readonly end: number
}

const COMMON_NAME = '550403'
const ORGANIZATION = '55040a'
const SERIAL_NUMBER = '550405'
/**
 * What of a subject is certified, in this order: country, organization and its unit, locality, province, street, postal code, common name
 * and serial number.
 */
const CERTIFIED = ['550406', ORGANIZATION, '55040b', '550407', '550408', '550409', '550411', COMMON_NAME, SERIAL_NUMBER]
const OBJECT_IDENTIFIER = 6
const SEQUENCE = 0x30
const SET = 0x31

class NotDer extends Error {}

/** @throws NotDer for another form than the shortest, or none */
function element(bytes: Uint8Array, at: number): Element {
  const tag = bytes[at]
  const first = bytes[at + 1]
  // No field that is read here has a tag of several bytes.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new NotDer()
  let length = first
  let start = at + 2
  if (first >= 0x80) {
    const size = first & 0x7f
    if (size === 0 || size > 4) throw new NotDer()
    length = 0
    for (let i = 0; i < size; i++) length = length * 256 + (bytes[start + i] ?? Number.NaN)
    if (length < Math.max(0x80, 256 ** (size - 1))) throw new NotDer()
    start += size
  }
  if (!(start + length <= bytes.length)) throw new NotDer()
  const end = start + length
  return { tag, whole: bytes.subarray(at, end), content: bytes.subarray(start, end), end }
}

/** @throws NotDer */
function children(bytes: Uint8Array): readonly Element[] {
  const found: Element[] = []
  for (let at = 0; at < bytes.length; ) {
    const next = element(bytes, at)
    found.push(next)
    at = next.end
  }
  return found
}

/** Takes the base64 of a PEM text, as spec.request of a CertificateSigningRequest. undefined when it is none. */
export function certificateSubject(request: string): CertificateSubject | undefined {
  return certificateRequestParts(request)
}

/** Takes the same. */
export function certificateRequestParts(request: string): CertificateRequestParts | undefined {
  try {
    return partsOf(infoOf(request))
  } catch (error) {
    if (error instanceof NotDer) return undefined
    throw error
  }
}

function partsOf([, name, publicKey, attributes]: readonly Element[]): CertificateRequestParts | undefined {
  const told = name && attributesOf(name)
  if (publicKey?.tag !== SEQUENCE || told === undefined) return undefined
  const subjectAltName = attributes && altNameOf(attributes)
  const altNames = new Set<'Email' | 'DNS' | 'URI' | 'IP'>()
  for (const { tag } of children(children(subjectAltName ?? empty)[0]?.content ?? empty)) {
    const kind = altNameKinds[tag]
    if (kind !== undefined) altNames.add(kind)
  }
  return {
    commonName: told.get(COMMON_NAME)?.at(-1) ?? '',
    organizations: told.get(ORGANIZATION) ?? [],
    subject: certified(told),
    publicKey: publicKey.whole,
    ...(subjectAltName === undefined ? {} : { subjectAltName }),
    altNames,
  }
}

const empty = new Uint8Array()
const EXTENSION_REQUEST = '2a864886f70d01090e'
const SUBJECT_ALT_NAME = '551d11'
const altNameKinds: Readonly<Record<number, 'Email' | 'DNS' | 'URI' | 'IP'>> = {
  129: 'Email',
  130: 'DNS',
  134: 'URI',
  135: 'IP',
}

/** Version, subject, public key and attributes; nothing when there is no request. @throws NotDer */
function infoOf(request: string): readonly Element[] {
  const [block] = pemBlocks(Buffer.from(request, 'base64').toString('latin1'))
  if (block?.type !== 'CERTIFICATE REQUEST') return []
  const [whole, more] = children(block.der)
  const info = whole && children(whole.content)[0]
  return info === undefined || more !== undefined ? [] : children(info.content)
}

/** How strings are written, by their tags: as readers of certificates take them. What has a reading of its own is none. */
const STRINGS: Readonly<Record<number, (bytes: Buffer) => string | undefined>> = {
  12: (bytes) => (isUtf8(bytes) ? bytes.toString('utf8') : undefined),
  18: ascii,
  19: ascii,
  20: (bytes) => bytes.toString('latin1'),
  22: ascii,
  30: (bytes) => {
    if (bytes.length % 2 !== 0) return undefined
    const text = Buffer.from(bytes).swap16().toString('utf16le')
    return text.isWellFormed() ? text : undefined
  },
}

function ascii(bytes: Buffer): string | undefined {
  return isAscii(bytes) ? bytes.toString('latin1') : undefined
}

/** The texts of those that are certified, by their types. */
type Attributes = ReadonlyMap<string, readonly string[]>

function attributesOf(name: Element): Attributes | undefined {
  if (name.tag !== SEQUENCE) return undefined
  const found = new Map<string, string[]>()
  for (const set of children(name.content)) {
    if (set.tag !== SET) return undefined
    for (const attribute of children(set.content)) {
      const [oid, value] = children(attribute.content)
      if (attribute.tag !== SEQUENCE || oid?.tag !== OBJECT_IDENTIFIER || value === undefined) return undefined
      const type = hex(oid)
      if (!CERTIFIED.includes(type)) continue
      const text = STRINGS[value.tag]?.(Buffer.from(value.content))
      if (text === undefined) return undefined
      getOrInsertComputed(found, type, () => []).push(text)
    }
  }
  return found
}

/** Those of one type stand together. Of several common names, or serial numbers, the last counts, and an empty one not at all. */
function certified(attributes: Attributes): Uint8Array {
  const sets = CERTIFIED.flatMap((type) => {
    const texts = attributes.get(type) ?? []
    const isSingle = type === COMMON_NAME || type === SERIAL_NUMBER
    const counted = isSingle ? texts.slice(-1).filter((text) => text !== '') : texts
    const oid = der(OBJECT_IDENTIFIER, Buffer.from(type, 'hex'))
    const pairs = counted.map((text) => sequence(oid, stringOf(text)))
    return pairs.length === 0 ? [] : [setOf(Buffer.concat(pairs.sort(Buffer.compare)))]
  })
  return sequence(...sets)
}

/** A PrintableString (X.680, 41.4), where it can be one. */
const stringOf = (text: string): Buffer =>
  /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text) ? der(0x13, Buffer.from(text, 'latin1')) : utf8String(text)

function altNameOf(attributes: Element): Uint8Array | undefined {
  for (const attribute of children(attributes.content)) {
    const [oid, values] = children(attribute.content)
    if (oid === undefined || values === undefined || hex(oid) !== EXTENSION_REQUEST) continue
    for (const extension of children(children(values.content)[0]?.content ?? empty)) {
      const parts = children(extension.content)
      if (parts[0] !== undefined && hex(parts[0]) === SUBJECT_ALT_NAME) return parts.at(-1)?.content
    }
  }
  return undefined
}

const hex = ({ content }: Element): string => Buffer.from(content).toString('hex')
