/** Names and addresses of a pod: DNS policy and configuration, host aliases. */
import { type FieldError, invalid, notSupported, required } from '../errors/field-errors.ts'
import { dns1123Subdomain, ipAddress } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']

export function validateDnsPolicy(policy: string, path: string, errors: FieldError[]): void {
  if (policy === '') errors.push(required(path))
  else if (!DNS_POLICIES.includes(policy)) errors.push(notSupported(path, policy, DNS_POLICIES))
}

const SERVERS = 3
const SEARCHES = 32
const SEARCH_CHARACTERS = 2048

export function validateDnsConfig(
  config: Fields | undefined,
  policy: string,
  path: string,
  errors: FieldError[],
): void {
  const servers: readonly string[] = config?.['nameservers'] ?? []
  if (policy === 'None') {
    if (!config) return void errors.push(required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'))
    if (servers.length === 0)
      return void errors.push(
        required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
      )
  }
  if (!config) return
  if (servers.length > SERVERS)
    errors.push(invalid(`${path}.nameservers`, servers, `must not have more than ${SERVERS} nameservers`))
  servers.forEach((server, i) => {
    for (const message of ipAddress(server)) errors.push(invalid(`${path}.nameservers[${i}]`, server, message))
  })
  const searches: readonly string[] = config['searches'] ?? []
  if (searches.length > SEARCHES)
    errors.push(invalid(`${path}.searches`, searches, `must not have more than ${SEARCHES} search paths`))
  if (searches.join(' ').length > SEARCH_CHARACTERS)
    errors.push(
      invalid(
        `${path}.searches`,
        searches,
        `must not have more than ${SEARCH_CHARACTERS} characters (including spaces) in the search list`,
      ),
    )
  searches.forEach((search, i) => {
    const trimmed = search.replace(/\.$/, '')
    if (search !== '.')
      for (const message of searchPath(trimmed)) errors.push(invalid(`${path}.searches[${i}]`, trimmed, message))
  })
  ;(config['options'] ?? []).forEach((option: Fields, i: number) => {
    if (!option['name']) errors.push(required(`${path}.options[${i}]`, 'must not be empty'))
  })
}

const SEARCH_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const SEARCH = `${SEARCH_LABEL}(\\.${SEARCH_LABEL})*`
const isSearchLabel = new RegExp(`^${SEARCH_LABEL}$`)

/** A search path is a domain in which labels may have underscores, and begin with one (KEP-4427). */
function searchPath(text: string): string[] {
  const messages: string[] = []
  if (Buffer.byteLength(text) > 253) messages.push('must be no more than 253 characters')
  if (!text.split('.').every((label) => isSearchLabel.test(label)))
    messages.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start " +
        `and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SEARCH}')`,
    )
  return messages
}

export function validateHostAliases(aliases: readonly Fields[] | undefined, path: string, errors: FieldError[]): void {
  aliases?.forEach((alias, i) => {
    for (const message of ipAddress(alias['ip'] ?? ''))
      errors.push(invalid(`${path}[${i}].ip`, alias['ip'] ?? '', message))
    ;(alias['hostnames'] ?? []).forEach((name: string, j: number) => {
      for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}[${i}].hostnames[${j}]`, name, message))
    })
  })
}
