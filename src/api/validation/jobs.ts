/** Job: its spec (which CronJob's template shares), what may change of it, and its status. */
import { type FieldError, invalid, notSupported, required, tooLong } from '../errors/field-errors.ts'
import type { Container, Job, JobSpec, JobStatus, NodeAffinity, PodSpec, PodTemplateSpec } from '../generated/types.ts'
import { dns1123Label } from '../names/name-formats.ts'
import type { Fields, Json } from '../object.ts'
import { same } from './common.ts'
import { domainPrefixedPath } from './ingress-and-network-policy.ts'
import { internalForm } from './internal.ts'
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policies.ts'
import { isUsableSelector, printableMap, printableSelector, validateLabelSelector } from './labels.ts'
import {
  immutableSelector,
  labelsMismatch,
  nonNegativeField,
  selectorFits,
  templateLabels,
  validatePodTemplateSpec,
} from './templates.ts'

const MAX_INDEXED = 100_000
const MAX_PARALLEL = 100_000

export function validateJob(object: Job): FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<JobSpec> = object.spec ?? {}
  validateGeneratedSelector(object, errors)
  validateJobSpec(spec, 'spec', errors)
  validateSelector(spec, 'spec', errors)
  validatePodHostname(object, errors)
  return errors
}

/** The pods of an indexed job are named after it and their index, and so are their hosts. */
function validatePodHostname(job: Job, errors: FieldError[]): void {
  const spec: Partial<JobSpec> = job.spec ?? {}
  if (spec.completionMode !== 'Indexed' || !((spec.completions ?? 0) > 0)) return
  const name = job.metadata.name ?? ''
  const host = `${name}-${(spec.completions ?? 0) - 1}`
  if (dns1123Label(host).length)
    errors.push(invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${host}`))
}

function validateSelector(spec: Partial<JobSpec>, path: string, errors: FieldError[]): void {
  const selector: Fields | undefined = spec.selector ?? undefined
  if (!selector) errors.push(required(`${path}.selector`))
  else validateLabelSelector(selector, `${path}.selector`, errors)
  if ((!selector || isUsableSelector(selector)) && !selectorFits(selector, spec.template))
    errors.push(labelsMismatch(spec.template, `${path}.template`))
}

/** The labels and the selector that the server makes must be what it made. */
function validateGeneratedSelector(job: Job, errors: FieldError[]): void {
  const spec: Partial<JobSpec> = job.spec ?? {}
  if (spec.manualSelector === true) return
  const selector = spec.selector ?? undefined
  if (!selector) return
  const labels = templateLabels(spec.template) ?? {}
  const { name = '', uid = '' } = job.metadata
  const expect = (key: string, value: string) => {
    const at = `spec.template.metadata.labels[${key}]`
    if (!Object.hasOwn(labels, key)) errors.push(required(at, `must be '${value}'`))
    else if (labels?.[key] !== value) errors.push(invalid(at, printableMap(labels), `must be '${value}'`))
  }
  expect('batch.kubernetes.io/controller-uid', uid)
  expect('batch.kubernetes.io/job-name', name)
  expect('controller-uid', uid)
  expect('job-name', name)
  if (isUsableSelector(selector) && !same(selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } }))
    errors.push(invalid('spec.selector', printableSelector(selector), '`selector` not auto-generated'))
}

/** JobSpec without its selector. */
export function validateJobSpec(spec: Partial<JobSpec>, path: string, errors: FieldError[]): void {
  const at = (field: string) => `${path}.${field}`
  const completions: number | undefined = spec.completions ?? undefined
  const parallelism: number | undefined = spec.parallelism ?? undefined
  nonNegativeField(parallelism, at('parallelism'), errors)
  nonNegativeField(completions, at('completions'), errors)
  nonNegativeField(spec.activeDeadlineSeconds, at('activeDeadlineSeconds'), errors)
  nonNegativeField(spec.backoffLimit, at('backoffLimit'), errors)
  nonNegativeField(spec.ttlSecondsAfterFinished, at('ttlSecondsAfterFinished'), errors)
  nonNegativeField(spec.backoffLimitPerIndex, at('backoffLimitPerIndex'), errors)
  nonNegativeField(spec.maxFailedIndexes, at('maxFailedIndexes'), errors)
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(at('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'))
  const manager: string | undefined = spec.managedBy ?? undefined
  if (manager !== undefined) {
    domainPrefixedPath(manager, at('managedBy'), errors)
    if (manager.length > 63) errors.push(tooLong(at('managedBy'), 63))
  }
  const mode: string | undefined = spec.completionMode ?? undefined
  if (mode !== undefined) validateCompletionMode(spec, mode, path, errors)
  if (mode === undefined || mode === 'NonIndexed') refuseIndexLimits(spec, path, errors)
  if (mode === 'Indexed') validateIndexLimits(spec, path, errors)
  if (spec.podFailurePolicy) validatePodFailurePolicy(spec, at('podFailurePolicy'), errors)
  if (spec.successPolicy) validateSuccessPolicy(spec, at('successPolicy'), errors)
  validateReplacementPolicy(spec, at('podReplacementPolicy'), errors)
  validatePodTemplateSpec(spec.template ?? {}, at('template'), errors)
  const restart: string = spec.template?.spec?.restartPolicy ?? ''
  const restartPath = at('template.spec.restartPolicy')
  if (restart === '' || restart === 'Always') errors.push(required(restartPath, 'valid values: "OnFailure", "Never"'))
  else if (restart !== 'OnFailure' && restart !== 'Never')
    errors.push(notSupported(restartPath, restart, ['OnFailure', 'Never']))
  else if (spec.podFailurePolicy && restart !== 'Never')
    errors.push(invalid(restartPath, restart, 'only "Never" is supported when podFailurePolicy is specified'))
}

function validateCompletionMode(spec: Partial<JobSpec>, mode: string, path: string, errors: FieldError[]): void {
  const at = (field: string) => `${path}.${field}`
  if (mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(notSupported(at('completionMode'), mode, ['NonIndexed', 'Indexed']))
    return
  }
  if (mode !== 'Indexed') return
  const completions: number | undefined = spec.completions ?? undefined
  if (completions === undefined) errors.push(required(at('completions'), 'when completion mode is Indexed'))
}

/** Limits by index want indexes. */
function refuseIndexLimits(spec: Partial<JobSpec>, path: string, errors: FieldError[]): void {
  const { backoffLimitPerIndex: perIndex, maxFailedIndexes: failed } = spec
  for (const [field, value] of Object.entries({ backoffLimitPerIndex: perIndex, maxFailedIndexes: failed }))
    if (value !== undefined) errors.push(invalid(`${path}.${field}`, value, 'requires indexed completion mode'))
}

/** Pods at a time, and failed indexes, of more indexes than MAX_INDEXED with a backoff limit each. */
const MAX_OF_MANY = 10_000

function validateIndexLimits(spec: Partial<JobSpec>, path: string, errors: FieldError[]): void {
  const at = (field: string) => `${path}.${field}`
  const { completions, parallelism, maxFailedIndexes: failed, backoffLimitPerIndex: perIndex } = spec
  if ((parallelism ?? 0) > MAX_PARALLEL)
    errors.push(
      invalid(
        at('parallelism'),
        parallelism,
        `must be less than or equal to ${MAX_PARALLEL} when completion mode is Indexed`,
      ),
    )
  if (perIndex !== undefined && failed === undefined && (completions ?? 0) > MAX_INDEXED)
    errors.push(required(at('maxFailedIndexes'), `must be specified when completions is above ${MAX_INDEXED}`))
  if (failed !== undefined) {
    if (completions !== undefined && failed > completions)
      errors.push(invalid(at('maxFailedIndexes'), failed, 'must be less than or equal to completions'))
    if (failed > MAX_INDEXED)
      errors.push(invalid(at('maxFailedIndexes'), failed, `must be less than or equal to ${MAX_INDEXED}`))
  }
  if (perIndex === undefined || (completions ?? 0) <= MAX_INDEXED) return
  for (const [field, value = 0] of Object.entries({ parallelism, maxFailedIndexes: failed }))
    if (value > MAX_OF_MANY)
      errors.push(
        invalid(
          at(field),
          value,
          `must be less than or equal to ${MAX_OF_MANY} when completions are above ${MAX_INDEXED} and used with backoff limit per index`,
        ),
      )
}

function validateReplacementPolicy(spec: Partial<JobSpec>, path: string, errors: FieldError[]): void {
  const policy: string | undefined = spec.podReplacementPolicy ?? undefined
  if (policy === undefined) return
  if (spec.podFailurePolicy) {
    if (policy !== 'Failed') errors.push(notSupported(path, policy, ['Failed']))
  } else if (policy !== 'Failed' && policy !== 'TerminatingOrFailed')
    errors.push(notSupported(path, policy, ['Failed', 'TerminatingOrFailed']))
}

export function validateJobUpdate(object: Job, old: Job): FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<JobSpec> = object.spec ?? {}
  const before: Partial<JobSpec> = old.spec ?? {}
  validateJobSpec(spec, 'spec', errors)
  validateSelector(spec, 'spec', errors)
  validateCompletions(spec, before, errors)
  immutableSelector(spec.selector, before.selector, errors)
  validateTemplateUpdate(spec, before, old.status ?? {}, errors)
  for (const field of [
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ] as const)
    if (!same(spec?.[field], before?.[field])) errors.push(immutableField(field, spec?.[field]))
  return errors
}

const DEFINITIONS: Readonly<Record<string, string>> = {
  podFailurePolicy: 'io.k8s.api.batch.v1.PodFailurePolicy',
  successPolicy: 'io.k8s.api.batch.v1.SuccessPolicy',
}

function immutableField(field: string, value: Json | undefined): FieldError {
  const definition = DEFINITIONS[field]
  const printed = definition && value ? internalForm(definition, value as Fields) : (value ?? null)
  return invalid(`spec.${field}`, printed, 'field is immutable')
}

/** An indexed job is resized by changing completions and parallelism together. */
function validateCompletions(spec: Partial<JobSpec>, old: Partial<JobSpec>, errors: FieldError[]): void {
  if (spec.completions === old.completions) return
  const indexed = spec.completionMode === 'Indexed'
  if (indexed && spec.completions !== undefined) {
    if (spec.completions !== spec.parallelism)
      errors.push(invalid('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'))
  } else errors.push(immutableField('completions', spec.completions))
}

const TEMPLATE = 'io.k8s.api.core.v1.PodTemplateSpec'
const POD_SPEC = 'io.k8s.api.core.v1.PodSpec'

/** Where a suspended job's pods will run may still change before any has started (KEP-2926). */
function validateTemplateUpdate(
  spec: Partial<JobSpec>,
  old: Partial<JobSpec>,
  status: JobStatus,
  errors: FieldError[],
): void {
  const now: PodTemplateSpec = spec.template ?? {}
  const before: PodTemplateSpec = old.template ?? {}
  const movable = old.suspend === true && status.startTime === undefined
  if (!movable) {
    if (!same(now, before)) errors.push(invalid('spec.template', internalForm(TEMPLATE, now), 'field is immutable'))
    return
  }
  const podSpec: Record<string, unknown> = { ...now.spec }
  const oldSpec: Partial<PodSpec> = before.spec ?? {}
  const restore = (field: string, value: unknown) => {
    if (value === undefined) delete podSpec[field]
    else podSpec[field] = value
  }
  for (const field of ['nodeSelector', 'tolerations', 'schedulingGates'] as const) restore(field, oldSpec[field])
  const { nodeAffinity: _, ...others } = now.spec?.affinity ?? {}
  const nodeAffinity: NodeAffinity | undefined = oldSpec.affinity?.nodeAffinity
  const affinity = nodeAffinity === undefined ? others : { ...others, nodeAffinity }
  restore('affinity', Object.keys(affinity).length === 0 ? oldSpec.affinity && {} : affinity)
  restore('containers', withResourcesOf(now.spec?.containers, oldSpec.containers))
  restore('initContainers', withResourcesOf(now.spec?.initContainers, oldSpec.initContainers))
  if (!same(podSpec, oldSpec))
    errors.push(invalid('spec.template.spec', internalForm(POD_SPEC, podSpec), 'field is immutable'))
}

function withResourcesOf(
  now: readonly Container[] | undefined,
  before: readonly Container[] | undefined,
): readonly Fields[] | undefined {
  return now?.map((container, i) => {
    const same = before?.[i]?.name === container.name ? before?.[i] : undefined
    return same ? { ...container, resources: same.resources } : container
  })
}
