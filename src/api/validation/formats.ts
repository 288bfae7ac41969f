/** The formats that a type may declare for a text (`+k8s:format=…`), by name. */
import { type FieldError, invalid, tooLong } from '../errors/field-errors.ts'
import {
  cIdentifier,
  dns1123Subdomain,
  isSubdomainShaped,
  longName,
  maxLengthMessage,
  qualifiedName,
  qualifiedNameByPattern,
  shortName,
} from '../names/name-formats.ts'
import type { Format } from './common.ts'

export type FormatRule = (text: string, path: string, errors: FieldError[]) => void

const MAX_POOL_NAME = 253
const MAX_IDENTIFIER = 32

const CASELESS =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'Example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

function longNameCaseless(name: string): readonly string[] {
  const messages: string[] = []
  if (Buffer.byteLength(name) > 253) messages.push(maxLengthMessage(253, 'bytes'))
  if (!isSubdomainShaped(name.toLowerCase())) messages.push(CASELESS)
  return messages
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const uuid: Format = (text) => (UUID.test(text) ? [] : ['must be a lowercase UUID in 8-4-4-4-12 format'])

const says =
  (format: Format): FormatRule =>
  (text, path, errors) => {
    for (const message of format(text)) errors.push(invalid(path, text, message))
  }

const resourcePoolName: FormatRule = (name, path, errors) => {
  if (Buffer.byteLength(name) > MAX_POOL_NAME) errors.push(tooLong(path, MAX_POOL_NAME))
  name.split('/').forEach((part, i) => {
    if (part === '') errors.push(invalid(path, name, `segment ${i}: must not be empty`))
    else for (const message of longName(part)) errors.push(invalid(path, part, `segment ${i}: ${message}`))
  })
}

/** `<domain>/<C identifier>`; the parts are told by themselves. */
const fullyQualified: FormatRule = (text, path, errors) => {
  const slash = text.indexOf('/')
  const name = text.slice(slash + 1)
  if (slash >= 0 && name.includes('/')) return
  if (Buffer.byteLength(name) > MAX_IDENTIFIER) errors.push(tooLong(path, MAX_IDENTIFIER))
  if (slash === 0) errors.push(invalid(path, '', 'prefix must not be empty'))
  else if (slash > 0) {
    const domain = text.slice(0, slash)
    for (const message of dns1123Subdomain(domain)) errors.push(invalid(path, domain, `prefix: ${message}`))
  }
  if (slash >= 0 && name === '') errors.push(invalid(path, '', 'name must not be empty'))
  else for (const message of cIdentifier(name)) errors.push(invalid(path, name, message))
  if (slash < 0)
    errors.push(invalid(path, text, 'a fully qualified name must be a domain and a name separated by a slash'))
}

const extendedResourceName: FormatRule = (name, path, errors) => {
  if (name.startsWith('requests.')) errors.push(invalid(path, name, 'must not have "requests." prefix'))
  if (!name.includes('/'))
    errors.push(invalid(path, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'"))
  else if (name.slice(0, name.indexOf('/')).endsWith('kubernetes.io'))
    errors.push(invalid(path, name, 'must not have "kubernetes.io/" domain'))
  for (const message of qualifiedNameByPattern(name)) errors.push(invalid(path, name, message))
}

export const FORMATS: { readonly [name: string]: FormatRule | undefined } = {
  'k8s-short-name': says(shortName),
  'k8s-long-name': says(longName),
  'k8s-long-name-caseless': says(longNameCaseless),
  'k8s-label-key': says(qualifiedName),
  'k8s-uuid': says(uuid),
  'k8s-resource-pool-name': resourcePoolName,
  'k8s-resource-fully-qualified-name': fullyQualified,
  'k8s-extended-resource-name': extendedResourceName,
}
