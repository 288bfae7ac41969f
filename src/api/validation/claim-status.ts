/**
 * Rules of a ResourceClaim's status (API concept: Dynamic Resource Allocation): what a scheduler allocated, for which consumers it
 * is reserved, and what drivers tell of each device; and where administrative access may be asked for. The types declare the rest.
 */
import { type FieldError, forbiddenField, invalid, required, tooLong, tooMany } from '../errors/field-errors.ts'
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  Condition,
  DeviceAllocationResult,
  DeviceRequestAllocationResult,
  ResourceClaimConsumerReference,
  ResourceClaimSpec,
  ResourceClaimStatus,
  ResourceV1ResourceClaim,
} from '../generated/types.ts'
import { cidr, dns1123Label } from '../names/name-formats.ts'
import type { Fields, Given, Json } from '../object.ts'
import { canonicalIP, isIPv4 } from '../values/ip.ts'
import { same } from './common.ts'
import { validateConditions } from './conditions.ts'
import {
  configurations,
  deviceTolerations,
  knownRequests,
  MAX_LIST,
  poolName,
  requestName,
  say,
  upTo,
} from './devices.ts'
import { driverName } from './driver-name.ts'
import { validateNodeSelector } from './node-selector.ts'
import { bindingConditions } from './resource-slices.ts'

const MAX_CONFIGURATIONS = 64
const MAX_RESERVATIONS = 256
const MAX_CONDITIONS = 8
const MAX_DATA = 10 * 1024

/** A namespace whose label says so may hold claims that reach devices in use by others. */
const ACCESS_LABEL = 'resource.kubernetes.io/admin-access'
const ACCESS = `admin access to devices requires the \`${ACCESS_LABEL}: true\` label on the containing namespace`

type Labels = Readonly<Record<string, string>>

const mayAccess = (labels: Labels): boolean => labels[ACCESS_LABEL] === 'true'

/** Of a new claim's spec, or a template's: the path is the claim's in both. `labels` are the namespace's, asked when they matter. */
export function validateRequestedAccess(spec: Fields, labels: () => Labels): readonly FieldError[] {
  const requests: readonly Fields[] = spec['devices']?.requests ?? []
  const asking = requests.findIndex((request) => request['exactly']?.adminAccess === true)
  if (asking < 0 || mayAccess(labels())) return []
  return [forbiddenField(`spec.devices.requests[${asking}].adminAccess`, ACCESS)]
}

const resultsOf = (claim: Given<ResourceV1ResourceClaim>): readonly Fields[] =>
  claim.status?.allocation?.devices?.results ?? []
const isGranted = (result: Fields): boolean => result['adminAccess'] === true

/** Of an allocation: what was granted before stays granted. */
export function validateGrantedAccess(
  claim: Given<ResourceV1ResourceClaim>,
  old: Given<ResourceV1ResourceClaim>,
  labels: () => Labels,
): readonly FieldError[] {
  const granted = resultsOf(claim).findIndex(isGranted)
  if (granted < 0 || resultsOf(old).some(isGranted) || mayAccess(labels())) return []
  return [forbiddenField(`status.allocation.devices.results[${granted}].adminAccess`, ACCESS)]
}

export function validateResourceClaimStatus(
  claim: Given<ResourceV1ResourceClaim>,
  old: Given<ResourceV1ResourceClaim>,
): readonly FieldError[] {
  const errors: FieldError[] = []
  const status: ResourceClaimStatus = claim.status ?? {}
  const before: ResourceClaimStatus = old.status ?? {}
  const { allocation, reservedFor = [], devices = [] } = status
  if (!same(reservedFor, before.reservedFor ?? [])) consumers(reservedFor, errors)
  if (!same(devices, before.devices ?? [])) deviceStatuses(devices, allocation, errors)
  reservations(claim, reservedFor, before.reservedFor ?? [], errors)
  if (allocation !== undefined && before.allocation === undefined)
    allocationResult(allocation, claim.spec ?? {}, 'status.allocation', errors)
  return errors
}

function consumers(list: readonly ResourceClaimConsumerReference[], errors: FieldError[]): void {
  if (list.length > MAX_RESERVATIONS) return
  list.forEach((consumer, i) => {
    for (const field of ['resource', 'name', 'uid'])
      if (!(consumer as Fields)[field]) errors.push(required(`status.reservedFor[${i}].${field}`))
  })
}

/** A claim that is going is reserved for no further consumer. */
function reservations(
  claim: Given<ResourceV1ResourceClaim>,
  list: readonly ResourceClaimConsumerReference[],
  before: readonly ResourceClaimConsumerReference[],
  errors: FieldError[],
): void {
  if (list.length === 0) return
  if (claim.metadata.deletionTimestamp !== undefined) {
    const known = new Set(before.map(({ uid }) => uid))
    if (list.some(({ uid }) => !known.has(uid)))
      errors.push(
        forbiddenField(
          'status.reservedFor',
          'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
        ),
      )
  } else if (claim.status?.allocation === undefined)
    errors.push(forbiddenField('status.reservedFor', 'may not be specified when `allocated` is not set'))
}

function allocationResult(
  allocation: AllocationResult,
  spec: Partial<ResourceClaimSpec>,
  path: string,
  errors: FieldError[],
): void {
  const { results = [], config = [] }: DeviceAllocationResult = allocation.devices ?? {}
  const requests = knownRequests(spec)
  upTo(MAX_LIST, results).forEach((result, i) => {
    const at = `${path}.devices.results[${i}]`
    requestName(result['request'] ?? '', requests, `${at}.request`, errors)
    say(dns1123Label, result['device'] ?? '', `${at}.device`, errors)
    bindingConditions(result, at, errors)
    deviceTolerations(result['tolerations'] ?? [], at, errors)
  })
  configurations(upTo(MAX_CONFIGURATIONS, config), `${path}.devices.config`, requests, errors)
  if (allocation.nodeSelector !== undefined)
    validateNodeSelector(allocation.nodeSelector, `${path}.nodeSelector`, errors)
}

const idOf = ({
  driver = '',
  pool = '',
  device = '',
  shareID = '',
}: DeviceRequestAllocationResult | AllocatedDeviceStatus): string => JSON.stringify([driver, pool, device, shareID])

function deviceStatuses(
  list: readonly AllocatedDeviceStatus[],
  allocation: AllocationResult | undefined,
  errors: FieldError[],
): void {
  const results: readonly DeviceRequestAllocationResult[] = allocation?.devices?.results ?? []
  const allocated = new Set(results.map(idOf))
  list.forEach((device, i) => {
    const at = `status.devices[${i}]`
    const { driver = '', pool = '', device: name = '', shareID = '' } = device
    driverName(driver, `${at}.driver`, errors)
    poolName(pool, `${at}.pool`, errors)
    say(dns1123Label, name, `${at}.device`, errors)
    if (!allocated.has(idOf(device)))
      errors.push(
        invalid(
          at,
          { Driver: driver, Pool: pool, Device: name, ShareID: shareID },
          'must be an allocated device in the claim',
        ),
      )
    const conditions: readonly Condition[] = device.conditions ?? []
    if (conditions.length > MAX_CONDITIONS) errors.push(tooMany(`${at}.conditions`, conditions.length, MAX_CONDITIONS))
    validateConditions(conditions, `${at}.conditions`, errors)
    deviceData(device.data, `${at}.data`, errors)
    networkAddresses(device.networkData?.ips ?? [], `${at}.networkData.ips`, errors)
  })
}

function deviceData(data: Json | undefined, path: string, errors: FieldError[]): void {
  if (data === undefined || data === null) return
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_DATA) errors.push(tooLong(path, MAX_DATA))
  else if (typeof data !== 'object' || Array.isArray(data))
    errors.push(invalid(path, '<value omitted>', 'must be a valid JSON object'))
}

const MAX_ADDRESSES = 16

function networkAddresses(list: readonly string[], path: string, errors: FieldError[]): void {
  if (list.length > MAX_ADDRESSES) return
  list.forEach((text, i) => {
    const canonical = canonicalAddress(text)
    if (canonical === undefined)
      errors.push(
        invalid(`${path}[${i}]`, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'),
      )
    else if (canonical !== text)
      errors.push(invalid(`${path}[${i}]`, text, `must be in canonical form ("${canonical}")`))
  })
}

/** An address with the length of its network, as Go writes it: undefined when it is none. */
function canonicalAddress(text: string): string | undefined {
  const plain = text.includes(':') ? text : withoutZeros(text)
  if (cidr(plain, true).length > 0) return undefined
  const [address, bits] = plain.split('/') as [string, string]
  const canonical = canonicalIP(address)!
  if (isIPv4(address) || !canonical.startsWith('::ffff:') || !canonical.includes('.')) return `${canonical}/${bits}`
  return `${canonical.slice('::ffff:'.length)}/${Number(bits) - 96}`
}

const withoutZeros = (text: string): string => text.replace(/(^|[./])0+(?=[0-9])/g, '$1')
