/** Nodes, ConfigMaps, Secrets, ServiceAccounts, Endpoints, Events, LimitRanges, ResourceQuotas: the core group's plain kinds. */
import type {
  EndpointSlice,
  Endpoints,
  Event,
  Node,
  ObjectReference,
  Secret,
  ServiceAccount,
} from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import { pathName } from '../../api/names/name-formats.ts'
import { same } from '../../api/validation/common.ts'
import {
  validateConfigMap,
  validateConfigMapUpdate,
  validateSecret,
  validateSecretUpdate,
} from '../../api/validation/configmap-and-secret.ts'
import { validateEndpointSlice, validateEndpoints } from '../../api/validation/endpoints.ts'
import { validateEvent, validateEventUpdate } from '../../api/validation/event.ts'
import { validateNode, validateNodeUpdate } from '../../api/validation/node.ts'
import {
  validateLimitRange,
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from '../../api/validation/quota.ts'
import { tlsPairWarning } from '../../api/validation/tls-pair.ts'
import { endpointSliceWarnings, nodeWarnings } from '../../api/validation/warnings.ts'
import type { Strategy } from '../registry/strategy.ts'
import {
  JUDGES_FINALIZERS_FIRST,
  JUDGES_GENERATE_NAME_FIRST,
  JUDGES_NO_NEW_NAMES,
  nextGeneration,
  RESETS_SPEC,
  RESETS_STATUS,
  withFieldOf,
} from './common.ts'

export const nodes: Strategy = {
  ...JUDGES_GENERATE_NAME_FIRST,
  validate: (object) => validateNode(object),
  warningsOnCreate: nodeWarnings,
  warningsOnUpdate: nodeWarnings,
  prepareForUpdate: (object, old) => withFieldOf(object, old, 'status'),
  validateUpdate: (object, old) => validateNodeUpdate(object, old),
  resetFields: RESETS_STATUS!,
  fieldLabels: ['spec.unschedulable'],
  selectableFields: ({ spec }: Node) => ({ 'spec.unschedulable': String(spec?.unschedulable === true) }),
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object, old) => validateNodeUpdate(object, old),
    resetFields: RESETS_SPEC!,
  },
}

export const configMaps: Strategy = {
  ...JUDGES_FINALIZERS_FIRST,
  validate: (object) => validateConfigMap(object),
  validateUpdate: (object, old) => validateConfigMapUpdate(object, old),
}

function secretWarnings(object: Secret): readonly string[] {
  if (object.type !== 'kubernetes.io/tls') return []
  const warning = tlsPairWarning(object.data?.['tls.crt'] ?? '', object.data?.['tls.key'] ?? '')
  return warning === undefined ? [] : [warning]
}

export const secrets: Strategy<Secret> = {
  ...JUDGES_FINALIZERS_FIRST,
  validate: (object) => validateSecret(object),
  /** A write without a type keeps the one there is. */
  prepareForUpdate: (object, old) => (object.type ? object : withFieldOf(object, old, 'type')),
  validateUpdate: (object, old) => validateSecretUpdate(object, old),
  warningsOnCreate: secretWarnings,
  warningsOnUpdate: secretWarnings,
  fieldLabels: ['type'],
  selectableFields: (object) => ({ type: object.type ?? '' }),
}

export const serviceAccounts: Strategy<ServiceAccount> = {
  ...JUDGES_FINALIZERS_FIRST,
  prepareForCreate: (object) => withBareSecrets(object),
  prepareForUpdate: (object) => withBareSecrets(object),
  returnDeletedObject: true,
}

/** Of its secrets an account keeps the names and nothing else. */
function withBareSecrets(object: ServiceAccount): ServiceAccount {
  const list = object.secrets
  if (!list?.some((secret) => Object.keys(secret).some((key) => key !== 'name'))) return object
  return { ...object, secrets: list.map(({ name }) => (name === undefined ? {} : { name })) }
}

export const endpoints: Strategy<Endpoints> = {
  ...JUDGES_FINALIZERS_FIRST,
  validate: (object) => validateEndpoints(object),
  validateUpdate: (object, old) => (same(object.subsets, old.subsets) ? [] : validateEndpoints(object)),
  allowCreateOnUpdate: true,
}

/** The topology of older versions has no place in this one. */
function withoutTopology(slice: EndpointSlice): EndpointSlice {
  const endpoints = slice.endpoints
  if (!endpoints?.some((endpoint) => endpoint.deprecatedTopology !== undefined)) return slice
  return { ...slice, endpoints: endpoints.map(({ deprecatedTopology: _, ...endpoint }) => endpoint) }
}

export const endpointSlices: Strategy<EndpointSlice> = {
  ...JUDGES_GENERATE_NAME_FIRST,
  prepareForCreate: (object) => withMetadata(withoutTopology(object), { generation: 1 }),
  prepareForUpdate(given, old) {
    const object = withoutTopology(given)
    const changed =
      !same(object.metadata.labels, old.metadata.labels) ||
      // Counted as it was sent: the old topology is dropped afterwards.
      !same(given.endpoints, old.endpoints) ||
      !same(object.ports, old.ports)
    return nextGeneration(object, old, changed)
  },
  validate: (object) => validateEndpointSlice(object),
  validateUpdate: validateEndpointSlice,
  warningsOnCreate: endpointSliceWarnings,
}

const EVENT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const

/** Names of events are made of the names of what they are about: whatever can stand in a path. */
/** As stored: in the first version of the core group. */
export const events: Strategy<Event> = {
  ...JUDGES_NO_NEW_NAMES,
  validateName: pathName,
  metadataLast: true,
  validate: (object, context) => validateEvent(object, context.requestApiVersion ?? 'v1'),
  validateUpdate: (object, old, context) => validateEventUpdate(object, old, context.requestApiVersion ?? 'v1'),
  allowCreateOnUpdate: true,
  isListedFromStore: true,
  fieldLabels: (group) => [
    ...EVENT_FIELDS.map((field) => `${group === '' ? 'involvedObject' : 'regarding'}.${field}`),
    'reason',
    ...(group === '' ? ['reportingComponent', 'source'] : ['reportingController']),
    'type',
  ],
  selectableFields(object) {
    const involved: ObjectReference = object.involvedObject ?? {}
    const { reason = '', reportingComponent = '', source, type = '' } = object
    return {
      ...Object.fromEntries(
        ['involvedObject', 'regarding'].flatMap((about) =>
          EVENT_FIELDS.map((field) => [`${about}.${field}`, involved[field] ?? '']),
        ),
      ),
      reason,
      reportingComponent,
      reportingController: reportingComponent,
      source: source?.component || reportingComponent,
      type,
    }
  },
}

export const limitRanges: Strategy = {
  ...JUDGES_GENERATE_NAME_FIRST,
  /** One without a name gets one that looks like a uid. */
  beginCreate: (object, _context, { random }) => ({
    object: object.metadata.name ? object : withMetadata(object, { name: random.uuid() }),
    finish: () => {},
  }),
  validate: (object) => validateLimitRange(object),
  validateUpdate: (object) => validateLimitRange(object),
  allowCreateOnUpdate: true,
}

export const resourceQuotas: Strategy = {
  prepareForCreate: (object) => ({ ...object, status: {} }),
  validate: (object) => validateResourceQuota(object),
  prepareForUpdate: (object, old) => withFieldOf(object, old, 'status'),
  validateUpdate: (object, old) => validateResourceQuotaUpdate(object, old),
  resetFields: RESETS_STATUS!,
  returnDeletedObject: true,
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object) => validateResourceQuotaStatus(object),
    resetFields: RESETS_SPEC!,
  },
}
