/** StatefulSet. */
import { type FieldError, invalid, invalidChoice, notSupported, required } from '../errors/field-errors.ts'
import type {
  PersistentVolumeClaim,
  PodTemplateSpec,
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from '../generated/types.ts'
import { dns1123Label } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { asGiven } from '../schema/canonical.ts'
import { IMMUTABLE, same } from './common.ts'
import { internalForm } from './internal.ts'
import { isUsableSelector } from './labels.ts'
import { persistentVolumeClaimSpec } from './persistent-volume-claim.ts'
import {
  amountOfIntOrPercent,
  collisionCount,
  immutableSelector,
  intOrPercent,
  nonNegativeCounts,
  nonNegativeField,
  notMoreThanAll,
  validateRestartAlways,
  validateSelectorAndTemplate,
} from './templates.ts'

const STRATEGY = 'io.k8s.api.apps.v1.StatefulSetUpdateStrategy'
const RETENTION = ['Retain', 'Delete']

export function validateStatefulSet(object: StatefulSet, old?: StatefulSet): FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<StatefulSetSpec> = object.spec ?? {}
  const policy: string = spec.podManagementPolicy ?? ''
  if (policy === '') errors.push(required('spec.podManagementPolicy'))
  else if (policy !== 'OrderedReady' && policy !== 'Parallel')
    errors.push(invalidChoice('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"))
  validateUpdateStrategy(spec.updateStrategy ?? {}, errors)
  validateRetention(spec.persistentVolumeClaimRetentionPolicy, errors)
  if (!old) validateClaimTemplates(spec.volumeClaimTemplates ?? [], errors)
  nonNegativeField(spec.replicas, 'spec.replicas', errors)
  nonNegativeField(spec.minReadySeconds, 'spec.minReadySeconds', errors)
  nonNegativeField(spec.ordinals?.start, 'spec.ordinals.start', errors)
  if (!old && spec.serviceName)
    for (const message of dns1123Label(spec.serviceName))
      errors.push(invalid('spec.serviceName', spec.serviceName, message))
  validateSelectorAndTemplate(
    { ...spec, template: withClaimVolumes(spec) },
    { emptyOf: 'statefulset', owner: 'StatefulSet', unusable: '' },
    'spec',
    errors,
  )
  // Of a template that cannot be told to fit its selector how its pods restart is judged all the same.
  if (spec.selector && !isUsableSelector(spec.selector))
    validateRestartAlways(spec.template ?? {}, 'StatefulSet', 'spec.template', errors)
  if (old) validateImmutableFields(spec, old.spec ?? {}, errors)
  return errors
}

/** The template as its pods will be: every claim is a volume of its name, before those of its own with other names. */
function withClaimVolumes(spec: Partial<StatefulSetSpec>): Fields {
  const template: PodTemplateSpec = spec.template ?? {}
  const claims: readonly PersistentVolumeClaim[] = spec.volumeClaimTemplates ?? []
  if (claims.length === 0) return template
  const names = new Map<string, Fields>()
  for (const claim of claims) {
    const name: string = claim.metadata?.name ?? ''
    names.set(name, { name, persistentVolumeClaim: { claimName: name } })
  }
  const own = (template.spec?.volumes ?? []).filter((v) => !names.has(v.name ?? ''))
  return { ...template, spec: { ...template.spec, volumes: [...names.values(), ...own] } }
}

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, errors: FieldError[]): void {
  const path = 'spec.updateStrategy'
  const rolling: Fields | undefined = strategy.rollingUpdate ?? undefined
  const type: string = strategy.type ?? ''
  if (type === '') errors.push(required(path))
  else if (type === 'OnDelete') {
    if (rolling)
      errors.push(
        invalid(
          `${path}.rollingUpdate`,
          internalForm('io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy', rolling),
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      )
  } else if (type === 'RollingUpdate') {
    if (!rolling) return
    const at = `${path}.rollingUpdate`
    nonNegativeField(rolling['partition'], `${at}.partition`, errors)
    const unavailable: number | string | undefined = rolling['maxUnavailable'] ?? undefined
    if (unavailable === undefined) return
    intOrPercent(unavailable, `${at}.maxUnavailable`, errors)
    if (amountOfIntOrPercent(unavailable) === 0)
      errors.push(invalid(`${at}.maxUnavailable`, unavailable, 'cannot be 0'))
    notMoreThanAll(unavailable, `${at}.maxUnavailable`, errors)
  } else errors.push(invalid(path, internalForm(STRATEGY, strategy), "must be 'RollingUpdate' or 'OnDelete'"))
}

function validateRetention(
  policy: StatefulSetPersistentVolumeClaimRetentionPolicy | undefined,
  errors: FieldError[],
): void {
  if (!policy) return
  for (const field of ['whenDeleted', 'whenScaled'] as const)
    if (!RETENTION.includes(policy[field] ?? ''))
      errors.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${field}`, policy[field] ?? '', RETENTION))
}

function validateClaimTemplates(claims: readonly PersistentVolumeClaim[], errors: FieldError[]): void {
  claims.forEach((claim, i) => {
    persistentVolumeClaimSpec(claim.spec ?? {}, `spec.volumeClaimTemplates[${i}].spec`, errors, { root: claim })
  })
}

/** What a stateful set is cannot change under its pods. */
function validateImmutableFields(
  spec: Partial<StatefulSetSpec>,
  old: Partial<StatefulSetSpec>,
  errors: FieldError[],
): void {
  immutableSelector(spec.selector, old.selector, errors)
  const claims: readonly PersistentVolumeClaim[] = spec.volumeClaimTemplates ?? []
  if (!same(claims, old.volumeClaimTemplates))
    errors.push(
      invalid(
        'spec.volumeClaimTemplates',
        claims.length > 0
          ? claims.map((claim) => internalForm('io.k8s.api.core.v1.PersistentVolumeClaim', withoutKind(claim)))
          : asGiven(spec, 'volumeClaimTemplates', []),
        IMMUTABLE,
      ),
    )
  for (const field of ['serviceName', 'podManagementPolicy'] as const)
    if ((spec[field] ?? '') !== (old[field] ?? '')) errors.push(invalid(`spec.${field}`, spec[field] ?? '', IMMUTABLE))
}

function withoutKind({ kind: _, apiVersion: __, ...claim }: PersistentVolumeClaim): Fields {
  return claim
}

export function validateStatefulSetStatus(object: StatefulSet, old: StatefulSet): FieldError[] {
  const errors: FieldError[] = []
  const status: Partial<StatefulSetStatus> = object.status ?? {}
  nonNegativeCounts(
    status,
    [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    errors,
  )
  const replicas: number = status.replicas ?? 0
  for (const field of ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const)
    if ((status?.[field] ?? 0) > replicas)
      errors.push(invalid(`status.${field}`, status?.[field] ?? 0, 'cannot be greater than status.replicas'))
  if ((status.availableReplicas ?? 0) > (status.readyReplicas ?? 0))
    errors.push(
      invalid('status.availableReplicas', status.availableReplicas, 'cannot be greater than status.readyReplicas'),
    )
  collisionCount(status, old, errors)
  return errors
}

export function statefulSetWarnings(object: StatefulSet): string[] {
  const limit: number | undefined = object.spec?.revisionHistoryLimit
  return limit !== undefined && limit < 0
    ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
    : []
}
