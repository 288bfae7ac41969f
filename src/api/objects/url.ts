/** URLs, read as Kubernetes reads them (Go's net/url). */
import { goQuote } from '../quote.ts'
import { parseIPv6 } from '../values/ip.ts'
import { addressProblem } from './address-problems.ts'

export interface Url {
  readonly scheme: string
  /** With its port. */
  readonly host: string
  readonly path: string
  readonly query: string
}

export class UrlError extends Error {}

const fail = (reason: string): never => {
  throw new UrlError(reason)
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/
const USER = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/
/** What a host may have as it is, besides what is not ASCII. */
const IN_HOST = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]$/
const IN_PATH = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]]|%[0-9A-Fa-f]{2})*$/
const PORT = /^(?::[0-9]*)?$/

const isControl = (character: string) => character < ' ' || character === '\u007f'

/** Bytes as the characters of the same numbers. */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1')
const textOfBytes = (bytes: string) => Buffer.from(bytes, 'latin1').toString()

/** In a host, an escape stands for what is not ASCII, or for the percent sign before a zone. */
export function unescaped(text: string, part: 'host' | 'zone' | 'other'): string {
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(text)?.[0]
  if (bad !== undefined) fail(`invalid URL escape ${goQuote(bad)}`)
  if (part !== 'other') {
    for (const [triplet] of text.matchAll(/%../g)) {
      const plain = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
      const isFine = part === 'host' ? plain >= '\u0080' : plain === ' ' || IN_HOST.test(plain)
      if (triplet !== '%25' && !isFine) fail(`invalid URL escape ${goQuote(triplet)}`)
    }
    for (const character of text.replaceAll(/%../g, ''))
      if (character < '\u0080' && !IN_HOST.test(character)) fail(`invalid character ${goQuote(character)} in host name`)
  }
  const bytes = bytesOf(text).replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return textOfBytes(bytes)
}

function portOf(text: string): string {
  return PORT.test(text) ? unescaped(text, 'host') : fail(`invalid port ${goQuote(text)} after host`)
}

function hostOf(text: string): string {
  const open = text.lastIndexOf('[')
  if (open < 0) {
    const colon = text.indexOf(':')
    if (colon >= 0) portOf(text.slice(colon))
    return unescaped(text, 'host')
  }
  const close = text.lastIndexOf(']')
  if (close < 0) fail("missing ']' in host")
  const port = portOf(text.slice(close + 1))
  const inner = text.slice(open + 1, close)
  const zoneAt = inner.indexOf('%25')
  const address = unescaped(zoneAt < 0 ? inner : inner.slice(0, zoneAt), 'host')
  const zone = zoneAt < 0 ? '' : unescaped(inner.slice(zoneAt), 'zone')
  if (parseIPv6(address) === undefined) fail(wrongAddress(address))
  return `${text.slice(0, open)}[${address}${zone}]${port}`
}

const wrongAddress = (text: string): string => {
  const problem = addressProblem(text)
  return problem === undefined ? 'invalid IP-literal' : `invalid host: ${problem}`
}

/**
 * The parts as they were written: no port goes, no host is made another. `isRequest`: what no request could be for is refused, and there is no
 * fragment. @throws UrlError in the words of Go
 */
export function parseUrl(text: string, isRequest: boolean): Url {
  if ([...text].some(isControl)) fail('net/url: invalid control character in URL')
  if (isRequest && text === '') fail('empty url')
  const nothing = { scheme: '', host: '', path: '', query: '' }
  if (text === '*') return { ...nothing, path: text }
  if (text.startsWith(':')) fail('missing protocol scheme')
  const [prefix = '', name = ''] = SCHEME.exec(text) ?? []
  const scheme = name.toLowerCase()
  const [beforeQuery = '', ...after] = text.slice(prefix.length).split('?')
  const query = after.join('?')
  if (!beforeQuery.startsWith('/')) {
    if (scheme !== '') return { ...nothing, scheme, query }
    if (isRequest) fail('invalid URI for request')
  }
  if (!beforeQuery.startsWith('//') || (scheme === '' && (isRequest || beforeQuery.startsWith('///'))))
    return { ...nothing, scheme, path: escapedPath(beforeQuery), query }
  const slash = beforeQuery.indexOf('/', 2)
  const authority = slash < 0 ? beforeQuery.slice(2) : beforeQuery.slice(2, slash)
  const at = authority.lastIndexOf('@')
  const host = hostOf(authority.slice(at + 1))
  const user = at < 0 ? '' : authority.slice(0, at)
  if (!USER.test(user)) fail('net/url: invalid userinfo')
  unescaped(user, 'other')
  return { scheme, host, path: escapedPath(slash < 0 ? '' : beforeQuery.slice(slash)), query }
}

/** As it was written where that is well escaped. */
function escapedPath(path: string): string {
  const plain = unescaped(path, 'other')
  if (IN_PATH.test(path)) return path
  return escapedBytes(bytesOf(plain))
}

/** A path as Go writes it; of `bytes` each character is one. */
export const escapedBytes = (bytes: string): string =>
  bytes.replaceAll(
    /[^A-Za-z0-9\-_.~$&+,/:;=@]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
