/**
 * Object-meta: the rules that hold for the metadata of every kind, and of the pod templates within them. Called by the
 * generic store for whole objects and by the rules of kinds that embed metadata.
 */
import { type FieldError, forbiddenField, invalid, required, tooLong } from '../errors/field-errors.ts'
import { dns1123Label, qualifiedName, subdomainName } from '../names/name-formats.ts'
import type { Fields, Json, ObjectMeta, OwnerReference } from '../object.ts'
import { goQuote } from '../quote.ts'
import { IMMUTABLE } from './common.ts'
import { validateLabels } from './labels.ts'
import { joinPath } from './rules.ts'

export interface ObjectMetaOptions {
  readonly namespaced: boolean
  /** Default: DNS-1123 subdomain. */
  readonly nameRule?: (name: string, prefix: boolean) => readonly string[]
  /** Where the metadata stands; default `metadata`. */
  readonly path?: string
  /** Whether a finalizer without a domain must be one of Kubernetes' own. Not so for RBAC and custom resources. */
  readonly standardFinalizersOnly?: boolean
}

const TOTAL_ANNOTATION_BYTES = 256 * 1024
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Rules of metadata at creation, in Kubernetes' order. */
export function validateObjectMeta(meta: ObjectMeta, options: ObjectMetaOptions): FieldError[] {
  const errors: FieldError[] = []
  const path = options.path ?? 'metadata'
  const nameRule = options.nameRule ?? subdomainName
  const at = (field: string) => joinPath(path, field)
  errors.push(...validateGenerateName(meta, options))
  if (!meta.name) errors.push(required(at('name'), 'name or generateName is required'))
  else for (const message of nameRule(meta.name, false)) errors.push(invalid(at('name'), meta.name, message))
  if (options.namespaced) {
    if (!meta.namespace) errors.push(required(at('namespace')))
    else
      for (const message of dns1123Label(meta.namespace)) errors.push(invalid(at('namespace'), meta.namespace, message))
  } else if (meta.namespace) errors.push(forbiddenField(at('namespace'), 'not allowed on this type'))
  if (meta.generation !== undefined && meta.generation < 0)
    errors.push(invalid(at('generation'), meta.generation, 'must be greater than or equal to 0'))
  validateLabels(meta.labels, at('labels'), errors)
  validateAnnotations(meta.annotations, at('annotations'), errors)
  validateOwnerReferences(meta.ownerReferences, at('ownerReferences'), errors)
  validateFinalizers(meta.finalizers, at('finalizers'), errors)
  validateManagedFields(meta, at('managedFields'), errors)
  errors.push(...validateFinalizerNames(meta, options))
  return errors
}

export function validateGenerateName({ generateName }: ObjectMeta, options: ObjectMetaOptions): FieldError[] {
  if (!generateName) return []
  const nameRule = options.nameRule ?? subdomainName
  const path = joinPath(options.path ?? 'metadata', 'generateName')
  return nameRule(generateName, true).map((message) => invalid(path, generateName, message))
}

/** A finalizer without a domain must be one of Kubernetes' own, for the kinds that ask for it. */
export function validateFinalizerNames({ finalizers }: ObjectMeta, options: ObjectMetaOptions): FieldError[] {
  if (options.standardFinalizersOnly === false || finalizers === undefined) return []
  const path = joinPath(options.path ?? 'metadata', 'finalizers')
  return finalizers.flatMap((finalizer, i) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)
      ? []
      : [invalid(`${path}[${i}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')],
  )
}

/** Said of finalizers without a domain, where one is not asked for, when they are added. */
export function finalizerWarnings({ finalizers = [] }: ObjectMeta, old?: ObjectMeta): readonly string[] {
  return finalizers
    .filter(
      (name) => !name.includes('/') && !STANDARD_FINALIZERS.includes(name) && old?.finalizers?.includes(name) !== true,
    )
    .map(
      (name) =>
        `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    )
}

/** Rules of metadata at an update: what may not change, then those of what may. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = []
  const at = (field: string) => joinPath(path, field)
  validateFinalizers(meta.finalizers, at('finalizers'), errors)
  if (old.deletionTimestamp !== undefined)
    validateNoNewFinalizers(meta.finalizers, old.finalizers, at('finalizers'), errors)
  if (!meta.resourceVersion) errors.push(invalid(at('resourceVersion'), '', 'must be specified for an update'))
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalid(at('generation'), meta.generation ?? 0, 'must not be decremented'))
  for (const field of IMMUTABLE_META) {
    // An empty text is an absent one; a grace period of 0 is not.
    if ((meta[field] === '' ? undefined : meta[field]) !== (old[field] === '' ? undefined : old[field]))
      errors.push(invalid(at(field), meta[field] ?? (ZERO_IS_TEXT.has(field) ? '' : null), IMMUTABLE))
  }
  validateLabels(meta.labels, at('labels'), errors)
  validateAnnotations(meta.annotations, at('annotations'), errors)
  validateOwnerReferences(meta.ownerReferences, at('ownerReferences'), errors)
  validateManagedFields(meta, at('managedFields'), errors)
  return errors
}

const IMMUTABLE_META = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const
const ZERO_IS_TEXT: ReadonlySet<string> = new Set(['name', 'namespace', 'uid'])

export function validateAnnotations(annotations: ObjectMeta['annotations'], path: string, errors: FieldError[]): void {
  if (!annotations) return
  let size = 0
  for (const key of Object.keys(annotations)) {
    const value = annotations[key]!
    for (const message of qualifiedName(key.toLowerCase())) errors.push(invalid(path, key, message))
    size += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (size > TOTAL_ANNOTATION_BYTES) errors.push(tooLong(path, TOTAL_ANNOTATION_BYTES))
}

function validateOwnerReferences(
  references: readonly OwnerReference[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (!references?.length) return
  let firstController: string | undefined
  references.forEach((reference, i) => {
    const at = `${path}[${i}]`
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const)
      if (!reference[field]) errors.push(required(`${at}.${field}`, 'must not be empty'))
      else if (field === 'apiVersion' && reference.apiVersion.split('/').length > 2)
        errors.push(invalid(`${at}.apiVersion`, reference.apiVersion, 'must be <group>/<version> or <version>'))
    if (reference.apiVersion === 'v1' && reference.kind === 'Event')
      errors.push(invalid(at, printableReference(reference), '/v1, Kind=Event is disallowed from being an owner'))
  })
  for (const reference of references) {
    if (!reference.controller) continue
    const name = `${reference.kind}/${reference.name}`
    if (firstController === undefined) firstController = name
    else
      errors.push(
        invalid(
          path,
          references.map(printableReference),
          `Only one reference can have Controller set to true. Found "true" in references for ${firstController} and ${name}`,
        ),
      )
  }
}

function printableReference(reference: OwnerReference): { readonly [key: string]: Json | undefined } {
  const { apiVersion = '', kind = '', name = '', uid = '', controller, blockOwnerDeletion } = reference
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  }
}

function validateFinalizers(finalizers: readonly string[] | undefined, path: string, errors: FieldError[]): void {
  if (!finalizers?.length) return
  for (const finalizer of finalizers)
    for (const message of qualifiedName(finalizer)) errors.push(invalid(path, finalizer, message))
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
}

function validateNoNewFinalizers(
  finalizers: readonly string[] | undefined,
  old: readonly string[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  const added = [...new Set(finalizers ?? [])].filter((f) => !old?.includes(f)).sort()
  if (added.length > 0)
    errors.push(
      forbiddenField(
        path,
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(goQuote).join(', ')}}`,
      ),
    )
}

function validateManagedFields(meta: ObjectMeta, path: string, errors: FieldError[]): void {
  meta.managedFields?.forEach((entry, i) => {
    const at = `${path}[${i}]`
    const operation: string = entry.operation ?? ''
    if (operation !== 'Apply' && operation !== 'Update')
      errors.push(invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`'))
    const fieldsType: string = entry.fieldsType ?? ''
    if (fieldsType !== '' && fieldsType !== 'FieldsV1')
      errors.push(invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'))
    errors.push(...validateFieldManager(entry.manager ?? '', `${at}.manager`))
    if (Buffer.byteLength(entry.subresource ?? '') > 256) errors.push(tooLong(`${at}.subresource`, 256))
  })
}

/** The name of a field manager, in an entry or in a request's options. */
function validateFieldManager(manager: string, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (Buffer.byteLength(manager) > 128) errors.push(tooLong(path, 128))
  let i = 0
  for (const c of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(c)) {
      errors.push(invalid(path, manager, `should only contain printable characters (at position ${i})`))
    }
    i += Buffer.byteLength(c)
  }
  return errors
}

/** Metadata of an object that is only to be made has labels and annotations, and nothing else. */
export function validateMetadataToCome(metadata: Fields, path: string, errors: FieldError[]): void {
  for (const field of Object.keys(metadata).sort()) {
    const value: unknown = metadata[field]
    if (field === 'labels' || field === 'annotations' || value === undefined || value === '') continue
    errors.push(forbiddenField(`${path}.${field === 'uid' ? 'uID' : field}`, 'cannot be set'))
  }
}
