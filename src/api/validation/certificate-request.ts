/** What a PEM-encoded PKCS #10 request says of its subject. */

export interface CertificateSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

interface Element {
  readonly tag: number
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
  return { tag, content: bytes.subarray(start, start + length), end: start + length }
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
  const pem = Buffer.from(request, 'base64').toString('latin1')
  const block = /-----BEGIN CERTIFICATE REQUEST-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE REQUEST-----/.exec(pem)
  const whole = block && element(Buffer.from(block[1] as string, 'base64'), 0)
  const info = whole && children(whole.content)[0]
  const name = info && children(info.content)[1]
  if (name?.tag !== SEQUENCE) return undefined
  let commonName = ''
  const organizations: string[] = []
  for (const set of children(name.content)) {
    if (set.tag !== SET) return undefined
    for (const attribute of children(set.content)) {
      const [oid, value] = children(attribute.content)
      if (oid === undefined || value === undefined) return undefined
      const text = Buffer.from(value.content).toString('utf8')
      const type = Buffer.from(oid.content).toString('hex')
      if (type === COMMON_NAME) commonName = text
      if (type === ORGANIZATION) organizations.push(text)
    }
  }
  return { commonName, organizations }
}
