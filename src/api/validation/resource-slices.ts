/** Rules of ResourceSlice (resource.k8s.io), by which drivers publish their devices, beside what its types declare. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  required,
  tooLong,
  tooMany,
} from '../errors/field-errors.ts'
import type {
  CounterSet,
  Device,
  DeviceTaint,
  ResourcePool,
  ResourceSlice,
  ResourceSliceSpec,
} from '../generated/types.ts'
import { cIdentifier, dns1123Label, dns1123Subdomain, qualifiedName } from '../names/name-formats.ts'
import type { Fields, Given, Json } from '../object.ts'
import { asGiven } from '../schema/canonical.ts'
import { addQuantities, compareQuantities, nanosOf } from '../values/quantity.ts'
import { entries, IMMUTABLE, same } from './common.ts'
import { deviceTaint, poolName, say } from './devices.ts'
import { driverName } from './driver-name.ts'
import { internalForm } from './internal.ts'
import { validateNodeSelector } from './node-selector.ts'

const MAX_DEVICES = 128
const MAX_ATTRIBUTES = 32
const MAX_IDENTIFIER = 32
const MAX_VALUE = 64
const MAX_TAINTS = 16
const MAX_CONDITIONS = 4
const MAX_COUNTERS = 32

/** With `old`: what stays as it was made is told between the pool and the place. */
export function validateResourceSlice(object: Given<ResourceSlice>, old?: Given<ResourceSlice>): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<ResourceSliceSpec> = object.spec ?? {}
  driverName(spec.driver ?? '', 'spec.driver', errors)
  resourcePool(spec.pool ?? {}, errors)
  if (old !== undefined) unchanged(spec, old.spec ?? {}, errors)
  placement(spec, errors)
  const devices: readonly Device[] = spec.devices ?? []
  const sets: readonly CounterSet[] = spec.sharedCounters ?? []
  if (devices.length > 0 && sets.length > 0)
    errors.push(invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed'))
  if (devices.length > MAX_DEVICES) errors.push(tooMany('spec.devices', devices.length, MAX_DEVICES))
  else sliceDevices(devices, spec.perDeviceNodeSelection === true, errors)
  sets.forEach((set, i) => {
    const count = Object.keys(set.counters ?? {}).length
    if (count > MAX_COUNTERS) errors.push(tooMany(`spec.sharedCounters[${i}].counters`, count, MAX_COUNTERS))
  })
  return errors
}

function sliceDevices(devices: readonly Device[], placed: boolean, errors: FieldError[]): void {
  const names = new Set<string>()
  const repeated: FieldError[] = []
  devices.forEach((device, i) => {
    const name: string = device.name ?? ''
    sliceDevice(device, placed, `spec.devices[${i}]`, errors)
    if (names.has(name)) repeated.push(duplicate(`spec.devices[${i}]`, name))
    names.add(name)
  })
  errors.push(...repeated)
}

function resourcePool(
  { name = '', generation = 0, resourceSliceCount: count = 0 }: Partial<ResourcePool>,
  errors: FieldError[],
): void {
  const path = 'spec.pool'
  poolName(name, `${path}.name`, errors)
  if (count <= 0) errors.push(invalid(`${path}.resourceSliceCount`, count, 'must be greater than zero'))
  if (generation < 0) errors.push(invalid(`${path}.generation`, generation, 'must be greater than or equal to zero'))
}

const PLACES = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection']
const ticked = (names: readonly string[]) => names.map((name) => `\`${name}\``)

/** Where devices are: one of a node's name, a selector, everywhere, or each device for itself. */
function placement(spec: Partial<ResourceSliceSpec>, errors: FieldError[]): void {
  const given = places(spec, PLACES, 'spec', errors)
  const detail = `exactly one of ${ticked(PLACES).join(', ')} is required`
  if (given.length === 0) errors.push(required('spec', detail))
  else if (given.length > 1)
    errors.push(invalid('spec', `{${ticked(given).join(', ')}}`, `${detail}, but multiple fields are set`))
}

/** The places that are given, each of them judged. */
function places(value: Fields, fields: readonly string[], path: string, errors: FieldError[]): readonly string[] {
  const { nodeName, nodeSelector } = value
  if (nodeName === '')
    errors.push(
      invalid(
        `${path}.nodeName`,
        '',
        path === 'spec' ? 'must be either unset or set to a non-empty string' : 'must not be empty',
      ),
    )
  else if (nodeName !== undefined) say(dns1123Subdomain, nodeName, `${path}.nodeName`, errors)
  if (nodeSelector !== undefined) oneTerm(nodeSelector, `${path}.nodeSelector`, errors)
  for (const field of ['allNodes', 'perDeviceNodeSelection'])
    if (value[field] === false && fields.includes(field))
      errors.push(invalid(`${path}.${field}`, false, 'must be either unset or set to true'))
  return fields.filter((field) => value[field] !== undefined && value[field] !== '' && value[field] !== false)
}

function oneTerm(selector: Fields, path: string, errors: FieldError[]): void {
  validateNodeSelector(selector, path, errors)
  const terms: readonly Fields[] = selector['nodeSelectorTerms'] ?? []
  if (terms.length === 1) return
  const printed = terms.map((term) => internalForm('io.k8s.api.core.v1.NodeSelectorTerm', term))
  errors.push(
    invalid(
      `${path}.nodeSelectorTerms`,
      selector['nodeSelectorTerms'] ? printed : null,
      'must have exactly one node selector term',
    ),
  )
}

const DEVICE_PLACES = ['nodeName', 'nodeSelector', 'allNodes']

function devicePlacement(device: Device, placed: boolean, path: string, errors: FieldError[]): void {
  if (!placed) {
    if (DEVICE_PLACES.some((field) => (device as Fields)[field] !== undefined))
      errors.push(
        invalid(
          path,
          null,
          '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
        ),
      )
    return
  }
  const given = places(device, DEVICE_PLACES, path, errors)
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (given.length === 0) errors.push(required(path, detail))
  else if (given.length > 1) errors.push(invalid(path, `{${ticked(given).join(', ')}}`, detail))
}

function sliceDevice(device: Device, placed: boolean, path: string, errors: FieldError[]): void {
  say(dns1123Label, device.name ?? '', `${path}.name`, errors)
  const count = Object.keys(device.attributes ?? {}).length + Object.keys(device.capacity ?? {}).length
  if (count > MAX_ATTRIBUTES)
    errors.push(invalid(path, count, `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES}`))
  for (const [key, value] of entries(device.attributes)) {
    attributeKey(key, `${path}.attributes`, errors)
    attribute(value as Fields, `${path}.attributes[${key}]`, errors)
  }
  for (const [key, value] of entries(device.capacity)) {
    attributeKey(key, `${path}.capacity`, errors)
    capacity(value as Fields, device.allowMultipleAllocations === true, `${path}.capacity[${key}]`, errors)
  }
  const taints: readonly DeviceTaint[] = device.taints ?? []
  if (taints.length > MAX_TAINTS) errors.push(tooMany(`${path}.taints`, taints.length, MAX_TAINTS))
  else
    taints.forEach((taint, i) => {
      deviceTaint(taint, `${path}.taints[${i}]`, errors)
    })
  devicePlacement(device, placed, path, errors)
  bindingConditions(device, path, errors)
}

/** `name` or `domain/name`. */
function attributeKey(key: string, path: string, errors: FieldError[]): void {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? undefined : key.slice(0, slash)
  const name = key.slice(slash + 1)
  if (domain === '') errors.push(invalid(path, '', 'the domain must not be empty'))
  else if (domain !== undefined) driverName(domain, path, errors)
  if (name === '') {
    errors.push(invalid(path, '', 'the name must not be empty'))
    return
  }
  if (Buffer.byteLength(name) > MAX_IDENTIFIER) errors.push(tooLong(path, MAX_IDENTIFIER))
  say(cIdentifier, name, path, errors)
}

const KINDS = ['int', 'bool', 'string', 'version']
/** Lists of values are a feature that is off, but messages name them. */
const ALL_KINDS = ticked([...KINDS, ...KINDS.map((kind) => `${kind}s`)]).join(', ')
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-((0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

function attribute(value: Fields, path: string, errors: FieldError[]): void {
  const given = KINDS.filter((kind) => value[kind] !== undefined)
  const { string, version } = value
  if (string !== undefined && Buffer.byteLength(string) > MAX_VALUE) errors.push(tooLong(`${path}.string`, MAX_VALUE))
  if (version !== undefined) {
    if (!SEMVER.test(version))
      errors.push(invalid(`${path}.version`, version, 'must be a string compatible with semver.org spec 2.0.0'))
    if (Buffer.byteLength(version) > MAX_VALUE) errors.push(tooLong(`${path}.version`, MAX_VALUE))
  }
  if (given.length === 0) errors.push(invalid(path, '', `must specify one of: ${ALL_KINDS}`))
  else if (given.length > 1)
    errors.push(invalid(path, `{${given.join(', ')}}`, `must specify exactly one of: ${ALL_KINDS}`))
}

function capacity({ value = '0', requestPolicy }: Fields, shared: boolean, path: string, errors: FieldError[]): void {
  if (requestPolicy === undefined) return
  const at = `${path}.requestPolicy`
  if (!shared) {
    errors.push(forbiddenField(at, 'allowMultipleAllocations must be true'))
    return
  }
  const { default: standard, validValues = [], validRange } = requestPolicy as Fields
  if (validValues.length > 0 && validRange !== undefined) {
    errors.push(
      forbiddenField(
        at,
        'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
      ),
    )
    return
  }
  if (validValues.length > 0) {
    if (!standard) errors.push(required(`${at}.default`, 'required when validValues is defined'))
    else allowedValues(standard, validValues, value, `${at}.validValues`, errors)
  }
  if (validRange !== undefined) {
    if (!standard) errors.push(required(`${at}.default`, 'required when validRange is defined'))
    else allowedRange(standard, validRange, value, `${at}.validRange`, errors)
  }
}

function allowedValues(
  standard: string,
  values: readonly string[],
  size: string,
  path: string,
  errors: FieldError[],
): void {
  let found = false
  values.forEach((value, i) => {
    if (i > 0 && compareQuantities(values[i - 1]!, value) > 0)
      errors.push(invalid(`${path}[${i}]`, value, 'values must be sorted in ascending order'))
  })
  values.forEach((value, i) => {
    const at = `${path}[${i}]`
    if (compareQuantities(value, size) > 0)
      errors.push(invalid(at, value, `option is larger than capacity value: ${size}`))
    if (values.slice(0, i).some((earlier) => compareQuantities(earlier, value) === 0)) errors.push(duplicate(at, value))
    found ||= compareQuantities(value, standard) === 0
  })
  if (!found) errors.push(invalid(path, standard, 'default value is not valid according to the requestPolicy'))
}

function allowedRange(
  standard: string,
  range: Given<ResourceSlice>,
  size: string,
  path: string,
  errors: FieldError[],
): void {
  const { min, max, step } = range
  if (min === undefined) {
    errors.push(required(`${path}.min`, 'required when validRange is defined'))
    return
  }
  if (compareQuantities(min, size) > 0)
    errors.push(invalid(`${path}.min`, min, `min is larger than capacity value: ${size}`))
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) errors.push(invalid(`${path}.max`, min, `min is larger than max: ${max}`))
    else if (compareQuantities(max, size) > 0)
      errors.push(invalid(`${path}.max`, max, `max is larger than capacity value: ${size}`))
  }
  if (step !== undefined) {
    if (compareQuantities(step, '0') <= 0) errors.push(invalid(`${path}.step`, step, 'must be greater than zero'))
    else {
      const first = addQuantities(min, step)
      if (compareQuantities(first, size) > 0)
        errors.push(invalid(`${path}.step`, step, `one step ${first} is larger than capacity value: ${size}`))
      for (const value of [standard, max])
        if (value !== undefined && (nanosOf(value) - nanosOf(min)) % nanosOf(step) !== 0n)
          errors.push(invalid(`${path}.step`, value, `value is not a multiple of a given step (${step}) from (${min})`))
    }
  }
  if (compareQuantities(standard, min) < 0)
    errors.push(invalid(`${path}.default`, standard, `default is less than min: ${min}`))
  if (max !== undefined && compareQuantities(standard, max) > 0)
    errors.push(invalid(`${path}.default`, standard, `default is more than max: ${max}`))
}

export function bindingConditions(device: Fields, path: string, errors: FieldError[]): void {
  const ready: readonly string[] = device['bindingConditions'] ?? []
  const failed: readonly string[] = device['bindingFailureConditions'] ?? []
  const at = { ready: `${path}.bindingConditions`, failed: `${path}.bindingFailureConditions` }
  const repeated: FieldError[] = []
  for (const [list, where] of [
    [ready, at.ready],
    [failed, at.failed],
  ] as const) {
    if (list.length > MAX_CONDITIONS) continue
    list.forEach((name, i) => {
      say(qualifiedName, name, `${where}[${i}]`, errors)
      if (list.indexOf(name) < i) repeated.push(duplicate(`${where}[${i}]`, name))
    })
  }
  errors.push(...repeated)
  if (failed.length <= MAX_CONDITIONS)
    failed.forEach((name, i) => {
      if (ready.includes(name))
        errors.push(
          invalid(`${at.failed}[${i}]`, name, 'bindingFailureConditions must not overlap with bindingConditions'),
        )
    })
  if (ready.length > 0 && failed.length === 0)
    errors.push(
      invalid(
        at.failed,
        asGiven(device, 'bindingFailureConditions', []),
        'bindingFailureConditions are required to use bindingConditions',
      ),
    )
  if (failed.length > 0 && ready.length === 0)
    errors.push(
      invalid(
        at.ready,
        asGiven(device, 'bindingConditions', []),
        'bindingConditions are required to use bindingFailureConditions',
      ),
    )
}

function unchanged(now: Partial<ResourceSliceSpec>, before: Partial<ResourceSliceSpec>, errors: FieldError[]): void {
  const fixed = (path: string, value: unknown, was: unknown) => {
    if (!same(value || undefined, was || undefined))
      errors.push(invalid(path, (value ?? (path === 'spec.nodeName' ? null : '')) as Json, IMMUTABLE))
  }
  fixed('spec.pool.name', now.pool?.name, before.pool?.name)
  fixed('spec.driver', now.driver, before.driver)
  fixed('spec.nodeName', now.nodeName, before.nodeName)
}

export function resourceSliceWarnings(object: Given<ResourceSlice>): readonly string[] {
  const driver: string = object.spec?.driver ?? ''
  return driver === driver.toLowerCase()
    ? []
    : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`]
}
