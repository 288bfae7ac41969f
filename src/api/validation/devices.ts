/** Rules of resource.k8s.io (dynamic resource allocation), but for what the CEL compiler has to say of selectors. */
import type { Fields, KubeObject } from '../object.ts'
import { IMMUTABLE, same } from './common.ts'
import { duplicate, type FieldError, invalid, notSupported, required, tooLong, tooMany } from './errors.ts'
import { internalForm } from './internal.ts'
import { cIdentifier, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from './names.ts'
import { validateNodeSelector } from './node-selector.ts'
import { longNameCaseless, tooManyCharacters } from './storage.ts'

const MAX_LIST = 32
const MAX_SUBREQUESTS = 8
const MAX_DEVICES = 128
const MAX_ATTRIBUTES = 32
const MAX_POOL_NAME = 253
const MAX_DRIVER = 63
const EFFECTS = ['NoExecute', 'NoSchedule', 'None']

type Format = (text: string) => readonly string[]

function say(format: Format, value: string, path: string, errors: FieldError[]): void {
  for (const message of format(value)) errors.push(invalid(path, value, message))
}

function bounded(list: readonly unknown[], path: string, errors: FieldError[]): void {
  if (list.length > MAX_LIST) errors.push(tooMany(path, list.length, MAX_LIST))
}

function driverName(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path))
    return
  }
  if (Buffer.byteLength(name) > MAX_DRIVER) errors.push(tooLong(path, MAX_DRIVER))
  for (const message of dns1123Subdomain(name.toLowerCase())) errors.push(invalid(path, name, message))
}

function selectors(list: readonly Fields[], path: string, errors: FieldError[]): void {
  bounded(list, path, errors)
  list.forEach(({ cel }, i) => {
    if (cel === undefined) errors.push(required(`${path}[${i}].cel`))
  })
}

export function validateDeviceClass(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  selectors(spec['selectors'] ?? [], 'spec.selectors', errors)
  configurations(spec['config'] ?? [], 'spec.config', undefined, errors)
  return errors
}

function configurations(
  list: readonly Fields[],
  path: string,
  requests: ReadonlySet<string> | undefined,
  errors: FieldError[],
): void {
  bounded(list, path, errors)
  list.forEach(({ opaque, requests: named = [] }, i) => {
    const at = `${path}[${i}]`
    if (requests) requestNames(named, requests, `${at}.requests`, errors)
    if (opaque === undefined) errors.push(required(`${at}.opaque`))
    else {
      const driver: string = opaque.driver ?? ''
      if (driver === '') errors.push(required(`${at}.opaque.driver`))
      else {
        say(longNameCaseless, driver, `${at}.opaque.driver`, errors)
        if ([...driver].length > MAX_DRIVER) errors.push(tooManyCharacters(`${at}.opaque.driver`, MAX_DRIVER))
      }
      if (opaque.parameters === undefined || opaque.parameters === null)
        errors.push(required(`${at}.opaque.parameters`))
    }
  })
}

function requestNames(named: readonly string[], known: ReadonlySet<string>, path: string, errors: FieldError[]): void {
  named.forEach((name, i) => {
    if (named.indexOf(name) < i) errors.push(duplicate(`${path}[${i}]`, name))
    if (!known.has(name))
      errors.push(
        invalid(
          `${path}[${i}]`,
          name,
          "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
        ),
      )
  })
}

export function validateResourceClaim(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  claimSpec(object['spec'] ?? {}, 'spec', errors)
  return errors
}

export function validateResourceClaimUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = [...validateResourceClaim(object)]
  return same(object['spec'], old['spec']) ? errors : [invalid('spec', null, IMMUTABLE)]
}

export function validateResourceClaimTemplate(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  claimSpec(object['spec']?.spec ?? {}, 'spec.spec', errors)
  return errors
}

export function validateResourceClaimTemplateUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = [...validateResourceClaimTemplate(object)]
  if (!same(object['spec'], old['spec']))
    errors.push(
      invalid('spec', internalForm('io.k8s.api.resource.v1.ResourceClaimTemplateSpec', object['spec']), IMMUTABLE),
    )
  return errors
}

function claimSpec(spec: Fields, path: string, errors: FieldError[]): void {
  const devices: Fields = spec['devices'] ?? {}
  const at = `${path}.devices`
  const requests: readonly Fields[] = devices['requests'] ?? []
  bounded(requests, `${at}.requests`, errors)
  const names = new Set<string>()
  const seen = new Set<string>()
  requests.forEach((request, i) => {
    deviceRequest(request, `${at}.requests[${i}]`, errors)
    const name: string = request['name'] ?? ''
    if (seen.has(name)) errors.push(duplicate(`${at}.requests[${i}]`, name))
    seen.add(name)
    names.add(name)
    for (const sub of request['firstAvailable'] ?? []) names.add(`${name}/${sub.name ?? ''}`)
  })
  const constraints: readonly Fields[] = devices['constraints'] ?? []
  bounded(constraints, `${at}.constraints`, errors)
  constraints.forEach((constraint, i) => {
    const inner = `${at}.constraints[${i}]`
    requestNames(constraint['requests'] ?? [], names, `${inner}.requests`, errors)
    if (constraint['matchAttribute'] !== undefined)
      fullyQualified(constraint['matchAttribute'], `${inner}.matchAttribute`, errors)
    else if (constraint['distinctAttribute'] !== undefined)
      fullyQualified(constraint['distinctAttribute'], `${inner}.distinctAttribute`, errors)
    else errors.push(required(inner, 'exactly one of `matchAttribute` or `distinctAttribute` is required'))
  })
  configurations(devices['config'] ?? [], `${at}.config`, names, errors)
}

function fullyQualified(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path))
    return
  }
  if (!name.includes('/')) errors.push(invalid(path, name, 'must include a domain'))
  const [domain = '', id = ''] = name.includes('/') ? name.split('/', 2) : ['', name]
  if (name.includes('/')) {
    if (domain === '') errors.push(required(path, 'the domain must not be empty'))
    else driverName(domain, path, errors)
    if (id === '') errors.push(required(path, 'the name must not be empty'))
    else say(cIdentifier, id, path, errors)
  }
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
    errors.push(invalid(path, null, one))
    return
  }
  if (exactly !== undefined) requestedDevices(exactly, `${path}.exactly`, errors)
  if (firstAvailable.length > MAX_SUBREQUESTS)
    errors.push(tooMany(`${path}.firstAvailable`, firstAvailable.length, MAX_SUBREQUESTS))
  firstAvailable.forEach((sub: Fields, i: number) => {
    say(dns1123Label, sub['name'] ?? '', `${path}.firstAvailable[${i}].name`, errors)
    requestedDevices(sub, `${path}.firstAvailable[${i}]`, errors)
  })
}

function requestedDevices(request: Fields, path: string, errors: FieldError[]): void {
  const className: string = request['deviceClassName'] ?? ''
  if (className === '') errors.push(required(`${path}.deviceClassName`))
  else say(dns1123Subdomain, className, `${path}.deviceClassName`, errors)
  selectors(request['selectors'] ?? [], `${path}.selectors`, errors)
  const { allocationMode: mode = '', count = 0 } = request
  if (mode === 'All') {
    if (count !== 0)
      errors.push(invalid(`${path}.count`, count, `must not be specified when allocationMode is '${mode}'`))
  } else if (mode === 'ExactCount') {
    if (count <= 0) errors.push(invalid(`${path}.count`, count, 'must be greater than zero'))
  } else errors.push(notSupported(`${path}.allocationMode`, mode, ['All', 'ExactCount']))
  request['tolerations']?.forEach((toleration: Fields, i: number) => {
    deviceToleration(toleration, `${path}.tolerations[${i}]`, errors)
  })
}

function deviceToleration(toleration: Fields, path: string, errors: FieldError[]): void {
  const { key = '', operator = '', value = '', effect } = toleration
  if (key !== '') say(qualifiedName, key, `${path}.key`, errors)
  if (operator === 'Exists') {
    if (value !== '') errors.push(invalid(`${path}.value`, value, 'must be empty for operator `Exists`'))
  } else if (operator === 'Equal') say(labelValue, value, `${path}.value`, errors)
  else if (operator === '') errors.push(required(`${path}.operator`))
  else errors.push(notSupported(`${path}.operator`, operator, ['Equal', 'Exists']))
  if (effect && !EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS))
}

export function validateResourceSlice(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  driverName(spec['driver'] ?? '', 'spec.driver', errors)
  resourcePool(spec['pool'] ?? {}, errors)
  placement(spec, 'spec', ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'], errors)
  const devices: readonly Fields[] = spec['devices'] ?? []
  if (devices.length > MAX_DEVICES) errors.push(tooMany('spec.devices', devices.length, MAX_DEVICES))
  const names = new Set<string>()
  const repeated: FieldError[] = []
  devices.forEach((device, i) => {
    const name: string = device['name'] ?? ''
    sliceDevice(device, `spec.devices[${i}]`, errors)
    if (names.has(name)) repeated.push(duplicate(`spec.devices[${i}]`, name))
    names.add(name)
  })
  return [...errors, ...repeated]
}

function resourcePool(
  { name = '', generation = 0, resourceSliceCount: count = 0 }: Fields,
  errors: FieldError[],
): void {
  const path = 'spec.pool'
  if (name === '') errors.push(required(`${path}.name`))
  else {
    if (Buffer.byteLength(name) > MAX_POOL_NAME) errors.push(tooLong(`${path}.name`, MAX_POOL_NAME))
    for (const part of name.split('/')) say(dns1123Subdomain, part, `${path}.name`, errors)
  }
  if (count <= 0) errors.push(invalid(`${path}.resourceSliceCount`, count, 'must be greater than zero'))
  if (generation < 0) errors.push(invalid(`${path}.generation`, generation, 'must be greater than or equal to zero'))
}

/** Where devices are: one of a node's name, a selector, everywhere, or each device for itself. */
function placement(spec: Fields, path: string, fields: readonly string[], errors: FieldError[]): void {
  const given = fields.filter((field) => spec[field] !== undefined && spec[field] !== '' && spec[field] !== false)
  if (spec['nodeName'] === '')
    errors.push(invalid(`${path}.nodeName`, '', 'must be either unset or set to a non-empty string'))
  else if (spec['nodeName'] !== undefined) say(dns1123Subdomain, spec['nodeName'], `${path}.nodeName`, errors)
  if (spec['nodeSelector'] !== undefined) {
    validateNodeSelector(spec['nodeSelector'], `${path}.nodeSelector`, errors)
    if (spec['nodeSelector'].nodeSelectorTerms?.length !== 1)
      errors.push(
        invalid(
          `${path}.nodeSelector.nodeSelectorTerms`,
          spec['nodeSelector'].nodeSelectorTerms ?? null,
          'must have exactly one node selector term',
        ),
      )
  }
  const detail = `exactly one of ${fields.map((field) => `\`${field}\``).join(', ')} is required`
  if (given.length === 0) errors.push(required(path, detail))
  else if (given.length > 1) errors.push(invalid(path, `{${given.map((field) => `\`${field}\``).join(', ')}}`, detail))
}

function sliceDevice(device: Fields, path: string, errors: FieldError[]): void {
  say(dns1123Label, device['name'] ?? '', `${path}.name`, errors)
  const attributes = Object.keys(device['attributes'] ?? {})
  const capacity = Object.keys(device['capacity'] ?? {})
  if (attributes.length + capacity.length > MAX_ATTRIBUTES)
    errors.push(
      invalid(
        path,
        attributes.length + capacity.length,
        `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES}`,
      ),
    )
  device['taints']?.forEach((taint: Fields, i: number) => {
    deviceTaint(taint, `${path}.taints[${i}]`, errors)
  })
}

export function deviceTaint(taint: Fields, path: string, errors: FieldError[]): void {
  const { key = '', value = '', effect = '' } = taint
  say(qualifiedName, key, `${path}.key`, errors)
  if (value !== '') say(labelValue, value, `${path}.value`, errors)
  if (effect === '') errors.push(required(`${path}.effect`))
  else if (!EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS))
}

export function validateResourceSliceUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const now: Fields = object['spec'] ?? {}
  const before: Fields = old['spec'] ?? {}
  const fixed = (path: string, value: unknown, was: unknown) => {
    if (!same(value || undefined, was || undefined)) errors.push(invalid(path, (value ?? '') as string, IMMUTABLE))
  }
  fixed('spec.driver', now['driver'], before['driver'])
  fixed('spec.nodeName', now['nodeName'], before['nodeName'])
  fixed('spec.pool.name', now['pool']?.name, before['pool']?.name)
  return [...errors, ...validateResourceSlice(object)]
}

export function validateDeviceTaintRule(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  const { driver, pool, device } = (spec['deviceSelector'] ?? {}) as Fields
  if (driver !== undefined) driverName(driver, 'spec.deviceSelector.driver', errors)
  if (pool !== undefined) say(dns1123Subdomain, pool, 'spec.deviceSelector.pool', errors)
  if (device !== undefined) say(dns1123Label, device, 'spec.deviceSelector.device', errors)
  deviceTaint(spec['taint'] ?? {}, 'spec.taint', errors)
  return errors
}
