/** What a PEM-encoded PKCS #10 request says of its subject, and what a signer needs of it. */

export interface CertificateSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** As it is to be certified: DER. */
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
const SEQUENCE = 0x30
const SET = 0x31

function element(bytes: Uint8Array, at: number): Element | undefined {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined) return undefined
  let length = first
  let start = at + 2
  if (first >= 0x80) {
    const size = first & 0x7f
    if (size === 0 || size > 4) return undefined
    length = 0
    for (let i = 0; i < size; i++) length = length * 256 + (bytes[start + i] ?? Number.NaN)
    start += size
  }
  if (!(start + length <= bytes.length)) return undefined
  const end = start + length
  return { tag, whole: bytes.subarray(at, end), content: bytes.subarray(start, end), end }
}

function children(bytes: Uint8Array): readonly Element[] {
  const found: Element[] = []
  for (let at = 0; at < bytes.length; ) {
    const next = element(bytes, at)
    if (next === undefined) return found
    found.push(next)
    at = next.end
  }
  return found
}

/** Takes the base64 of a PEM text, as spec.request of a CertificateSigningRequest. undefined when it is none. */
export function certificateSubject(request: string): CertificateSubject | undefined {
  const name = infoOf(request)?.[1]
  return name && subjectOf(name)
}

/** Takes the same. */
export function certificateRequestParts(request: string): CertificateRequestParts | undefined {
  const [, name, publicKey, attributes] = infoOf(request) ?? []
  const told = name && subjectOf(name)
  if (name === undefined || publicKey === undefined || told === undefined) return undefined
  const subjectAltName = attributes && altNameOf(attributes)
  const altNames = new Set<'Email' | 'DNS' | 'URI' | 'IP'>()
  for (const { tag } of children(children(subjectAltName ?? empty)[0]?.content ?? empty)) {
    const kind = altNameKinds[tag]
    if (kind !== undefined) altNames.add(kind)
  }
  return {
    ...told,
    subject: name.whole,
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

/** Version, subject, public key and attributes. */
function infoOf(request: string): readonly Element[] | undefined {
  const pem = Buffer.from(request, 'base64').toString('latin1')
  const block = /-----BEGIN CERTIFICATE REQUEST-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE REQUEST-----/.exec(pem)
  const whole = block && element(Buffer.from(block[1] as string, 'base64'), 0)
  const info = whole && children(whole.content)[0]
  return info ? children(info.content) : undefined
}

function subjectOf(name: Element): CertificateSubject | undefined {
  if (name.tag !== SEQUENCE) return undefined
  let commonName = ''
  const organizations: string[] = []
  for (const set of children(name.content)) {
    if (set.tag !== SET) return undefined
    for (const attribute of children(set.content)) {
      const [oid, value] = children(attribute.content)
      if (oid === undefined || value === undefined) return undefined
      const text = Buffer.from(value.content).toString('utf8')
      const type = hex(oid)
      if (type === COMMON_NAME) commonName = text
      if (type === ORGANIZATION) organizations.push(text)
    }
  }
  return { commonName, organizations }
}

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
