/** Rules of networking.k8s.io: Ingress, IngressClass, NetworkPolicy, IPAddress, ServiceCIDR. */
import { type FieldError, forbiddenField, invalid, notSupported, required, tooLong } from '../errors/field-errors.ts'
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressClass,
  IngressClassParametersReference,
  IngressRule,
  IngressSpec,
  IPAddress,
  NetworkPolicy,
  NetworkPolicySpec,
  ServiceCIDR,
  TypedLocalObjectReference,
} from '../generated/types.ts'
import {
  dns1123Label,
  dns1123Subdomain,
  ipAddress,
  pathSegmentName,
  portName,
  portNumber,
  wildcardDns1123Subdomain,
} from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { asGiven } from '../schema/canonical.ts'
import { addressBits } from '../values/ip.ts'
import { familyOfNetwork, maskedNetwork, networkContains, parseNetwork } from './address.ts'
import { IMMUTABLE } from './common.ts'
import { validateLabelSelector } from './labels.ts'

type Format = (text: string) => readonly string[]

function say(format: Format, value: string, path: string, errors: FieldError[]): void {
  for (const message of format(value)) errors.push(invalid(path, value, message))
}

export function validateNetworkPolicy(object: NetworkPolicy): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<NetworkPolicySpec> = object.spec ?? {}
  validateLabelSelector(spec.podSelector, 'spec.podSelector', errors)
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const)
    spec[direction]?.forEach((rule: Fields, i: number) => {
      const path = `spec.${direction}[${i}]`
      rule['ports']?.forEach((port: Fields, j: number) => {
        policyPort(port, `${path}.ports[${j}]`, errors)
      })
      rule[peers]?.forEach((peer: Fields, j: number) => {
        policyPeer(peer, `${path}.${peers}[${j}]`, errors)
      })
    })
  const types: readonly string[] = spec.policyTypes ?? []
  if (types.length > 2) errors.push(invalid('spec.policyTypes', types, 'may not specify more than two policyTypes'))
  else
    types.forEach((type, i) => {
      if (type !== 'Ingress' && type !== 'Egress')
        errors.push(notSupported(`spec.policyTypes[${i}]`, type, ['Ingress', 'Egress']))
    })
  return errors
}

function policyPort({ protocol, port, endPort }: Fields, path: string, errors: FieldError[]): void {
  if (protocol !== undefined && !['TCP', 'UDP', 'SCTP'].includes(protocol))
    errors.push(notSupported(`${path}.protocol`, protocol, ['TCP', 'UDP', 'SCTP']))
  if (typeof port === 'number') {
    for (const message of portNumber(port)) errors.push(invalid(`${path}.port`, port, message))
    if (endPort === undefined) return
    if (endPort < port) errors.push(invalid(`${path}.endPort`, endPort, 'must be greater than or equal to `port`'))
    for (const message of portNumber(endPort)) errors.push(invalid(`${path}.endPort`, endPort, message))
  } else if (typeof port === 'string') {
    if (endPort !== undefined)
      errors.push(invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is non-numeric'))
    say(portName, port, `${path}.port`, errors)
  } else if (endPort !== undefined)
    errors.push(invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is not specified'))
}

function policyPeer(peer: Fields, path: string, errors: FieldError[]): void {
  const present = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((field) => peer[field] !== undefined)
  for (const field of ['podSelector', 'namespaceSelector'])
    validateLabelSelector(peer[field], `${path}.${field}`, errors)
  if (peer['ipBlock'] !== undefined) ipBlock(peer['ipBlock'], `${path}.ipBlock`, errors)
  if (present.length === 0) errors.push(required(path, 'must specify a peer'))
  else if (present.length > 1 && peer['ipBlock'] !== undefined)
    errors.push(forbiddenField(path, 'may not specify both ipBlock and another peer'))
}

function ipBlock(block: Fields, path: string, errors: FieldError[]): void {
  const range: string = block['cidr'] ?? ''
  if (range === '') return
  say(maskedNetwork, range, `${path}.cidr`, errors)
  const outer = parseNetwork(range)
  block['except']?.forEach((text: string, i: number) => {
    const at = `${path}.except[${i}]`
    say(maskedNetwork, text, at, errors)
    const inner = parseNetwork(text)
    if (!outer || !inner) return
    if (!networkContains(outer, { family: inner.family, value: inner.address }) || inner.length <= outer.length)
      errors.push(invalid(at, text, 'must be a strict subset of `cidr`'))
  })
}

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']
const NEVER_IN_PATHS = ['//', '/./', '/../', '%2f', '%2F']
const NEVER_AT_ENDS = ['/..', '/.']

export function validateIngressCreate(object: Ingress): readonly FieldError[] {
  const annotation = object.metadata.annotations?.[CLASS_ANNOTATION]
  const name: string | undefined = object.spec?.ingressClassName
  const errors = validateIngress(object)
  if (annotation === undefined || name === undefined || annotation === name) return errors
  const detail = 'must match `ingressClassName` when both are specified'
  return [...errors, invalid(`annotations.${CLASS_ANNOTATION}`, annotation, detail)]
}

export function validateIngress(object: Ingress): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: IngressSpec = object.spec ?? {}
  const rules: readonly IngressRule[] = spec.rules ?? []
  if (rules.length === 0 && spec.defaultBackend === undefined)
    errors.push(invalid('spec', asGiven(spec, 'rules', []), 'either `defaultBackend` or `rules` must be specified'))
  if (spec.defaultBackend !== undefined) backend(spec.defaultBackend, 'spec.defaultBackend', errors)
  rules.forEach((rule, i) => {
    ingressRule(rule, `spec.rules[${i}]`, errors)
  })
  spec.tls?.forEach(({ hosts = [], secretName = '' }, i) => {
    hosts.forEach((host: string, j: number) => {
      say(hostFormat(host), host, `spec.tls[${i}].hosts[${j}]`, errors)
    })
    if (secretName !== '') say(dns1123Subdomain, secretName, `spec.tls[${i}].secretName`, errors)
  })
  if (spec.ingressClassName !== undefined) say(dns1123Subdomain, spec.ingressClassName, 'spec.ingressClassName', errors)
  return errors
}

const hostFormat = (host: string): Format => (host.includes('*') ? wildcardDns1123Subdomain : dns1123Subdomain)

function ingressRule(rule: IngressRule, path: string, errors: FieldError[]): void {
  const host: string = rule.host ?? ''
  if (host !== '') {
    if (addressBits(host)) errors.push(invalid(`${path}.host`, host, 'must be a DNS name, not an IP address'))
    say(hostFormat(host), host, `${path}.host`, errors)
  }
  if (rule.http === undefined) return
  const paths: readonly HTTPIngressPath[] = rule.http.paths ?? []
  if (paths.length === 0) errors.push(required(`${path}.http.paths`))
  paths.forEach((entry, i) => {
    ingressPath(entry, `${path}.http.paths[${i}]`, errors)
  })
}

function ingressPath(entry: HTTPIngressPath, path: string, errors: FieldError[]): void {
  const { path: text = '', pathType: type } = entry
  if (type === undefined || type === null) {
    errors.push(required(`${path}.pathType`, 'pathType must be specified'))
    return
  }
  const no = (detail: string) => errors.push(invalid(`${path}.path`, text, detail))
  if (type === 'Exact' || type === 'Prefix') {
    if (!text.startsWith('/')) no('must be an absolute path')
    for (const part of NEVER_IN_PATHS) if (text.includes(part)) no(`must not contain '${part}'`)
    for (const end of NEVER_AT_ENDS) if (text.endsWith(end)) no(`cannot end with '${end}'`)
  } else if (type === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/')) no('must be an absolute path')
  } else errors.push(notSupported(`${path}.pathType`, type, PATH_TYPES))
  backend(entry.backend ?? {}, `${path}.backend`, errors)
}

function backend({ resource, service }: IngressBackend, path: string, errors: FieldError[]): void {
  if (resource && service) errors.push(invalid(path, '', 'cannot set both resource and service backends'))
  else if (resource) typedReference(resource, `${path}.resource`, errors)
  else if (service) {
    const { name = '', port = {} } = service
    if (name === '') errors.push(required(`${path}.service.name`))
    else say(dns1123Label, name, `${path}.service.name`, errors)
    if (port.name && port.number) errors.push(invalid(path, '', 'cannot set both port name & port number'))
    else if (port.name) say(portName, port.name, `${path}.service.port.name`, errors)
    else if (port.number)
      for (const message of portNumber(port.number))
        errors.push(invalid(`${path}.service.port.number`, port.number, message))
    else errors.push(required(path, 'port name or number is required'))
  } else errors.push(invalid(path, '', 'resource or service backend is required'))
}

function typedReference(
  { apiGroup, kind = '', name = '' }: TypedLocalObjectReference,
  path: string,
  errors: FieldError[],
): void {
  if (typeof apiGroup === 'string') say(dns1123Subdomain, apiGroup, `${path}.apiGroup`, errors)
  if (kind === '') errors.push(required(`${path}.kind`))
  else say(pathSegmentName, kind, `${path}.kind`, errors)
  if (name === '') errors.push(required(`${path}.name`))
  else say(pathSegmentName, name, `${path}.name`, errors)
}

export function validateIngressStatus(object: Ingress): readonly FieldError[] {
  const errors: FieldError[] = []
  object.status?.loadBalancer?.ingress?.forEach(({ ip, hostname }, i) => {
    const path = `status.loadBalancer.ingress[${i}]`
    if (ip) say(ipAddress, ip, `${path}.ip`, errors)
    if (!hostname) return
    say(dns1123Subdomain, hostname, `${path}.hostname`, errors)
    if (addressBits(hostname))
      errors.push(invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'))
  })
  return errors
}

const MAX_CONTROLLER = 250

export function validateIngressClass(object: IngressClass): readonly FieldError[] {
  const errors: FieldError[] = []
  const controller: string = object.spec?.controller ?? ''
  const path = 'spec.controller'
  if (Buffer.byteLength(controller) > MAX_CONTROLLER) errors.push(tooLong(path, MAX_CONTROLLER))
  domainPrefixedPath(controller, path, errors)
  if (object.spec?.parameters !== undefined) classParameters(object.spec.parameters, errors)
  return errors
}

const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

export function domainPrefixedPath(text: string, path: string, errors: FieldError[]): void {
  if (text === '') {
    errors.push(required(path))
    return
  }
  const slash = text.indexOf('/')
  const host = text.slice(0, Math.max(slash, 0))
  const rest = text.slice(slash + 1)
  if (slash < 0 || host === '' || rest === '') {
    errors.push(invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")'))
    return
  }
  say(dns1123Subdomain, host, path, errors)
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest))
    errors.push(invalid(path, rest, `Invalid path (regex used for validation is '${HTTP_PATH}')`))
}

function classParameters(parameters: IngressClassParametersReference, errors: FieldError[]): void {
  const path = 'spec.parameters'
  const { apiGroup, kind = '', name = '', scope, namespace } = parameters
  if (typeof apiGroup === 'string') say(dns1123Subdomain, apiGroup, `${path}.apiGroup`, errors)
  if (kind !== '') say(pathSegmentName, kind, `${path}.kind`, errors)
  if (name !== '') say(pathSegmentName, name, `${path}.name`, errors)
  if (scope === undefined) errors.push(required(`${path}.scope`))
  else if (scope !== 'Cluster' && scope !== 'Namespace')
    errors.push(notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace']))
  if (scope === 'Cluster' && namespace !== undefined)
    errors.push(forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"))
  if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"))
    else say(dns1123Label, namespace, `${path}.namespace`, errors)
  }
}

export function validateIngressClassUpdate(object: IngressClass, old: IngressClass): readonly FieldError[] {
  const errors: FieldError[] = []
  const controller: string = object.spec?.controller ?? ''
  if (controller !== (old.spec?.controller ?? '')) errors.push(invalid('spec.controller', controller, IMMUTABLE))
  return [...errors, ...validateIngressClass(object)]
}

export function validateIPAddress(object: IPAddress): readonly FieldError[] {
  const errors: FieldError[] = []
  const { group = '', resource = '', namespace = '', name = '' } = object.spec?.parentRef ?? {}
  // Declared too, and told once; at an update only here.
  if (resource !== '') say(pathSegmentName, resource, 'spec.parentRef.resource', errors)
  else if (object.spec?.parentRef) errors.push(required('spec.parentRef.resource'))
  if (group !== '') say(dns1123Subdomain, group, 'spec.parentRef.group', errors)
  if (name !== '') say(pathSegmentName, name, 'spec.parentRef.name', errors)
  else if (object.spec?.parentRef) errors.push(required('spec.parentRef.name'))
  if (namespace !== '') say(pathSegmentName, namespace, 'spec.parentRef.namespace', errors)
  return errors
}

export function validateServiceCIDR(object: ServiceCIDR): readonly FieldError[] {
  const errors: FieldError[] = []
  const list: readonly string[] = object.spec?.cidrs ?? []
  if (list.length === 0) return [required('spec.cidrs', 'at least one CIDR required')]
  if (list.length > 2) return [invalid('spec.cidrs', { CIDRs: list }, 'may only hold up to 2 values')]
  list.forEach((text, i) => {
    say(maskedNetwork, text, `spec.cidrs[${i}]`, errors)
  })
  const families = list.map(familyOfNetwork)
  if (list.length > 1 && !families.includes(undefined) && new Set(families).size !== list.length)
    errors.push(
      invalid(
        'spec.cidrs',
        list,
        'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ),
    )
  return errors
}

export function validateServiceCIDRUpdate(object: ServiceCIDR, old: ServiceCIDR): readonly FieldError[] {
  const now: readonly string[] = object.spec?.cidrs ?? []
  const before: readonly string[] = old.spec?.cidrs ?? []
  if (now.length < before.length || now.length > 2)
    return [invalid('spec.cidrs', asGiven(object.spec, 'cidrs', []), IMMUTABLE)]
  // A second family may be added.
  const changed = before.flatMap((text, i) =>
    now[i] === text ? [] : [invalid(`spec.cidrs[${i}]`, now[i]!, IMMUTABLE)],
  )
  return now.length > before.length ? [...changed, ...validateServiceCIDR(object)] : changed
}
