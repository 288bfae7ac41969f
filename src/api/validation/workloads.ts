/** Deployment, ReplicaSet, ReplicationController, PodTemplate and ControllerRevision. `old` is given at an update. */

import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type {
  ControllerRevision,
  Deployment,
  DeploymentStatus,
  PodTemplate,
  PodTemplateSpec,
  ReplicaSet,
  ReplicaSetStatus,
  ReplicationController,
} from '../generated/types.ts'
import type { Fields, Given, KubeObject } from '../object.ts'
import { ROLLBACK_TO } from '../objects/annotated-fields.ts'
import { parseInt64 } from '../objects/integers.ts'
import { labelSelectorOf } from '../objects/label-selector.ts'
import { jsonText } from '../values/json.ts'
import { IMMUTABLE, isEmpty } from './common.ts'
import { internalForm } from './internal.ts'
import {
  amountOfIntOrPercent,
  collisionCount,
  immutableSelector,
  intOrPercent,
  labelsMismatch,
  nonNegativeCounts,
  nonNegativeField,
  notMoreThanAll,
  templateLabels,
  validatePodTemplateSpec,
  validateRunningTemplate,
  validateSelectorAndTemplate,
} from './templates.ts'

const specOf = (object: Deployment | ReplicaSet | ReplicationController): Fields => object.spec ?? {}

export function validateDeployment(object: Deployment, old?: Deployment): FieldError[] {
  const errors: FieldError[] = []
  const spec = specOf(object)
  nonNegativeField(spec['replicas'], 'spec.replicas', errors)
  validateSelectorAndTemplate(
    spec,
    { emptyOf: 'deployment', owner: 'ReplicaSet', unusable: 'invalid label selector' },
    'spec',
    errors,
  )
  validateDeploymentStrategy(spec['strategy'] ?? {}, 'spec.strategy', errors)
  nonNegativeField(spec['minReadySeconds'], 'spec.minReadySeconds', errors)
  nonNegativeField(spec['revisionHistoryLimit'], 'spec.revisionHistoryLimit', errors)
  nonNegativeField(parseInt64(object.metadata.annotations?.[ROLLBACK_TO]), 'spec.rollback.version', errors)
  const deadline: number | undefined = spec['progressDeadlineSeconds'] ?? undefined
  if (deadline !== undefined) {
    nonNegativeField(deadline, 'spec.progressDeadlineSeconds', errors)
    if (deadline <= (spec['minReadySeconds'] ?? 0))
      errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'))
  }
  if (old) immutableSelector(spec['selector'], specOf(old)['selector'], errors)
  return errors
}

function validateDeploymentStrategy(strategy: Fields, path: string, errors: FieldError[]): void {
  const rolling: Fields | undefined = strategy['rollingUpdate'] ?? undefined
  if (strategy['type'] === 'Recreate') {
    if (rolling)
      errors.push(forbiddenField(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"))
  } else if (strategy['type'] === 'RollingUpdate') {
    const at = `${path}.rollingUpdate`
    if (!rolling) return void errors.push(required(at, 'this should be defaulted and never be nil'))
    intOrPercent(rolling['maxUnavailable'], `${at}.maxUnavailable`, errors)
    intOrPercent(rolling['maxSurge'], `${at}.maxSurge`, errors)
    if (amountOfIntOrPercent(rolling['maxUnavailable']) === 0 && amountOfIntOrPercent(rolling['maxSurge']) === 0)
      errors.push(invalid(`${at}.maxUnavailable`, rolling['maxUnavailable'] ?? 0, 'may not be 0 when `maxSurge` is 0'))
    notMoreThanAll(rolling['maxUnavailable'], `${at}.maxUnavailable`, errors)
  } else
    errors.push(
      notSupportedValue(path, internalForm('io.k8s.api.apps.v1.DeploymentStrategy', strategy), [
        'Recreate',
        'RollingUpdate',
      ]),
    )
}

/** An unsupported value that is a struct. */
function notSupportedValue(
  path: string,
  value: ReturnType<typeof internalForm>,
  supported: readonly string[],
): FieldError {
  return notSupported(path, value, supported)
}

export function validateDeploymentStatus(object: Deployment, old: Deployment): FieldError[] {
  const errors: FieldError[] = []
  const status: DeploymentStatus = object.status ?? {}
  nonNegativeCounts(
    status,
    [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
    ],
    errors,
  )
  nonNegativeField(status.collisionCount, 'status.collisionCount', errors)
  notMoreThanReplicas(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], errors)
  const { availableReplicas = 0, readyReplicas = 0 } = status
  if (availableReplicas > readyReplicas)
    errors.push(invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas'))
  collisionCount(status, old, errors)
  return errors
}

function notMoreThanReplicas(status: Fields, fields: readonly string[], errors: FieldError[]): void {
  for (const field of fields)
    if ((status[field] ?? 0) > (status['replicas'] ?? 0))
      errors.push(invalid(`status.${field}`, status[field] ?? 0, 'cannot be greater than status.replicas'))
}

export function validateReplicaSet(object: ReplicaSet, old?: ReplicaSet): FieldError[] {
  const errors: FieldError[] = []
  const spec = specOf(object)
  nonNegativeField(spec['replicas'], 'spec.replicas', errors)
  nonNegativeField(spec['minReadySeconds'], 'spec.minReadySeconds', errors)
  validateSelectorAndTemplate(
    spec,
    { emptyOf: 'deployment', owner: 'ReplicaSet', unusable: 'invalid label selector' },
    'spec',
    errors,
  )
  if (old) immutableSelector(spec['selector'], specOf(old)['selector'], errors)
  return errors
}

const REPLICA_COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
]

export function validateReplicaSetStatus(object: ReplicaSet | ReplicationController, _old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const status: Partial<ReplicaSetStatus> = object.status ?? {}
  nonNegativeCounts(status, REPLICA_COUNTS, errors)
  notMoreThanReplicas(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], errors)
  const { availableReplicas = 0, readyReplicas = 0 } = status
  if (availableReplicas > readyReplicas)
    errors.push(invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas'))
  return errors
}

export function validateReplicationController(object: ReplicationController, _old?: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = specOf(object)
  if (isEmpty(spec['selector'])) errors.push(required('spec.selector'))
  if (!spec['template']) errors.push(required('spec.template'))
  if (spec['replicas'] === undefined || spec['replicas'] === null) errors.push(required('spec.replicas'))
  const template: PodTemplateSpec | undefined = spec['template'] ?? undefined
  if (template) {
    const selector: Fields = spec['selector'] ?? {}
    if (!isEmpty(selector) && !labelSelectorOf({ matchLabels: selector }).matches(templateLabels(template) ?? {}))
      errors.push(labelsMismatch(template, 'spec.template'))
    validateRunningTemplate(template, 'ReplicationController', 'spec.template', errors)
  }
  return errors
}

export function validateReplicationControllerStatus(
  object: ReplicationController,
  old: ReplicationController,
): FieldError[] {
  return validateReplicaSetStatus(object, old)
}

export function validatePodTemplate(object: PodTemplate, _old?: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  validatePodTemplateSpec(object.template ?? {}, 'template', errors)
  return errors
}

export function validateControllerRevision(
  object: Given<ControllerRevision>,
  old?: Given<ControllerRevision>,
): FieldError[] {
  const errors: FieldError[] = []
  const data = object.data
  if (old) {
    nonNegativeField(object.revision, 'revision', errors)
    if (jsonText(data) !== jsonText(old.data)) errors.push(invalid('data', data ?? null, IMMUTABLE))
    return errors
  }
  nonNegativeField(object.revision, 'revision', errors)
  if (data === undefined || data === null) errors.push(required('data', 'data is mandatory'))
  else if (typeof data !== 'object' || Array.isArray(data))
    errors.push(required('data', 'data must be a valid JSON object'))
  return errors
}
