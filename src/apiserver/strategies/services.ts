/** Service: addresses and ports are taken before validation; fields that a type does not have go when the type changes. */
import type { Service, ServicePort, ServiceSpec } from '../../api/generated/types.ts'
import { labelName } from '../../api/names/name-formats.ts'
import { same } from '../../api/validation/common.ts'
import {
  mayHaveNodePorts,
  needsClusterIP,
  needsExternalTrafficPolicy,
  needsHealthCheckNodePort,
  validateService,
  validateServiceStatus,
  validateServiceUpdate,
} from '../../api/validation/service.ts'
import { serviceWarnings } from '../../api/validation/warnings.ts'
import { allocate } from '../registry/allocators/cluster-ips-and-node-ports.ts'
import type { Strategy } from '../registry/strategy.ts'
import { RESETS_SPEC, RESETS_STATUS, withFieldOf } from './common.ts'

/** One that is being changed; a field that goes is undefined or not there. */
type Spec = { -readonly [Field in keyof ServiceSpec]?: ServiceSpec[Field] | undefined }

function withSpec(service: Service, spec: Spec): Service {
  const kept = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined))
  return { ...service, spec: kept }
}

/** clusterIP and clusterIPs say the same; an older client writes only the first. */
function normalized(service: Service, old: Service | undefined): Service {
  const spec: Spec = { ...service.spec }
  const before = old?.spec
  const many = spec.clusterIPs?.length ?? 0
  if (old === undefined) {
    if (spec.clusterIP && many === 0) spec.clusterIPs = [spec.clusterIP]
    return withSpec(service, spec)
  }
  if (before?.clusterIPs?.length && many === 0 && before?.clusterIP === spec.clusterIP)
    spec.clusterIPs = before?.clusterIPs
  if (
    (before?.clusterIP || undefined) !== (spec.clusterIP || undefined) &&
    (many === 0 || same(before?.clusterIPs, spec.clusterIPs))
  )
    spec.clusterIPs = spec.clusterIP ? [spec.clusterIP] : undefined
  return withSpec(service, spec)
}

/** What was allocated before and the client did not mention stays. */
function withAllocated(service: Service, old: Service): Service {
  const spec: Spec = { ...service.spec }
  const before = old.spec
  if (needsClusterIP(old) && needsClusterIP(service)) {
    spec.clusterIP = spec.clusterIP || before?.clusterIP
    if (!spec.clusterIPs?.length && spec.clusterIP === before?.clusterIP) spec.clusterIPs = before?.clusterIPs
  }
  if (mayHaveNodePorts(old) && mayHaveNodePorts(service)) {
    const ports = spec.ports ?? []
    const used = new Set(ports.map((port) => port.nodePort).filter(Boolean))
    const byName = new Map<string, number>()
    for (const port of before?.ports ?? []) byName.set(port.name ?? '', port.nodePort ?? 0)
    spec.ports = ports.map((port) => {
      const kept = byName.get(port.name ?? '')
      return port.nodePort || !kept || used.has(kept) ? port : { ...port, nodePort: kept }
    })
  }
  if (needsHealthCheckNodePort(old) && needsHealthCheckNodePort(service))
    spec.healthCheckNodePort = spec.healthCheckNodePort || before?.healthCheckNodePort
  return withSpec(service, spec)
}

/** Fields that only the old type had, and that the client left as they were, go with it. */
function withoutForeignFields(service: Service, old: Service): Service {
  const spec: Spec = { ...service.spec }
  const before = old.spec
  const dropUnchanged = (...fields: readonly (keyof ServiceSpec)[]) => {
    for (const field of fields) if (same(spec[field], before?.[field])) delete spec[field]
  }
  if (needsClusterIP(old) && !needsClusterIP(service)) {
    if (same(spec.clusterIPs, before?.clusterIPs)) {
      delete spec.clusterIP
      delete spec.clusterIPs
    }
    dropUnchanged('ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy')
  }
  if (mayHaveNodePorts(old) && !mayHaveNodePorts(service)) {
    const numbers = (ports: readonly ServicePort[] = []) => ports.map((port) => port.nodePort ?? 0)
    if (same(numbers(spec.ports), numbers(before?.ports)))
      spec.ports = spec.ports?.map(({ nodePort: _, ...port }) => port)
  }
  if (needsHealthCheckNodePort(old) && !needsHealthCheckNodePort(service)) dropUnchanged('healthCheckNodePort')
  if (before?.type === 'LoadBalancer' && spec.type !== 'LoadBalancer')
    dropUnchanged('allocateLoadBalancerNodePorts', 'loadBalancerClass')
  if (needsExternalTrafficPolicy(old) && !needsExternalTrafficPolicy(service)) dropUnchanged('externalTrafficPolicy')
  return withSpec(service, spec)
}

/** What a load balancer answered at is told as long as the service has one. */
function withStatusFor(object: Service, old: Service): Service {
  const service = withFieldOf(object, old, 'status')
  const isLoadBalancer = ({ spec }: Service) => spec?.type === 'LoadBalancer'
  if (!isLoadBalancer(old) || isLoadBalancer(service)) return service
  return { ...service, status: { ...service.status, loadBalancer: {} } }
}

export const services: Strategy<Service> = {
  allowCreateOnUpdate: true,
  validateName: (name, prefix) => labelName(name, prefix),
  takesFromPools: true,
  beginCreate: (object, { dryRun }, pools) => allocate(normalized(object, undefined), undefined, pools, dryRun),
  beginUpdate: (object, old, { dryRun }, pools) =>
    allocate(normalized(withAllocated(object, old), old), old, pools, dryRun),
  prepareForCreate: (object) => ({ ...object, status: { loadBalancer: {} } }),
  validate: (object) => validateService(object),
  prepareForUpdate: (object, old) => withoutForeignFields(withStatusFor(object, old), old),
  validateUpdate: (object, old) => validateServiceUpdate(object, old),
  warningsOnCreate: serviceWarnings,
  warningsOnUpdate: serviceWarnings,
  resetFields: RESETS_STATUS,
  returnDeletedObject: true,
  fieldLabels: ['spec.clusterIP', 'spec.type'],
  selectableFields: (object) => ({
    'spec.clusterIP': object.spec?.clusterIP ?? '',
    'spec.type': object.spec?.type ?? '',
  }),
  status: {
    // As in Kubernetes: a status that is put or applied makes the Service.
    allowCreateOnUpdate: true,
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object) => validateServiceStatus(object),
    resetFields: RESETS_SPEC,
  },
}
