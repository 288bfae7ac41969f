/**
 * The options of a request, from its query or body: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions, ListOptions,
 * GetOptions, with the validation and the error texts of apimachinery's meta/v1.
 */

import {
  type FieldError,
  forbiddenField,
  invalid,
  invalidError,
  notSupported,
  required,
  tooLong,
} from '../../api/errors/field-errors.ts'
import { type FieldTerm, parseFieldSelector } from '../../api/objects/field-selector.ts'
import {
  type CompiledSelector,
  everything,
  parseLabelSelector,
  SelectorError,
} from '../../api/objects/label-selector.ts'
import { badRequest } from '../../api/status.ts'
import type { DeleteOptions } from '../registry/strategy.ts'
import { isQueryTrue } from '../request/info.ts'

export interface WriteQuery {
  readonly kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore'
  /** Server-side apply only. */
  readonly force?: boolean
}

export interface ListQuery {
  readonly labels: CompiledSelector
  readonly fields: readonly FieldTerm[]
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly limit: number
  readonly continue: string
  readonly watch: boolean
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number | undefined
}

const META = 'meta.k8s.io'

function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length) throw invalidError({ group: META, kind }, '', errors)
}

/** As Go's strconv.ParseInt(text, 10, 64). @throws StatusError 400 */
export function int64Parameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = BigInt(text.replace(/^\+/, ''))
  if (value !== BigInt.asIntN(64, value))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return Number(value)
}

function dryRunErrors(values: readonly string[], errors: FieldError[]): void {
  if (values.some((value) => value !== 'All')) errors.push(notSupported('dryRun', values as string[], ['All']))
}

/** Characters. */
const MOST_SAID = 100_000

function fieldManagerErrors(fieldManager: string, errors: FieldError[]): void {
  if (Buffer.byteLength(fieldManager) > 128) errors.push(tooLong('fieldManager', 128))
  let position = 0
  for (const character of fieldManager) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalid('fieldManager', fieldManager, `invalid character U+${code} (at position ${position})`))
      // Each error says the whole name again.
      if (errors.length * fieldManager.length > MOST_SAID) return
    }
    position += Buffer.byteLength(character)
  }
}

/** @throws StatusError 422 naming the option */
export function writeOptions(kind: WriteQuery['kind'], query: URLSearchParams, apply = false): WriteQuery {
  if (query.size === 0 && !apply) return defaults[kind]
  const dryRun = query.getAll('dryRun')
  const fieldManager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  const force = query.get('force')
  const errors: FieldError[] = []
  if (kind === 'PatchOptions') {
    if (apply && fieldManager === '') errors.push(required('fieldManager', 'is required for apply patch'))
    if (!apply && force !== null) errors.push(forbiddenField('force', 'may not be specified for non-apply patch'))
  }
  fieldManagerErrors(fieldManager, errors)
  dryRunErrors(dryRun, errors)
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation))
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  refuse(kind, errors)
  return {
    kind,
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as 'Strict' | 'Warn' | 'Ignore'),
    ...(force === null ? {} : { force: isQueryTrue(force) }),
  }
}

const plain = (kind: WriteQuery['kind']): WriteQuery => ({
  kind,
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
})
const defaults: Readonly<Record<WriteQuery['kind'], WriteQuery>> = {
  CreateOptions: plain('CreateOptions'),
  UpdateOptions: plain('UpdateOptions'),
  PatchOptions: plain('PatchOptions'),
}

/** Options of a delete without a body; what must be true of the object stands among them. @throws StatusError 400 */
export function deleteOptionsOfQuery(query: URLSearchParams): DeleteOptions {
  if (query.size === 0) return {}
  const gracePeriodSeconds = int64Parameter(query, 'gracePeriodSeconds')
  const orphan = query.get('orphanDependents')
  const policy = query.get('propagationPolicy')
  const dryRun = query.getAll('dryRun')
  const uid = query.get('uid')
  const resourceVersion = query.get('resourceVersion')
  const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
  return {
    ...(uid || resourceVersion ? { preconditions } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(orphan === null ? {} : { orphanDependents: isQueryTrue(orphan) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(isQueryTrue(query.get('ignoreStoreReadErrorWithClusterBreakingPotential'))
      ? { ignoreStoreReadErrorWithClusterBreakingPotential: true }
      : {}),
  }
}

/** What an object that cannot be read has none of cannot be asked of its deletion, nor can many be deleted so at once. */
function unsafeDeleteErrors(options: DeleteOptions, collection: boolean, errors: FieldError[]): void {
  const wrong = (message: string) =>
    errors.push(invalid('ignoreStoreReadErrorWithClusterBreakingPotential', true, message))
  for (const name of ['propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const)
    if (options[name] !== undefined) wrong(`cannot be set together with .${name}`)
  if (collection) wrong('is not allowed with DELETECOLLECTION, try again after removing the option')
}

/** @throws StatusError 422 */
export function validateDeleteOptions(options: DeleteOptions, collection = false): void {
  const errors: FieldError[] = []
  const { propagationPolicy, orphanDependents, dryRun } = options
  if (propagationPolicy !== undefined && orphanDependents !== undefined)
    errors.push(
      invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'),
    )
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy))
    errors.push(notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']))
  dryRunErrors(dryRun ?? [], errors)
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) unsafeDeleteErrors(options, collection, errors)
  refuse('DeleteOptions', errors)
}

/**
 * Options of a list, a watch or a deletecollection.
 *
 * @throws StatusError 400 for what cannot be read, 422 for what is not allowed
 */
export function listOptions(query: URLSearchParams): ListQuery {
  if (query.size === 0) return noListOptions
  const initial = query.get('sendInitialEvents')
  // What cannot be read is told of in this order, before what is not allowed.
  const timeoutSeconds = int64Parameter(query, 'timeoutSeconds')
  const limit = int64Parameter(query, 'limit') ?? 0
  const options: ListQuery = {
    ...selectorsOf(query),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit,
    continue: query.get('continue') ?? '',
    watch: isQueryTrue(query.get('watch')),
    allowWatchBookmarks: isQueryTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: initial === null ? undefined : isQueryTrue(initial),
    timeoutSeconds,
  }
  refuse('ListOptions', listOptionErrors(options))
  return options
}

/** @throws StatusError 400 */
function selectorsOf(query: URLSearchParams): Pick<ListQuery, 'labels' | 'fields'> {
  const labels = query.get('labelSelector') ?? ''
  const fields = query.get('fieldSelector') ?? ''
  try {
    return {
      labels: labels === '' ? everything : parseLabelSelector(labels),
      fields: fields === '' ? [] : parseFieldSelector(fields),
    }
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message, error)
    throw error
  }
}

const noListOptions: ListQuery = {
  labels: everything,
  fields: [],
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
  watch: false,
  allowWatchBookmarks: false,
  sendInitialEvents: undefined,
  timeoutSeconds: undefined,
}

/** KEP-2523 (resourceVersionMatch) and KEP-3157 (sendInitialEvents). */
function listOptionErrors(options: ListQuery): FieldError[] {
  const { resourceVersionMatch: match, watch, sendInitialEvents } = options
  const errors: FieldError[] = []
  const field = 'resourceVersionMatch'
  if (watch) {
    if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
      errors.push(forbiddenField(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
    if (match !== '') {
      if (sendInitialEvents === undefined)
        errors.push(
          forbiddenField(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
        )
      if (match !== 'NotOlderThan') errors.push(notSupported(field, match, ['NotOlderThan']))
    }
    // A watch that begins with what there is, and does not say so, is taken for one of NotOlderThan.
    const isImplied = match === '' && sendInitialEvents === undefined && ['', '0'].includes(options.resourceVersion)
    if (options.continue !== '' && (match !== '' || isImplied))
      errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'))
    return errors
  }
  if (match !== '') matchErrors(options, errors)
  if (sendInitialEvents !== undefined)
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return errors
}

function matchErrors(options: ListQuery, errors: FieldError[]): void {
  const { resourceVersionMatch: match, resourceVersion } = options
  const field = 'resourceVersionMatch'
  if (resourceVersion === '')
    errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
  if (options.continue !== '')
    errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'))
  if (match !== 'Exact' && match !== 'NotOlderThan')
    errors.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']))
  if (match === 'Exact' && resourceVersion === '0')
    errors.push(forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
}
