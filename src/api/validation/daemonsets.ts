/** DaemonSet. */
import { type FieldError, invalid, notSupported, required } from '../errors/field-errors.ts'
import type {
  DaemonSet,
  DaemonSetSpec,
  DaemonSetStatus,
  DaemonSetUpdateStrategy,
  PodTemplateSpec,
} from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { TEMPLATE_GENERATION } from '../objects/annotated-fields.ts'
import { parseInt64 } from '../objects/integers.ts'
import { internalForm } from './internal.ts'
import { isEmptySelector, isUsableSelector, validateLabelSelector } from './labels.ts'
import {
  amountOfIntOrPercent,
  collisionCount,
  immutableSelector,
  intOrPercent,
  labelsMismatch,
  nonNegativeCounts,
  nonNegativeField,
  notMoreThanAll,
  selectorFits,
  validateRunningTemplate,
} from './templates.ts'

export function validateDaemonSet(object: DaemonSet, old?: DaemonSet): FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<DaemonSetSpec> = object.spec ?? {}
  const selector = spec.selector ?? undefined
  const template: PodTemplateSpec = spec.template ?? {}
  const generation = parseInt64(object.metadata.annotations?.[TEMPLATE_GENERATION]) ?? 0
  if (old && generation < (parseInt64(old.metadata.annotations?.[TEMPLATE_GENERATION]) ?? 0))
    errors.push(invalid('spec.templateGeneration', generation as number, 'must not be decremented'))
  if (old) immutableSelector(spec.selector, old.spec?.selector, errors)
  validateLabelSelector(selector, 'spec.selector', errors)
  if ((!selector || isUsableSelector(selector)) && !selectorFits(selector, template))
    errors.push(labelsMismatch(template, 'spec.template'))
  if (selector && isEmptySelector(selector))
    errors.push(invalid('spec.selector', {}, 'empty selector is invalid for daemonset'))
  validateRunningTemplate(template, 'DaemonSet', 'spec.template', errors)
  nonNegativeField(spec.minReadySeconds, 'spec.minReadySeconds', errors)
  nonNegativeField(generation, 'spec.templateGeneration', errors)
  validateUpdateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy', errors)
  nonNegativeField(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit', errors)
  return errors
}

function validateUpdateStrategy(strategy: DaemonSetUpdateStrategy, path: string, errors: FieldError[]): void {
  if (strategy.type === 'OnDelete') return
  if (strategy.type !== 'RollingUpdate')
    return void errors.push(
      notSupported(path, internalForm('io.k8s.api.apps.v1.DaemonSetUpdateStrategy', strategy), [
        'RollingUpdate',
        'OnDelete',
      ]),
    )
  const rolling: Fields | undefined = strategy.rollingUpdate ?? undefined
  const at = `${path}.rollingUpdate`
  if (!rolling) return void errors.push(required(at))
  const { maxUnavailable, maxSurge } = rolling
  intOrPercent(maxUnavailable, `${at}.maxUnavailable`, errors)
  intOrPercent(maxSurge, `${at}.maxSurge`, errors)
  notMoreThanAll(maxUnavailable, `${at}.maxUnavailable`, errors)
  notMoreThanAll(maxSurge, `${at}.maxSurge`, errors)
  const unavailable = amountOfIntOrPercent(maxUnavailable) !== 0
  const surge = amountOfIntOrPercent(maxSurge) !== 0
  if (unavailable && surge)
    errors.push(invalid(`${at}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'))
  if (!unavailable && !surge) errors.push(required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
}

export function validateDaemonSetStatus(object: DaemonSet, old: DaemonSet): FieldError[] {
  const errors: FieldError[] = []
  const status: Partial<DaemonSetStatus> = object.status ?? {}
  nonNegativeCounts(
    status,
    [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
    errors,
  )
  collisionCount(status, old, errors)
  return errors
}
