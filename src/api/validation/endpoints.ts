/** Rules of Endpoints (core) and EndpointSlice (discovery.k8s.io). */
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../errors/field-errors.ts'
import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice, Endpoints } from '../generated/types.ts'
import {
  dns1123Label,
  dns1123Subdomain,
  ipAddress,
  labelValue,
  portNumber,
  qualifiedName,
} from '../names/name-formats.ts'
import type { Fields, Given } from '../object.ts'
import { canonicalIP, isIPv4, isIPv6 } from '../values/ip.ts'
import { address, nonSpecialIP } from './address.ts'
import { ifSet, same, says } from './common.ts'
import { check, each, ifPresent, type Rule, rows } from './rules.ts'
import { PROTOCOLS } from './service.ts'

const MAX_ENDPOINTS = 1000
const MAX_PORTS = 20000
const MAX_HINTS = 8
const MAX_TOPOLOGY = 16
const FAMILIES = ['FQDN', 'IPv4', 'IPv6']

const endpointAddress = rows(
  ['ip', address, nonSpecialIP],
  ['hostname', ifSet(says(dns1123Label))],
  ['nodeName', ifPresent(says(dns1123Subdomain))],
)

function endpointPort(requireName: boolean): Rule {
  return (port, path, errors) => {
    if (!port.name) {
      if (requireName) errors.push(required(`${path}.name`))
    } else for (const message of dns1123Label(port.name)) errors.push(invalid(`${path}.name`, port.name, message))
    const number: number = port.port ?? 0
    for (const message of portNumber(number)) errors.push(invalid(`${path}.port`, number, message))
    protocol(port.protocol, `${path}.protocol`, errors)
    appProtocol(port.appProtocol, `${path}.appProtocol`, errors)
  }
}

function protocol(value: string | undefined, path: string, errors: FieldError[]): void {
  if (!value) errors.push(required(path))
  else if (!PROTOCOLS.includes(value)) errors.push(notSupported(path, value, PROTOCOLS))
}

function appProtocol(value: string | undefined, path: string, errors: FieldError[]): void {
  if (value === undefined) return
  for (const message of qualifiedName(value)) errors.push(invalid(path, value, message))
}

const subset: Rule = (value, path, errors, context) => {
  if (!value.addresses?.length && !value.notReadyAddresses?.length)
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'))
  each(endpointAddress)(value.addresses, `${path}.addresses`, errors, context)
  each(endpointAddress)(value.notReadyAddresses, `${path}.notReadyAddresses`, errors, context)
  each(endpointPort((value.ports?.length ?? 0) > 1))(value.ports, `${path}.ports`, errors, context)
}

const endpoints = rows(['subsets', each(subset)])

export function validateEndpoints(object: Endpoints): readonly FieldError[] {
  return check(endpoints, object)
}

/** Endpoints that were stored as they are before are not looked at again. */
export function validateEndpointSlice(object: Given<EndpointSlice>, old?: Given<EndpointSlice>): readonly FieldError[] {
  const errors: FieldError[] = []
  const type: string = object.addressType ?? ''
  if (type !== '' && !FAMILIES.includes(type)) errors.push(notSupported('addressType', type, FAMILIES))
  const all: readonly Endpoint[] = object.endpoints ?? []
  slicePorts(object.ports ?? [], errors)
  if (old !== undefined && same(all, old.endpoints ?? [])) return errors
  if (all.length > MAX_ENDPOINTS) errors.push(tooMany('endpoints', all.length, MAX_ENDPOINTS))
  else
    all.forEach((endpoint, i) => {
      sliceEndpoint(endpoint, type, `endpoints[${i}]`, errors)
    })
  return errors
}

function sliceEndpoint(endpoint: Endpoint, type: string, path: string, errors: FieldError[]): void {
  endpoint.addresses?.forEach((text: string, i: number) => {
    const at = `${path}.addresses[${i}]`
    if (type === 'FQDN') fullyQualified(text, at, errors)
    if (type !== 'IPv4' && type !== 'IPv6') return
    const problems = ipAddress(text)
    for (const message of problems) errors.push(invalid(at, text, message))
    if (problems.length > 0) return
    if (!(type === 'IPv4' ? isIPv4(text) : isIPv6(text)))
      errors.push(invalid(`${path}.addresses`, text, `must be an ${type} address`))
    if (canonicalIP(text) !== text) errors.push(invalid(at, text, `must be in canonical form ("${canonicalIP(text)}")`))
    nonSpecialIP(text, at, errors, { root: endpoint })
  })
  if (endpoint.nodeName !== undefined)
    for (const message of dns1123Subdomain(endpoint.nodeName))
      errors.push(invalid(`${path}.nodeName`, endpoint.nodeName, message))
  const topology: { [key: string]: string } = endpoint.deprecatedTopology ?? {}
  const keys = Object.keys(topology).sort()
  if (keys.length > MAX_TOPOLOGY) errors.push(tooMany(`${path}.deprecatedTopology`, keys.length, MAX_TOPOLOGY))
  for (const key of keys) {
    for (const message of qualifiedName(key)) errors.push(invalid(`${path}.deprecatedTopology`, key, message))
    for (const message of labelValue(topology[key]!))
      errors.push(invalid(`${path}.deprecatedTopology[${key}]`, topology[key]!, message))
  }
  if (endpoint.hostname !== undefined)
    for (const message of dns1123Label(endpoint.hostname))
      errors.push(invalid(`${path}.hostname`, endpoint.hostname, message))
  hints(endpoint.hints?.forZones ?? [], `${path}.hints.forZones`, labelValue, errors)
  hints(endpoint.hints?.forNodes ?? [], `${path}.hints.forNodes`, dns1123Subdomain, errors)
}

function fullyQualified(text: string, path: string, errors: FieldError[]): void {
  if (text === '') {
    errors.push(required(path))
    return
  }
  const name = text.replace(/\.$/, '')
  const messages = dns1123Subdomain(name)
  for (const message of messages) errors.push(invalid(path, text, message))
  if (messages.length === 0 && !name.includes('.'))
    errors.push(invalid(path, text, 'should be a domain with at least two segments separated by dots'))
}

function hints(
  list: readonly Fields[],
  path: string,
  format: (text: string) => readonly string[],
  errors: FieldError[],
): void {
  if (list.length > MAX_HINTS) {
    errors.push(tooMany(path, list.length, MAX_HINTS))
    return
  }
  const seen = new Set<string>()
  list.forEach(({ name = '' }, i) => {
    if (seen.has(name)) errors.push(duplicate(`${path}[${i}].name`, name))
    else {
      for (const message of format(name)) errors.push(invalid(`${path}[${i}].name`, name, message))
      seen.add(name)
    }
  })
}

function slicePorts(ports: readonly DiscoveryV1EndpointPort[], errors: FieldError[]): void {
  if (ports.length > MAX_PORTS) {
    errors.push(tooMany('ports', ports.length, MAX_PORTS))
    return
  }
  const names = new Set<string>()
  ports.forEach((port, i) => {
    const path = `ports[${i}]`
    const name: string = port.name ?? ''
    if (name !== '') for (const message of dns1123Label(name)) errors.push(invalid(`${path}.name`, name, message))
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
    // A pointer here: an empty text is one that there is not.
    const text: string | undefined = port.protocol ?? undefined
    if (text === '') errors.push(notSupported(`${path}.protocol`, text, PROTOCOLS))
    else protocol(text, `${path}.protocol`, errors)
    appProtocol(port.appProtocol, `${path}.appProtocol`, errors)
  })
}
