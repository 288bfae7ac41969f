/**
 * The formats of Kubernetes' names, keys, addresses and ports. Each function answers with the messages that are to
 * follow `Invalid value: "…": `, none when the text is well formed. Lengths are in bytes, whatever the message calls
 * them.
 */
import { isIPv4, isIPv4Mapped, isIPv6, withoutLeadingZeros } from '../values/ip.ts'

const byteLength = (text: string): number => Buffer.byteLength(text)

/** What a message calls the bytes that were counted: rules written by hand say characters, declared formats bytes. */
type Unit = 'characters' | 'bytes'

export function maxLengthMessage(length: number, unit: Unit = 'characters'): string {
  return `must be no more than ${length} ${unit}`
}

/** `message` followed by examples and the pattern, in the wording of every format error. */
function patternMessage(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`
  return `${message} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const DNS1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${QUALIFIED})?`
const CONFIG_KEY = '[-._a-zA-Z0-9]+'
const WILDCARD = `\\*\\.${SUBDOMAIN}`
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*'
const HTTP_HEADER = '[-A-Za-z0-9]+'
const PERCENT = '[0-9]+%'

const labelRe = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const dns1035Re = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const qualifiedRe = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const configKeyRe = /^[-._a-zA-Z0-9]+$/
const cIdentifierRe = /^[A-Za-z_][A-Za-z0-9_]*$/
const headerRe = /^[-A-Za-z0-9]+$/
const percentRe = /^[0-9]+%$/
const printableAsciiWithoutEquals = /^[ -<>-~]+$/

const labelMessage = patternMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL,
  'my-name',
  '123-abc',
)
const subdomainMessage = patternMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN,
  'example.com',
)
const dns1035Message = patternMessage(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS1035,
  'my-name',
  'abc-123',
)
const qualifiedCharacters =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const qualifiedPartMessage = patternMessage(
  `name part ${qualifiedCharacters}`,
  QUALIFIED,
  'MyName',
  'my.name',
  '123-abc',
)
const qualifiedShapeMessage = `${patternMessage(`a valid label key ${qualifiedCharacters}`, QUALIFIED, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
const labelValueMessage = patternMessage(
  `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
  LABEL_VALUE,
  'MyValue',
  'my_value',
  '12345',
)
const configKeyMessage = patternMessage(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  CONFIG_KEY,
  'key.name',
  'KEY_NAME',
  'key-name',
)
const wildcardMessage = patternMessage(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  WILDCARD,
  '*.example.com',
)
const cIdentifierMessage = patternMessage(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  C_IDENTIFIER,
  'my_name',
  'MY_NAME',
  'MyName',
)
const headerMessage = patternMessage(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  HTTP_HEADER,
  'X-Header-Name',
)
const percentMessage = patternMessage(
  "a valid percent string must be a numeric string followed by an ending '%'",
  PERCENT,
  '1%',
  '93%',
)

export const dns1123Label = (text: string): string[] => label(text, 'characters')

/** `k8s-short-name`: a DNS label as formats that types declare tell of it. */
export const shortName = (text: string): string[] => label(text, 'bytes')

function label(text: string, unit: Unit): string[] {
  const messages: string[] = []
  if (byteLength(text) > 63) messages.push(maxLengthMessage(63, unit))
  if (!labelRe.test(text))
    messages.push(isSubdomainShaped(text) && text !== '' ? 'must not contain dots' : labelMessage)
  return messages
}

/** A subdomain's shape, label by label: a pattern over the whole would backtrack on hostile input. */
export function isSubdomainShaped(text: string): boolean {
  return text.split('.').every((part) => labelRe.test(part))
}

export const dns1123Subdomain = (text: string): string[] => subdomain(text, 'characters')

/** `k8s-long-name`: a DNS subdomain as formats that types declare tell of it. */
export const longName = (text: string): string[] => subdomain(text, 'bytes')

function subdomain(text: string, unit: Unit): string[] {
  const messages: string[] = []
  if (byteLength(text) > 253) messages.push(maxLengthMessage(253, unit))
  if (!isSubdomainShaped(text)) messages.push(subdomainMessage)
  return messages
}

export function dns1035Label(text: string): string[] {
  const messages: string[] = []
  if (byteLength(text) > 63) messages.push(maxLengthMessage(63))
  if (!dns1035Re.test(text)) messages.push(dns1035Message)
  return messages
}

export function wildcardDns1123Subdomain(text: string): string[] {
  const messages: string[] = []
  if (byteLength(text) > 253) messages.push(maxLengthMessage(253))
  if (!text.startsWith('*.') || !isSubdomainShaped(text.slice(2))) messages.push(wildcardMessage)
  return messages
}

/** A label key, annotation key, finalizer, resource name: an optional DNS prefix, '/', and a name. */
export const qualifiedName = (text: string): string[] => qualified(text, false)

/** The same where a name that is empty is told of by its pattern alone. */
export const qualifiedNameByPattern = (text: string): string[] => qualified(text, true)

function qualified(text: string, mayHaveNoName: boolean): string[] {
  const messages: string[] = []
  const parts = text.split('/')
  if (parts.length > 2) return [qualifiedShapeMessage]
  if (parts.length === 2) {
    const prefix = parts[0]!
    if (prefix === '') messages.push('prefix part must be non-empty')
    else for (const message of longName(prefix)) messages.push(`prefix part ${message}`)
  }
  const name = parts[parts.length - 1]!
  if (name === '' && !mayHaveNoName) messages.push('name part must be non-empty')
  else if (byteLength(name) > 63) messages.push(`name part ${maxLengthMessage(63, 'bytes')}`)
  if (!qualifiedRe.test(name)) messages.push(qualifiedPartMessage)
  return messages
}

export function labelValue(text: string): string[] {
  const messages: string[] = []
  if (byteLength(text) > 63) messages.push(maxLengthMessage(63, 'bytes'))
  if (text !== '' && !qualifiedRe.test(text)) messages.push(labelValueMessage)
  return messages
}

/** `example.com/path`: a domain prefix and a non-empty path. Messages with the field errors' own words. */
export function configMapKey(text: string): string[] {
  const messages: string[] = []
  if (byteLength(text) > 253) messages.push(maxLengthMessage(253))
  if (!configKeyRe.test(text)) messages.push(configKeyMessage)
  messages.push(...dotDot(text))
  return messages
}

function dotDot(text: string): string[] {
  if (text === '.') return [`must not be '.'`]
  if (text === '..') return [`must not be '..'`]
  return text.startsWith('..') ? [`must not start with '..'`] : []
}

export function cIdentifier(text: string): string[] {
  return cIdentifierRe.test(text) ? [] : [cIdentifierMessage]
}

export function envVarName(text: string): string[] {
  return printableAsciiWithoutEquals.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

export function httpHeaderName(text: string): string[] {
  return headerRe.test(text) ? [] : [headerMessage]
}

export function percentText(text: string): string[] {
  return percentRe.test(text) ? [] : [percentMessage]
}

export function pathSegmentName(text: string): string[] {
  if (text === '.') return [`may not be '.'`]
  if (text === '..') return [`may not be '..'`]
  return pathSegmentPrefix(text)
}

function pathSegmentPrefix(text: string): string[] {
  return ['/', '%'].filter((c) => text.includes(c)).map((c) => `may not contain '${c}'`)
}

export function portNumber(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : ['must be between 1 and 65535, inclusive']
}

/** An IANA service name: what a container's or Service's target port may be called. */
export function portName(text: string): string[] {
  const messages: string[] = []
  if (byteLength(text) > 15) messages.push(maxLengthMessage(15))
  if (!/^[-a-z0-9]+$/.test(text))
    messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(text)) messages.push('must contain at least one letter (a-z)')
  if (text.includes('--')) messages.push('must not contain consecutive hyphens')
  if (text.startsWith('-') || text.endsWith('-')) messages.push('must not begin or end with a hyphen')
  return messages
}

export function ipAddress(text: string): string[] {
  if (isIPv4Mapped(text)) return ['must not be an IPv4-mapped IPv6 address']
  if (isIPv4(text) || isIPv6(text)) return []
  if (!text.includes(':') && isIPv4(withoutLeadingZeros(text))) return ['must not have leading 0s']
  return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
}

/** Addresses of IPv4 that are written as ones of IPv6 are no good, but where `mayBeMapped`. */
export function cidr(text: string, mayBeMapped = false): string[] {
  const slash = text.indexOf('/')
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  const ok =
    slash > 0 &&
    /^(?:0|[1-9][0-9]{0,2})$/.test(bits) &&
    ((isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && !address.includes('%') && Number(bits) <= 128))
  if (ok) return isIPv4Mapped(address) && !mayBeMapped ? ['must not have an IPv4-mapped IPv6 address'] : []
  const plain = withoutLeadingZeros(text.replace('/', '.')).replace(/\.([^.]*)$/, '/$1')
  if (!text.includes(':') && plain !== text && cidr(plain).length === 0)
    return ['must not have leading 0s in IP or prefix length']
  return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
}

/** User and group ids. */
export function userId(id: number): string[] {
  return id >= 0 && id <= 2147483647 ? [] : ['must be between 0 and 2147483647, inclusive']
}

/** The two rules for a name that generateName will extend: a trailing '-' stands for what is to come. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name
}

/** How a kind's names are formed; `prefix` when the text is a generateName. */
export type NameRule = (name: string, prefix: boolean) => string[]

export const subdomainName: NameRule = (name, prefix) => dns1123Subdomain(prefix ? maskTrailingDash(name) : name)
export const labelName: NameRule = (name, prefix) => dns1123Label(prefix ? maskTrailingDash(name) : name)
export const pathName: NameRule = (name, prefix) => (prefix ? pathSegmentPrefix(name) : pathSegmentName(name))
