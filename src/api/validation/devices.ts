/**
 * Rules of resource.k8s.io (dynamic resource allocation) for what asks for devices: classes, claims, their templates, and
 * taint rules. Much of it the types declare themselves (declared.ts); here is the rest.
 */
import { type FieldError, invalid, notSupported, required, tooLong } from '../errors/field-errors.ts'
import type {
  DeviceClaim,
  DeviceClass,
  DeviceClassSpec,
  DeviceTaint,
  DeviceTaintRule,
  DeviceTaintRuleSpec,
  ResourceClaimSpec,
  ResourceClaimTemplate,
  ResourceV1ResourceClaim,
} from '../generated/types.ts'
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../names/name-formats.ts'
import type { Fields, Given } from '../object.ts'
import { same } from './common.ts'
import { deviceSelectors } from './device-selectors.ts'
import { driverName } from './driver-name.ts'
import { internalForm } from './internal.ts'
import { validateLabels } from './labels.ts'
import { validateAnnotations, validateMetadataToCome } from './meta.ts'

export const MAX_LIST = 32
const MAX_SUBREQUESTS = 8
const MAX_PARAMETERS = 10 * 1024

type Format = (text: string) => readonly string[]

export function say(format: Format, value: string, path: string, errors: FieldError[]): void {
  for (const message of format(value)) errors.push(invalid(path, value, message))
}

/** A list that is too long is only told to be so, by what its type declares. */
export const upTo = (max: number, list: readonly Fields[] | undefined): readonly Fields[] =>
  list === undefined || list === null || list.length > max ? [] : list

export function poolName(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path))
    return
  }
  if (Buffer.byteLength(name) > 253) errors.push(tooLong(path, 253))
  for (const part of name.split('/')) say(dns1123Subdomain, part, path, errors)
}

export function validateDeviceClass(object: Given<DeviceClass>): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: DeviceClassSpec = object.spec ?? {}
  deviceSelectors(upTo(MAX_LIST, spec.selectors), 'spec.selectors', errors)
  configurations(upTo(MAX_LIST, spec.config), 'spec.config', undefined, errors)
  return errors
}

/** `requests` are those that a configuration may name; a class's names none. */
export function configurations(
  list: readonly Fields[],
  path: string,
  requests: ReadonlySet<string> | undefined,
  errors: FieldError[],
): void {
  list.forEach(({ opaque, requests: named = [] }, i) => {
    const at = `${path}[${i}]`
    if (requests) requestNames(named, requests, `${at}.requests`, errors)
    if (opaque === undefined) errors.push(required(`${at}.opaque`))
    else opaqueParameters(opaque.parameters, `${at}.opaque.parameters`, errors)
  })
}

function opaqueParameters(value: unknown, path: string, errors: FieldError[]): void {
  if (value === undefined || value === null) errors.push(required(path))
  else if (Buffer.byteLength(JSON.stringify(value)) > MAX_PARAMETERS) errors.push(tooLong(path, MAX_PARAMETERS))
  else if (typeof value !== 'object' || Array.isArray(value))
    errors.push(invalid(path, '<value omitted>', 'must be a valid JSON object'))
}

const UNKNOWN_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

function requestNames(named: readonly string[], known: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  if (named.length > MAX_LIST) return
  named.forEach((name, i) => {
    requestName(name, known, `${path}[${i}]`, errors)
  })
}

export function requestName(name: string, known: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  const parts = name.split('/')
  if (parts.length <= 2) for (const part of parts) say(dns1123Label, part, path, errors)
  if (!known.has(name)) errors.push(invalid(path, name, UNKNOWN_REQUEST))
}

/** The names by which a claim's requests can be referred to: `name`, and `name/subrequest`. */
export function knownRequests(spec: Partial<ResourceClaimSpec>): ReadonlySet<string> {
  const requests = upTo(MAX_LIST, spec.devices?.requests)
  return new Set(
    requests.flatMap(({ name = '', firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((sub: Fields) => `${name}/${sub['name'] ?? ''}`),
    ]),
  )
}

export function validateResourceClaim(object: Given<ResourceV1ResourceClaim>): readonly FieldError[] {
  const errors: FieldError[] = []
  claimSpec(object.spec ?? {}, 'spec', errors)
  return errors
}

export function validateResourceClaimTemplate(object: Given<ResourceClaimTemplate>): readonly FieldError[] {
  const errors: FieldError[] = []
  const metadata: Fields = object.spec?.metadata ?? {}
  validateLabels(metadata['labels'], 'spec.metadata.labels', errors)
  validateAnnotations(metadata['annotations'], 'spec.metadata.annotations', errors)
  validateMetadataToCome(metadata, 'spec.metadata', errors)
  claimSpec(object.spec?.spec ?? {}, 'spec.spec', errors)
  return errors
}

export function validateResourceClaimTemplateUpdate(
  object: Given<ResourceClaimTemplate>,
  old: Given<ResourceClaimTemplate>,
): readonly FieldError[] {
  const errors = [...validateResourceClaimTemplate(object)]
  if (!same(object.spec, old.spec))
    errors.push(
      invalid(
        'spec',
        internalForm('io.k8s.api.resource.v1.ResourceClaimTemplateSpec', object.spec),
        'field is immutable',
      ),
    )
  return errors
}

function claimSpec(spec: Partial<ResourceClaimSpec>, path: string, errors: FieldError[]): void {
  const devices: Partial<DeviceClaim> = spec.devices ?? {}
  const at = `${path}.devices`
  const names = knownRequests(spec)
  upTo(MAX_LIST, devices.requests).forEach((request, i) => {
    deviceRequest(request, `${at}.requests[${i}]`, errors)
  })
  upTo(MAX_LIST, devices.constraints).forEach((constraint, i) => {
    const inner = `${at}.constraints[${i}]`
    requestNames(constraint['requests'] ?? [], names, `${inner}.requests`, errors)
    // The text is Kubernetes'; nothing is said of one that has both.
    if (constraint['matchAttribute'] === undefined && constraint['distinctAttribute'] === undefined)
      errors.push(
        required(
          inner,
          'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
        ),
      )
  })
  configurations(upTo(MAX_LIST, devices.config), `${at}.config`, names, errors)
}

function deviceRequest(request: Fields, path: string, errors: FieldError[]): void {
  const { exactly, firstAvailable = [] } = request
  say(dns1123Label, request['name'] ?? '', `${path}.name`, errors)
  const one = 'exactly one of `exactly` or `firstAvailable` is required'
  if (exactly === undefined && firstAvailable.length === 0) {
    errors.push(required(path, one))
    return
  }
  if (exactly !== undefined && firstAvailable.length > 0) {
    errors.push(invalid(path, null, `${one}, but multiple fields are set`))
    return
  }
  if (exactly !== undefined) requestedDevices(exactly, `${path}.exactly`, errors)
  upTo(MAX_SUBREQUESTS, firstAvailable).forEach((sub: Fields, i: number) => {
    say(dns1123Label, sub['name'] ?? '', `${path}.firstAvailable[${i}].name`, errors)
    requestedDevices(sub, `${path}.firstAvailable[${i}]`, errors)
  })
}

function requestedDevices(request: Fields, path: string, errors: FieldError[]): void {
  // A request declares its class; one among alternatives has it declared with its format.
  if (path.endsWith('.exactly')) {
    const className: string = request['deviceClassName'] ?? ''
    if (className === '') errors.push(required(`${path}.deviceClassName`))
    else say(dns1123Subdomain, className, `${path}.deviceClassName`, errors)
  }
  deviceSelectors(upTo(MAX_LIST, request['selectors']), `${path}.selectors`, errors)
  const { allocationMode: mode = '', count = 0 } = request
  // By default it has one, but of v1beta1 without a class.
  if (mode === '') errors.push(notSupported(`${path}.allocationMode`, mode, ['All', 'ExactCount']))
  if (mode === 'All' && count !== 0)
    errors.push(invalid(`${path}.count`, count, `must not be specified when allocationMode is '${mode}'`))
  if (mode === 'ExactCount' && count <= 0) errors.push(invalid(`${path}.count`, count, 'must be greater than zero'))
  deviceTolerations(request['tolerations'] ?? [], path, errors)
}

/** `path` is that of the struct that has them. */
export function deviceTolerations(list: readonly Fields[], path: string, errors: FieldError[]): void {
  list.forEach((toleration, i) => {
    deviceToleration(toleration, `${path}.tolerations[${i}]`, errors)
  })
}

function deviceToleration(toleration: Fields, path: string, errors: FieldError[]): void {
  const { operator = '', value = '' } = toleration
  if (operator === 'Exists') {
    if (value !== '') errors.push(invalid(`${path}.value`, value, 'must be empty for operator `Exists`'))
  } else if (operator === 'Equal') say(labelValue, value, `${path}.value`, errors)
  else if (operator === '') errors.push(required(`${path}.operator`))
}

export function deviceTaint(taint: Partial<DeviceTaint>, path: string, errors: FieldError[]): void {
  const { key = '', value = '' } = taint
  say(qualifiedName, key, `${path}.key`, errors)
  if (value !== '') say(labelValue, value, `${path}.value`, errors)
}

export function validateDeviceTaintRule(object: Given<DeviceTaintRule>): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: DeviceTaintRuleSpec = object.spec ?? {}
  const { driver, pool, device } = spec.deviceSelector ?? {}
  if (driver !== undefined) driverName(driver, 'spec.deviceSelector.driver', errors)
  if (pool !== undefined) poolName(pool, 'spec.deviceSelector.pool', errors)
  if (device !== undefined) say(dns1123Label, device, 'spec.deviceSelector.device', errors)
  deviceTaint(spec.taint ?? {}, 'spec.taint', errors)
  return errors
}
