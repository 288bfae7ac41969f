/** What is wrong with PEM texts that hold certificates or requests for them, in the words a Go parser has for it. */
import { X509Certificate } from 'node:crypto'
import { problemOfSignature } from './pkcs10.ts'

/** Only at the beginning of a line. */
const BEGIN = /(?<=^|\n)-----BEGIN ([^-\n]+)-----[ \t]*\r?\n/g
const END = /-----END ([^-\n]+)-----/g
/** Lines of `name: value`, ended by an empty one, before the body. */
const HEADERS = /^[^\n:]+:[^\n]*\n([^\n]+\n)*\s*\n/

export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly der: Buffer
}

export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = []
  const ends = text.matchAll(END)
  let end = ends.next().value
  let at = 0
  // A text of nothing but beginnings is gone through once.
  for (const { 0: line, 1: type = '', index } of text.matchAll(BEGIN)) {
    const start = index + line.length
    if (index < at) continue
    while (end !== undefined && end.index < start) end = ends.next().value
    if (end === undefined) break
    if (end[1] !== type) continue
    const body = text.slice(start, end.index)
    const headers = HEADERS.exec(body)?.[0] ?? ''
    const base64 = body.slice(headers.length).replace(/\s/g, '')
    blocks.push({ type, hasHeaders: headers !== '', der: Buffer.from(base64, 'base64') })
    at = end.index + end[0].length
  }
  return blocks
}

/** A PKCS #10 request: whole, of a key that Go knows, and signed by it; undefined: nothing. */
export function problemOfRequest(text: string): string | undefined {
  const [block] = pemBlocks(text)
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  const { der } = block
  if (der.length === 1) return 'asn1: syntax error: truncated tag or length'
  if (der.length === 0 || (der[0] === 0x30 && der[1] === 0)) return 'asn1: syntax error: sequence truncated'
  if (der[0] !== 0x30) return "asn1: structure error: tags don't match"
  if (der[1] === 0x80) return 'asn1: syntax error: indefinite length found (not DER)'
  const length = elementLength(der)
  if (length > der.length) return 'asn1: syntax error: data truncated'
  return length < der.length ? 'asn1: syntax error: trailing data' : problemOfSignature(der)
}

function elementLength(der: Buffer): number {
  const first = der[1] ?? 0
  if (first < 0x80) return first + 2
  const count = first & 0x7f
  let length = 0
  for (let i = 0; i < count; i++) length = length * 256 + (der[2 + i] ?? 0)
  return length + 2 + count
}

/** A chain of certificates and nothing else; undefined: nothing. */
export function problemOfCertificates(text: string): string | undefined {
  const blocks = pemBlocks(text)
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block'
  for (const { type, hasHeaders, der } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (hasHeaders) return 'no PEM block headers are permitted'
    if (der.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
    const isSequence = der[0] === 0x30 && elementLength(der) <= der.length
    if (!isCertificate(der)) return isSequence ? 'x509: malformed tbs certificate' : 'x509: malformed certificate'
  }
  return undefined
}

export function isCertificate(der: Uint8Array): boolean {
  try {
    new X509Certificate(der)
    return true
  } catch {
    return false
  }
}
