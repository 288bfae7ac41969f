/** Rules of storage.k8s.io. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../errors/field-errors.ts'
import type {
  CSIDriver,
  CSIDriverSpec,
  CSINode,
  CSINodeDriver,
  CSIStorageCapacity,
  StorageClass,
  StorageV1TokenRequest,
  TopologySelectorTerm,
  VolumeAttachment,
  VolumeAttachmentSpec,
  VolumeAttachmentStatus,
  VolumeAttributesClass,
} from '../generated/types.ts'
import { dns1123Subdomain, qualifiedName } from '../names/name-formats.ts'
import { nonNegativeQuantity } from '../names/resource-names.ts'
import type { Fields, Given } from '../object.ts'
import { entries, IMMUTABLE, immutable, same } from './common.ts'
import { driverName } from './driver-name.ts'
import { internalForm } from './internal.ts'
import { validateLabelSelector } from './labels.ts'
import { validateInlineVolume } from './persistent-volume.ts'

const MAX_PARAMETERS = 512
const MAX_PARAMETER_BYTES = 256 * 1024
const MAX_NODE_ID = 256
const MAX_ERROR_MESSAGE = 1024
const SHORTEST_TOKEN = 600
const LONGEST_TOKEN = 2 ** 32

function provisioner(name: string, path: string, errors: FieldError[]): void {
  if (name === '') return
  const text = name.toLowerCase()
  for (const message of qualifiedName(text)) errors.push(invalid(path, text, message))
}

function parameters(map: Fields | undefined, mayBeEmpty: boolean, errors: FieldError[]): void {
  const all = entries(map)
  if (all.length > MAX_PARAMETERS) errors.push(tooLong('parameters', MAX_PARAMETERS))
  let size = 0
  for (const [key, value] of all) {
    if (key === '') errors.push(invalid('parameters', key, 'field can not be empty.'))
    size += Buffer.byteLength(key) + Buffer.byteLength(value as string)
  }
  if (size > MAX_PARAMETER_BYTES) errors.push(tooLong('parameters', MAX_PARAMETER_BYTES))
  if (!mayBeEmpty && all.length === 0) errors.push(required('parameters', 'must contain at least one key/value pair'))
}

export function validateStorageClass(object: Given<StorageClass>): readonly FieldError[] {
  const errors: FieldError[] = []
  provisioner(object.provisioner ?? '', 'provisioner', errors)
  parameters(object.parameters, true, errors)
  const policy: string = object.reclaimPolicy ?? ''
  if (policy !== '' && policy !== 'Delete' && policy !== 'Retain')
    errors.push(notSupported('reclaimPolicy', policy, ['Delete', 'Retain']))
  bindingMode(object.volumeBindingMode, errors)
  allowedTopologies(object.allowedTopologies ?? [], errors)
  return errors
}

function bindingMode(mode: string | undefined, errors: FieldError[]): void {
  const modes = ['Immediate', 'WaitForFirstConsumer']
  if (mode === undefined) errors.push(required('volumeBindingMode'))
  else if (!modes.includes(mode)) errors.push(notSupported('volumeBindingMode', mode, modes))
}

function allowedTopologies(terms: readonly TopologySelectorTerm[], errors: FieldError[]): void {
  const seen: Fields[] = []
  terms.forEach((term, i) => {
    const path = `allowedTopologies[${i}]`
    const keys = new Set<string>()
    term.matchLabelExpressions?.forEach((expression, j) => {
      const at = `${path}.matchLabelExpressions[${j}]`
      const key: string = expression.key ?? ''
      const values: readonly string[] = expression.values ?? []
      if (values.length === 0) errors.push(required(`${at}.values`))
      for (const message of qualifiedName(key)) errors.push(invalid(`${at}.key`, key, message))
      values.forEach((value: string, k: number) => {
        if (values.indexOf(value) < k) errors.push(duplicate(`${at}.values[${k}]`, value))
      })
      if (keys.has(key)) errors.push(duplicate(`${at}.key`, key))
      keys.add(key)
    })
    // A term without expressions is taken for one that was there.
    if (!term.matchLabelExpressions?.length || seen.some((other) => same(other, term)))
      errors.push(duplicate(`${path}.matchLabelExpressions`, ''))
    seen.push(term)
  })
}

export function validateVolumeAttachment(object: Given<VolumeAttachment>): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<VolumeAttachmentSpec> = object.spec ?? {}
  const { inlineVolumeSpec, persistentVolumeName } = spec.source ?? {}
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined) errors.push(required('spec.source', one))
  else if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined)
    errors.push(forbiddenField('spec.source', one))
  else if (inlineVolumeSpec !== undefined)
    validateInlineVolume(inlineVolumeSpec, 'spec.source.inlineVolumeSpec', errors)
  else {
    const path = 'spec.source.persistentVolumeName'
    if (persistentVolumeName === '') errors.push(required(path, 'must specify non empty persistentVolumeName'))
    for (const message of dns1123Subdomain(persistentVolumeName ?? ''))
      errors.push(invalid(path, persistentVolumeName, message))
  }
  for (const message of dns1123Subdomain(spec.nodeName ?? ''))
    errors.push(invalid('spec.nodeName', spec.nodeName ?? '', message))
  attachmentStatus(object.status ?? {}, errors)
  return errors
}

export function validateVolumeAttachmentUpdate(object: Given<VolumeAttachment>): readonly FieldError[] {
  const errors: FieldError[] = []
  driverName(object.spec?.attacher ?? '', 'spec.attacher', errors)
  return [...errors, ...validateVolumeAttachment(object)]
}

function attachmentStatus(status: Partial<VolumeAttachmentStatus>, errors: FieldError[]): void {
  let size = 0
  for (const [key, value] of entries(status.attachmentMetadata))
    size += Buffer.byteLength(key) + Buffer.byteLength(value as string)
  if (size > MAX_PARAMETER_BYTES) errors.push(tooLong('status.attachmentMetadata', MAX_PARAMETER_BYTES))
  for (const field of ['attachError', 'detachError']) {
    const { message = '', errorCode = 0 }: Fields = (status as Fields)[field] ?? {}
    if (Buffer.byteLength(message) > MAX_ERROR_MESSAGE)
      errors.push(tooLong(`status.${field}.message`, MAX_ERROR_MESSAGE))
    if (errorCode < 0)
      errors.push(invalid(`status.${field}.errorCode`, errorCode, 'must be between 0 and 2147483647, inclusive'))
  }
}

export function validateCSIDriver(object: Given<CSIDriver>): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: CSIDriverSpec = object.spec ?? {}
  for (const field of ['attachRequired', 'podInfoOnMount', 'storageCapacity'])
    if ((spec as Fields)[field] === undefined) errors.push(required(`spec.${field}`))
  const policies = ['File', 'None', 'ReadWriteOnceWithFSType']
  if (spec.fsGroupPolicy === undefined) errors.push(required('spec.fsGroupPolicy'))
  else if (!policies.includes(spec.fsGroupPolicy))
    errors.push(notSupported('spec.fsGroupPolicy', spec.fsGroupPolicy, policies))
  tokenRequests(spec.tokenRequests ?? [], errors)
  spec.volumeLifecycleModes?.forEach((mode: string) => {
    if (mode !== 'Persistent' && mode !== 'Ephemeral')
      errors.push(notSupported('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']))
  })
  if (spec.seLinuxMount === undefined) errors.push(required('spec.seLinuxMount'))
  const period: number | undefined = spec.nodeAllocatableUpdatePeriodSeconds
  if (period !== undefined && period < 10)
    errors.push(
      invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, 'must be greater than or equal to 10 seconds'),
    )
  return errors
}

function tokenRequests(requests: readonly StorageV1TokenRequest[], errors: FieldError[]): void {
  const audiences = new Set<string>()
  requests.forEach(({ audience = '', expirationSeconds: seconds }, i) => {
    const path = `spec.tokenRequests[${i}]`
    if (audiences.has(audience)) errors.push(duplicate(`${path}.audience`, audience))
    audiences.add(audience)
    if (seconds === undefined) return
    if (seconds < SHORTEST_TOKEN)
      errors.push(invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes'))
    if (seconds > LONGEST_TOKEN)
      errors.push(invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds'))
  })
}

export function validateCSIDriverUpdate(object: Given<CSIDriver>, old: Given<CSIDriver>): readonly FieldError[] {
  const errors = [...validateCSIDriver(object)]
  const now: CSIDriverSpec = object.spec ?? {}
  const before: CSIDriverSpec = old.spec ?? {}
  immutable('spec.attachedRequired', now.attachRequired, before.attachRequired, errors)
  immutable('spec.volumeLifecycleModes', now.volumeLifecycleModes, before.volumeLifecycleModes, errors)
  return errors
}

export function validateCSINode(object: Given<CSINode>): readonly FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  object.spec?.drivers?.forEach((driver, i) => {
    const path = `spec.drivers[${i}]`
    const name: string = driver.name ?? ''
    driverName(name, `${path}.name`, errors)
    const nodeID: string = driver.nodeID ?? ''
    if (nodeID === '') errors.push(required(`${path}.nodeID`))
    else if (Buffer.byteLength(nodeID) > MAX_NODE_ID)
      errors.push(invalid(`${path}.nodeID`, nodeID, `must be ${MAX_NODE_ID} characters or less`))
    const count: number | undefined = driver.allocatable?.count
    if (count !== undefined && count < 0)
      errors.push(invalid(`${path}.allocatable.count`, count, 'must be greater than or equal to 0'))
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
    const keys = new Set<string>()
    driver.topologyKeys?.forEach((key: string) => {
      if (key === '') errors.push(required(path))
      else if (keys.has(key)) errors.push(duplicate(path, key))
      for (const message of qualifiedName(key)) errors.push(invalid(path, key, message))
      keys.add(key)
    })
  })
  return errors
}

export function validateCSINodeUpdate(object: Given<CSINode>, old: Given<CSINode>): readonly FieldError[] {
  const errors = [...validateCSINode(object)]
  const drivers: readonly CSINodeDriver[] = object.spec?.drivers ?? []
  for (const before of old.spec?.drivers ?? []) {
    const now = drivers.find((driver) => driver.name === before.name)
    const fixed = (driver: CSINodeDriver) => ({ ...driver, allocatable: undefined })
    if (now !== undefined && !same(fixed(now), fixed(before)))
      errors.push(invalid('spec.drivers', internalForm('io.k8s.api.storage.v1.CSINodeDriver', now), IMMUTABLE))
  }
  return errors
}

export function validateCSIStorageCapacity(object: Given<CSIStorageCapacity>): readonly FieldError[] {
  const errors: FieldError[] = []
  validateLabelSelector(object.nodeTopology, 'nodeTopology', errors)
  const name: string = object.storageClassName ?? ''
  for (const message of dns1123Subdomain(name)) errors.push(invalid('storageClassName', name, message))
  // A maximumVolumeSize below zero is taken.
  if (object.capacity !== undefined) nonNegativeQuantity(object.capacity, 'capacity', errors)
  return errors
}

export function validateCSIStorageCapacityUpdate(
  object: Given<CSIStorageCapacity>,
  old: Given<CSIStorageCapacity>,
): readonly FieldError[] {
  const errors = [...validateCSIStorageCapacity(object)]
  immutable('nodeTopology', object.nodeTopology, old.nodeTopology, errors)
  immutable('storageClassName', object.storageClassName, old.storageClassName, errors)
  return errors
}

export function validateVolumeAttributesClass(object: Given<VolumeAttributesClass>): readonly FieldError[] {
  const errors: FieldError[] = []
  if (!object.driverName) errors.push(required('driverName'))
  provisioner(object.driverName ?? '', 'driverName', errors)
  parameters(object.parameters, false, errors)
  return errors
}

export function validateVolumeAttributesClassUpdate(
  object: Given<VolumeAttributesClass>,
  old: Given<VolumeAttributesClass>,
): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['driverName', 'parameters'])
    if (!same(object[field], old[field])) errors.push(forbiddenField(field, `updates to ${field} are forbidden.`))
  return [...errors, ...validateVolumeAttributesClass(object)]
}
