/** Rules of Service. Called by its strategy, and the cluster IP rules by the allocators before anything is taken. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  notSupportedText,
  required,
} from '../errors/field-errors.ts'
import type { LoadBalancerIngress, Service } from '../generated/types.ts'
import { dns1123Label, dns1123Subdomain, portName, portNumber, qualifiedName } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { addressBits, familyOf } from '../values/ip.ts'
import { address, maskedNetwork, nonSpecialIP } from './address.ts'
import { same, sorted } from './common.ts'
import { internalForm } from './internal.ts'
import { validateLabels } from './labels.ts'
import { check, oneOf, type Rule } from './rules.ts'

const KUBELET_PORT = 10250
const MAX_AFFINITY_SECONDS = 86400
const LB = 'LoadBalancer'
const TYPES = sorted('ClusterIP', 'NodePort', LB, 'ExternalName')
export const PROTOCOLS = sorted('TCP', 'UDP', 'SCTP')
const RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const HINTS_ANNOTATION = 'service.kubernetes.io/topology-aware-hints'
const MODE_ANNOTATION = 'service.kubernetes.io/topology-mode'

export const isHeadlessByClusterIPs = (service: Service): boolean => service.spec?.clusterIPs?.[0] === 'None'
export const isExternalName = (service: Service): boolean => service.spec?.type === 'ExternalName'
/** Every type but ExternalName, also one that validation is about to refuse. */
export const needsClusterIP = (service: Service): boolean => !isExternalName(service)
export const allocatesNodePorts = (service: Service): boolean =>
  service.spec?.type === 'NodePort' ||
  (service.spec?.type === LB && service.spec?.allocateLoadBalancerNodePorts !== false)
export const mayHaveNodePorts = (service: Service): boolean => ['NodePort', LB].includes(service.spec?.type ?? '')
export const needsHealthCheckNodePort = (service: Service): boolean =>
  service.spec?.type === LB && service.spec?.externalTrafficPolicy === 'Local'
export const needsExternalTrafficPolicy = (service: Service): boolean =>
  mayHaveNodePorts(service) || (service.spec?.type === 'ClusterIP' && (service.spec?.externalIPs?.length ?? 0) > 0)

export function validateService(service: Service): readonly FieldError[] {
  return check(serviceRules, service)
}

export function validateServiceUpdate(service: Service, old: Service): readonly FieldError[] {
  const errors: FieldError[] = []
  validateAddressChanges(service, old, errors)
  validateFamilyChanges(service, old, errors)
  loadBalancerClass(service, old, errors)
  if (needsHealthCheckNodePort(old) && needsHealthCheckNodePort(service)) {
    if (old.spec?.healthCheckNodePort !== service.spec?.healthCheckNodePort)
      errors.push(forbiddenField('spec.healthCheckNodePort', 'field is immutable'))
  }
  serviceRules(service, '', errors, { root: service, old })
  return errors
}

export function validateServiceStatus(service: Service): readonly FieldError[] {
  const errors: FieldError[] = []
  const ingress = service.status?.loadBalancer?.ingress ?? []
  const path = 'status.loadBalancer.ingress'
  if (service.spec?.type !== LB) {
    if (ingress.length > 0) errors.push(forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'"))
    return errors
  }
  validateLoadBalancerIngress(ingress, path, errors)
  return errors
}

function validateLoadBalancerIngress(
  ingress: readonly LoadBalancerIngress[],
  path: string,
  errors: FieldError[],
): void {
  ingress.forEach(({ ip, ipMode, hostname }, i) => {
    const at = `${path}[${i}]`
    if (ip) address(ip, `${at}.ip`, errors, { root: undefined })
    if (ipMode === undefined) {
      if (ip) errors.push(required(`${at}.ipMode`, 'must be specified when `ip` is set'))
    } else if (!ip) errors.push(forbiddenField(`${at}.ipMode`, 'may not be specified when `ip` is not set'))
    else if (!['Proxy', 'VIP'].includes(ipMode)) errors.push(notSupported(`${at}.ipMode`, ipMode, ['Proxy', 'VIP']))
    if (hostname) {
      for (const message of dns1123Subdomain(hostname)) errors.push(invalid(`${at}.hostname`, hostname, message))
      if (addressBits(hostname))
        errors.push(invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address'))
    }
  })
}

const serviceRules: Rule = (service, _path, errors) => {
  const spec: Fields = service.spec ?? {}
  const ports: readonly Fields[] = spec['ports'] ?? []
  const annotations: { [key: string]: string } = service.metadata?.annotations ?? {}
  const mode = annotations[MODE_ANNOTATION]
  const hints = annotations[HINTS_ANNOTATION]
  if (mode !== undefined && hints !== undefined && mode !== hints)
    errors.push(
      invalid(
        `metadata.annotations[${MODE_ANNOTATION}]`,
        mode,
        `must match annotations[${HINTS_ANNOTATION}] when both are specified`,
      ),
    )
  if (ports.length === 0 && !isHeadlessByClusterIPs(service) && spec['type'] !== 'ExternalName')
    errors.push(required('spec.ports'))
  byType(service, spec, ports, errors)
  const names = new Set<string>()
  ports.forEach((port, i) => {
    servicePort(port, `spec.ports[${i}]`, ports.length > 1, names, errors)
  })
  validateLabels(spec['selector'], 'spec.selector', errors)
  sessionAffinity(spec, errors)
  errors.push(...validateClusterIPs(service))
  spec['externalIPs']?.forEach((ip: string, i: number) => {
    const before = errors.length
    address(ip, `spec.externalIPs[${i}]`, errors, { root: service })
    if (errors.length === before) nonSpecialIP(ip, `spec.externalIPs[${i}]`, errors, { root: service })
  })
  if (!spec['type']) errors.push(required('spec.type'))
  else if (!TYPES.includes(spec['type'])) errors.push(notSupported('spec.type', spec['type'], TYPES))
  portNumbers(spec, ports, errors)
  sourceRanges(spec, annotations, errors)
  if (spec['allocateLoadBalancerNodePorts'] !== undefined && spec['type'] !== LB)
    errors.push(forbiddenField('spec.allocateLoadBalancerNodePorts', "may only be used when `type` is 'LoadBalancer'"))
  if (spec['type'] === LB && spec['allocateLoadBalancerNodePorts'] === undefined)
    errors.push(required('allocateLoadBalancerNodePorts'))
  loadBalancerClass(service, undefined, errors)
  trafficPolicies(service, spec, errors)
}

function byType(service: Service, spec: Fields, ports: readonly Fields[], errors: FieldError[]): void {
  if (spec['type'] === LB) {
    ports.forEach(({ port }, i) => {
      if (port === KUBELET_PORT)
        errors.push(
          invalid(
            `spec.ports[${i}]`,
            port,
            `may not expose port ${KUBELET_PORT} externally since it is used by kubelet`,
          ),
        )
    })
  }
  if (mayHaveNodePorts(service) && isHeadlessByClusterIPs(service))
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec['type']} services`))
  if (spec['type'] !== 'ExternalName') return
  const never = 'may not be set for ExternalName services'
  if (spec['clusterIPs']?.length) errors.push(forbiddenField('spec.clusterIPs', never))
  if (spec['ipFamilies']?.length) errors.push(forbiddenField('spec.ipFamilies', never))
  if (spec['ipFamilyPolicy'] !== undefined) errors.push(forbiddenField('spec.ipFamilyPolicy', never))
  const target: string = (spec['externalName'] ?? '').replace(/\.$/, '')
  if (target === '') errors.push(required('spec.externalName'))
  else for (const message of dns1123Subdomain(target)) errors.push(invalid('spec.externalName', target, message))
}

function servicePort(port: Fields, path: string, requireName: boolean, names: Set<string>, errors: FieldError[]): void {
  const name: string = port['name'] ?? ''
  if (name === '') {
    if (requireName) errors.push(required(`${path}.name`))
  } else {
    for (const message of dns1123Label(name)) errors.push(invalid(`${path}.name`, name, message))
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
  }
  const number: number = port['port'] ?? 0
  for (const message of portNumber(number)) errors.push(invalid(`${path}.port`, number, message))
  if (!port['protocol']) errors.push(required(`${path}.protocol`))
  else if (!PROTOCOLS.includes(port['protocol']))
    errors.push(notSupported(`${path}.protocol`, port['protocol'], PROTOCOLS))
  const target: number | string = port['targetPort'] ?? 0
  for (const message of typeof target === 'number' ? portNumber(target) : portName(target))
    errors.push(invalid(`${path}.targetPort`, target, message))
  if (port['appProtocol'] !== undefined)
    for (const message of qualifiedName(port['appProtocol']))
      errors.push(invalid(`${path}.appProtocol`, port['appProtocol'], message))
}

function sessionAffinity(spec: Fields, errors: FieldError[]): void {
  const affinity: string = spec['sessionAffinity'] ?? ''
  if (affinity === '') errors.push(required('spec.sessionAffinity'))
  oneOf('ClientIP', 'None')(affinity, 'spec.sessionAffinity', errors, { root: spec })
  const config: Fields | undefined = spec['sessionAffinityConfig']
  const path = 'spec.sessionAffinityConfig'
  if (affinity === 'None' && config !== undefined)
    errors.push(forbiddenField(path, 'must not be set when session affinity is None'))
  if (affinity !== 'ClientIP') return
  const when = 'when session affinity type is ClientIP'
  const seconds = config?.['clientIP']?.timeoutSeconds
  if (config === undefined) errors.push(required(path, when))
  else if (config['clientIP'] === undefined) errors.push(required(`${path}.clientIP`, when))
  else if (seconds === undefined) errors.push(required(`${path}.clientIP.timeoutSeconds`, when))
  else if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS)
    errors.push(
      invalid(
        `${path}.clientIP.timeoutSeconds`,
        seconds,
        `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`,
      ),
    )
}

/** clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy together; also asked before allocation. */
export function validateClusterIPs(service: Service): readonly FieldError[] {
  const errors: FieldError[] = []
  if (isExternalName(service)) return errors
  const spec = service.spec
  const ips: readonly string[] = spec?.clusterIPs ?? []
  const families: readonly string[] = spec?.ipFamilies ?? []
  if (spec?.clusterIP) {
    if (ips.length === 0) errors.push(required('spec.clusterIPs'))
    else if (ips[0] !== spec?.clusterIP)
      errors.push(invalid('spec.clusterIPs', ips, 'first value must match `clusterIP`'))
  } else if (ips.length > 0)
    errors.push(invalid('spec.clusterIPs', ips, 'must be empty when `clusterIP` is not specified'))
  const named = new Set<string>()
  families.forEach((family, i) => {
    if (family !== 'IPv4' && family !== 'IPv6')
      errors.push(notSupported(`spec.ipFamilies[${i}]`, family, ['IPv4', 'IPv6']))
    if (named.has(family)) errors.push(duplicate(`spec.ipFamilies[${i}]`, family))
    named.add(family)
  })
  const policy: string | undefined = spec?.ipFamilyPolicy
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  if (policy !== undefined && !policies.includes(policy))
    errors.push(notSupported('spec.ipFamilyPolicy', policy, policies))
  let bad = false
  ips.forEach((ip, i) => {
    if (i === 0 && ip === 'None') {
      if (ips.length > 1) {
        bad = true
        errors.push(invalid('spec.clusterIPs', ips, "'None' must be the first and only value"))
      }
      return
    }
    if (ip === 'None' && ips[0] === 'None') return
    const before = errors.length
    address(ip, `spec.clusterIPs[${i}]`, errors, { root: service })
    bad ||= errors.length > before
  })
  if (ips.length > 2) errors.push(invalid('spec.clusterIPs', ips, 'may only hold up to 2 values'))
  if (bad) return errors
  if (ips.length === 2 && new Set(ips.map(familyOf)).size !== ips.length)
    errors.push(invalid('spec.clusterIPs', ips, 'may specify no more than one IP for each IP family'))
  if (!isHeadlessByClusterIPs(service))
    ips.slice(0, families.length).forEach((ip, i) => {
      if (families[i] !== familyOf(ip) && (families[i] === 'IPv4' || families[i] === 'IPv6'))
        errors.push(
          invalid(`spec.clusterIPs[${i}]`, ip, `expected an ${families[i]} value as indicated by \`ipFamilies[${i}]\``),
        )
    })
  return errors
}

function portNumbers(spec: Fields, ports: readonly Fields[], errors: FieldError[]): void {
  if (spec['type'] === 'ClusterIP')
    ports.forEach(({ nodePort }, i) => {
      if (nodePort)
        errors.push(forbiddenField(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"))
    })
  const nodePorts = new Set<string>()
  ports.forEach(({ protocol, nodePort }, i) => {
    if (!nodePort) return
    const key = `${protocol}/${nodePort}`
    if (nodePorts.has(key)) errors.push(duplicate(`spec.ports[${i}].nodePort`, nodePort))
    nodePorts.add(key)
  })
  const seen = new Set<string>()
  ports.forEach(({ protocol, port }, i) => {
    const key = `${protocol}/${port ?? 0}`
    if (seen.has(key))
      errors.push(
        duplicate(`spec.ports[${i}]`, internalForm('io.k8s.api.core.v1.ServicePort', { protocol, port: port ?? 0 })),
      )
    seen.add(key)
  })
}

function sourceRanges(spec: Fields, annotations: { [key: string]: string }, errors: FieldError[]): void {
  const ranges: readonly string[] = spec['loadBalancerSourceRanges'] ?? []
  const only = "may only be used when `type` is 'LoadBalancer'"
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges'
    if (spec['type'] !== LB) errors.push(forbiddenField(path, only))
    ranges.forEach((range, i) => {
      for (const message of maskedNetwork(range.trim())) errors.push(invalid(`${path}[${i}]`, range.trim(), message))
    })
  } else if (Object.hasOwn(annotations, RANGES_ANNOTATION)) {
    const path = `metadata.annotations[${RANGES_ANNOTATION}]`
    const text = annotations[RANGES_ANNOTATION]!
    if (spec['type'] !== LB) errors.push(forbiddenField(path, only))
    if (text.trim() !== '')
      for (const range of text.trim().split(','))
        for (const message of maskedNetwork(range.trim())) errors.push(invalid(path, range.trim(), message))
  }
}

function loadBalancerClass(service: Service, old: Service | undefined, errors: FieldError[]): void {
  const path = 'spec.loadBalancerClass'
  const value: string | undefined = service.spec?.loadBalancerClass
  const balances = service.spec?.type === LB
  if (old?.spec?.type === LB && balances && old.spec?.loadBalancerClass !== value)
    errors.push(invalid(path, value ?? null, 'may not change once set'))
  if (value === undefined) return
  if (!balances) errors.push(forbiddenField(path, "may only be used when `type` is 'LoadBalancer'"))
  else for (const message of qualifiedName(value)) errors.push(invalid(path, value, message))
}

function trafficPolicies(service: Service, spec: Fields, errors: FieldError[]): void {
  const external: string = spec['externalTrafficPolicy'] ?? ''
  if (!needsExternalTrafficPolicy(service)) {
    if (external !== '')
      errors.push(invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'))
  } else if (external === '') errors.push(required('spec.externalTrafficPolicy'))
  else oneOf('Cluster', 'Local')(external, 'spec.externalTrafficPolicy', errors, { root: service })
  const checkPort: number = spec['healthCheckNodePort'] ?? 0
  if (!needsHealthCheckNodePort(service)) {
    if (checkPort !== 0)
      errors.push(
        invalid(
          'spec.healthCheckNodePort',
          checkPort,
          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        ),
      )
  } else if (checkPort === 0) errors.push(required('spec.healthCheckNodePort'))
  else for (const message of portNumber(checkPort)) errors.push(invalid('spec.healthCheckNodePort', checkPort, message))
  const internal: string | undefined = spec['internalTrafficPolicy']
  if (internal === undefined) {
    if (mayHaveNodePorts(service) || spec['type'] === 'ClusterIP') errors.push(required('spec.internalTrafficPolicy'))
  } else if (internal !== 'Cluster' && internal !== 'Local')
    errors.push(notSupported('spec.internalTrafficPolicy', internal, ['Cluster', 'Local']))
  const distribution: string | undefined = spec['trafficDistribution']
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
  if (distribution !== undefined && !distributions.includes(distribution))
    errors.push(notSupportedText('spec.trafficDistribution', distribution, distributions))
}

const ONCE_SET = 'may not change once set'

function validateAddressChanges(service: Service, old: Service, errors: FieldError[]): void {
  if (
    isExternalName(service) ||
    isExternalName(old) ||
    (isHeadlessByClusterIPs(service) && isHeadlessByClusterIPs(old))
  )
    return
  changes(
    'spec.clusterIPs',
    'clusterIP',
    service.spec?.clusterIPs ?? [],
    old.spec?.clusterIPs ?? [],
    service.spec?.ipFamilyPolicy,
    errors,
  )
}

function validateFamilyChanges(service: Service, old: Service, errors: FieldError[]): void {
  if (isExternalName(service) || isExternalName(old)) return
  if (isHeadlessByClusterIPs(service) || isHeadlessByClusterIPs(old)) return
  changes(
    'spec.ipFamilies',
    'ipFamily',
    service.spec?.ipFamilies ?? [],
    old.spec?.ipFamilies ?? [],
    service.spec?.ipFamilyPolicy,
    errors,
  )
}

/** The first entry stays; a second may come, and go only under SingleStack. */
function changes(
  path: string,
  one: string,
  now: readonly string[],
  before: readonly string[],
  policy: string | undefined,
  errors: FieldError[],
): void {
  if (same(now, before)) return
  if (now.length === before.length) {
    before.forEach((value, i) => {
      if (now[i] !== value) errors.push(invalid(`${path}[${i}]`, now, ONCE_SET))
    })
    return
  }
  if (now.length === 0) {
    errors.push(invalid(`${path}[0]`, now, `primary ${one} can not be unset`))
    return
  }
  if (before.length > 0 && now[0] !== before[0]) errors.push(invalid(`${path}[0]`, now, ONCE_SET))
  if (now.length < before.length && now.length === 1 && policy !== 'SingleStack')
    errors.push(
      invalid(
        'spec.ipFamilyPolicy',
        policy ?? null,
        `must be set to 'SingleStack' when releasing the secondary ${one}`,
      ),
    )
}
