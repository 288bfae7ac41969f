/** Rules of PersistentVolumeClaim, and of its spec wherever it stands (claim templates). */
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../generated/types.ts'
import { dns1123Subdomain } from '../names/name-formats.ts'
import { positiveQuantity } from '../names/resource-names.ts'
import type { Json } from '../object.ts'
import { compareQuantities, quantityValue } from '../values/quantity.ts'
import { entries, IMMUTABLE, ifSet, same, says } from './common.ts'
import { printedDifference } from './difference.ts'
import { internalForm } from './internal.ts'
import { labelSelector } from './labels.ts'
import { check, ifPresent, type Rule, rows } from './rules.ts'

export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const VOLUME_MODES = ['Block', 'Filesystem']
const SPEC = 'io.k8s.api.core.v1.PersistentVolumeClaimSpec'

export function accessModes(detail: string): Rule {
  return (value, path, errors) => {
    if (!value?.length) errors.push(required(path, detail))
    const modes: readonly string[] = value ?? []
    for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.push(notSupported(path, mode, ACCESS_MODES))
    if (
      modes.includes('ReadWriteOncePod') &&
      modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))
    )
      errors.push(forbiddenField(path, 'may not use ReadWriteOncePod with other access modes'))
  }
}

export const volumeMode: Rule = (value, path, errors) => {
  if (value !== undefined && !VOLUME_MODES.includes(value)) errors.push(notSupported(path, value, VOLUME_MODES))
}

export const className: Rule = ifSet(says(dns1123Subdomain))

const dataSource = ifPresent(
  rows(
    ['name', (value, path, errors) => void (value || errors.push(required(path)))],
    ['kind', (value, path, errors) => void (value || errors.push(required(path)))],
    [
      '',
      ({ apiGroup, kind = '' }, path, errors) => {
        if (!apiGroup && kind !== 'PersistentVolumeClaim')
          errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
      },
    ],
    ['apiGroup', ifSet(says(dns1123Subdomain))],
  ),
)

const requestedStorage: Rule = (value, path, errors) => {
  const storage: string | undefined = value?.requests?.storage
  if (storage === undefined) errors.push(required(`${path}[storage]`))
  else positiveQuantity(storage, `${path}[storage]`, errors)
}

const twoSources: Rule = (spec, path, errors) => {
  const { dataSource: source, dataSourceRef: reference } = spec
  if (source === undefined || reference === undefined) return
  if (reference.namespace)
    errors.push(invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified'))
  else if (!same(source, reference)) errors.push(invalid(path, {}, 'must match dataSourceRef'))
}

export const persistentVolumeClaimSpec: Rule = rows(
  [
    'accessModes',
    (value, path, errors) => void (value?.length || errors.push(required(path, 'at least 1 access mode is required'))),
  ],
  ['selector', labelSelector],
  [
    'accessModes',
    (value, path, errors, context) => {
      if (value?.length) accessModes('')(value, path, errors, context)
    },
  ],
  ['resources', requestedStorage],
  ['storageClassName', className],
  ['volumeMode', volumeMode],
  ['dataSource', dataSource],
  ['dataSourceRef', dataSource],
  ['', twoSources],
  ['volumeAttributesClassName', className],
)

const claim = rows([
  'spec',
  (value, path, errors, context) => persistentVolumeClaimSpec(value ?? {}, path, errors, context),
])

export function validatePersistentVolumeClaim(object: PersistentVolumeClaim): readonly FieldError[] {
  return check(claim, object)
}

export function validatePersistentVolumeClaimUpdate(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): readonly FieldError[] {
  // What a source's group may look like is only asked of a new claim.
  const errors: FieldError[] = validatePersistentVolumeClaim(object).filter(
    ({ field }) => !/^spec\.dataSource(?:Ref)?\.apiGroup$/.test(field),
  )
  const now: Partial<PersistentVolumeClaimSpec> = object.spec ?? {}
  const before: Partial<PersistentVolumeClaimSpec> = old.spec ?? {}
  const bound = object.status?.phase === 'Bound'
  const comparable: { [field: string]: unknown } = { ...now }
  if (!before.volumeName) comparable['volumeName'] = now.volumeName
  if (bound && now.resources?.requests)
    comparable['resources'] = {
      ...now.resources,
      requests: { ...now.resources.requests, storage: before.resources?.requests?.['storage'] },
    }
  if (bound) comparable['volumeAttributesClassName'] = before.volumeAttributesClassName
  storageClassAnnotationChange(object, old, errors)
  // A claim without a class may be given one, once.
  const annotated = storageClassAnnotation(old) ?? now.storageClassName
  if (before.storageClassName === undefined && annotated === now.storageClassName)
    comparable['storageClassName'] = before.storageClassName
  const base = before.volumeName ? before : { ...before, volumeName: now.volumeName }
  if (!same(comparable, base))
    errors.push(
      forbiddenField(
        'spec',
        `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${printedDifference(internalForm(SPEC, base), internalForm(SPEC, comparable))}`,
      ),
    )
  shrinking(now, before, object, errors)
  if (!same(now.volumeMode, before.volumeMode))
    errors.push(invalid('volumeMode', (now.volumeMode ?? null) as Json, IMMUTABLE))
  if (bound) attributesClass(object, old, errors)
  return errors
}

const STORAGE_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

const storageClassAnnotation = (object: PersistentVolumeClaim): string | undefined =>
  object.metadata.annotations?.[STORAGE_CLASS_ANNOTATION]

/** The annotation stays as it was, but where its class moves to the field. */
function storageClassAnnotationChange(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  errors: FieldError[],
): void {
  const now = storageClassAnnotation(object)
  const before = storageClassAnnotation(old)
  if ((now ?? '') === (before ?? '')) return
  const moves = old.spec?.storageClassName === undefined && object.spec?.storageClassName === before
  if (!moves || before === undefined || now !== undefined)
    errors.push(invalid(`metadata.annotations.${STORAGE_CLASS_ANNOTATION}`, now ?? '', IMMUTABLE))
}

function shrinking(
  now: Partial<PersistentVolumeClaimSpec>,
  before: Partial<PersistentVolumeClaimSpec>,
  object: PersistentVolumeClaim,
  errors: FieldError[],
): void {
  const wanted: string = now.resources?.requests?.['storage'] ?? '0'
  const had: string = before.resources?.requests?.['storage'] ?? '0'
  const has: string = object.status?.capacity?.['storage'] ?? '0'
  if (compareQuantities(wanted, had) < 0 && compareQuantities(wanted, has) <= 0)
    errors.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'))
}

/** A class that the volume has is not taken away, only exchanged. */
function attributesClass(now: PersistentVolumeClaim, before: PersistentVolumeClaim, errors: FieldError[]): void {
  const name = now.spec?.volumeAttributesClassName
  if (!before.spec?.volumeAttributesClassName || name || before.status?.currentVolumeAttributesClassName === undefined)
    return
  const what = name === undefined ? 'nil' : 'empty string'
  const message = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`
  errors.push(forbiddenField('spec.volumeAttributesClassName', message))
}

export function validatePersistentVolumeClaimStatus(object: PersistentVolumeClaim): readonly FieldError[] {
  const errors: FieldError[] = []
  if (!object.spec?.accessModes?.length) errors.push(required('Spec.accessModes'))
  claimQuantities(object.status?.capacity, 'status.capacity', errors)
  const path = 'status.allocatedResourceStatuses'
  for (const [name, state] of entries(object.status?.allocatedResourceStatuses)) {
    if (!isClaimResource(name)) errors.push(notSupported(path, name, CLAIM_RESOURCES))
    // The name is told, where one would look for the state.
    else if (!RESIZE_STATES.includes(state as string)) errors.push(notSupported(path, name, RESIZE_STATES))
  }
  const allocated = object.status?.allocatedResources
  for (const [name] of entries(allocated))
    if (!isClaimResource(name)) errors.push(notSupported('status.allocatedResources', name, CLAIM_RESOURCES))
  claimQuantities(allocated, 'status.allocatedResources', errors)
  return errors
}

const CLAIM_RESOURCES = ['storage']
const RESIZE_STATES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

/** Storage, or a resource with a domain of its own. */
const isClaimResource = (name: string): boolean =>
  CLAIM_RESOURCES.includes(name) || (name.includes('/') && !name.split('/')[0]?.endsWith('kubernetes.io'))

function claimQuantities(
  quantities: { readonly [name: string]: unknown } | undefined,
  path: string,
  errors: FieldError[],
): void {
  for (const [name, value] of entries(quantities)) {
    const whole = quantityValue(value as string)
    if (whole < 0n) errors.push(invalid(`${path}[${name}]`, Number(whole), 'must be a valid resource quantity'))
  }
}
