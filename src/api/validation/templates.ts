/** Pod templates, and what every controller of pods asks of its own: a selector that fits, pods that restart. */

import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type { DaemonSet, Deployment, PodSpec, PodTemplateSpec, StatefulSet } from '../generated/types.ts'
import { percentText } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import type { Int64 } from '../objects/integers.ts'
import { labelSelectorOf } from '../objects/label-selector.ts'
import { asGiven } from '../schema/canonical.ts'
import { isEmpty } from './common.ts'
import {
  isEmptySelector,
  isUsableSelector,
  printableMap,
  printableSelector,
  validateLabelSelector,
  validateLabels,
} from './labels.ts'
import { validateAnnotations } from './meta.ts'
import { validateAnnotationsMatchFields, validatePodAnnotations } from './pod-annotations.ts'
import { validatePodSpec } from './pods.ts'

/** PodTemplateSpec: its labels and annotations stand beside its spec in messages. */
export function validatePodTemplateSpec(template: PodTemplateSpec, path: string, errors: FieldError[]): void {
  const metadata: Fields = template.metadata ?? {}
  const spec: Partial<PodSpec> = template.spec ?? {}
  validateLabels(metadata['labels'], `${path}.labels`, errors)
  validateAnnotations(metadata['annotations'], `${path}.annotations`, errors)
  validatePodAnnotations(template.metadata?.annotations, spec, `${path}.annotations`, errors)
  validatePodSpec(spec, {}, `${path}.spec`, errors)
  validateAnnotationsMatchFields(template.metadata?.annotations, spec, `${path}.spec`, errors)
  if (spec.ephemeralContainers?.length)
    errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'))
}

/** A template of pods that run until they are replaced. */
export function validateRunningTemplate(
  template: PodTemplateSpec,
  owner: string,
  path: string,
  errors: FieldError[],
): void {
  validatePodTemplateSpec(template, path, errors)
  validateRestartAlways(template, owner, path, errors)
}

export function validateRestartAlways(
  template: PodTemplateSpec,
  owner: string,
  path: string,
  errors: FieldError[],
): void {
  const spec: Partial<PodSpec> = template.spec ?? {}
  if (spec.restartPolicy !== 'Always')
    errors.push(notSupported(`${path}.spec.restartPolicy`, spec.restartPolicy ?? '', ['Always']))
  if (!isEmpty(spec.activeDeadlineSeconds))
    errors.push(
      forbiddenField(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`),
    )
}

type Labels = Readonly<Record<string, string>>

export const templateLabels = (template: PodTemplateSpec | undefined): Labels | undefined => template?.metadata?.labels

export function labelsMismatch(template: PodTemplateSpec | undefined, path: string): FieldError {
  return invalid(
    `${path}.metadata.labels`,
    printableMap(asGiven(template?.metadata, 'labels', {}) as Labels | null),
    '`selector` does not match template `labels`',
  )
}

/**
 * selector and template of a spec: required, well formed, not empty, and fitting each other. `emptyOf` is the word in the
 * message about an empty selector, `owner` the kind in those about the template. A selector that cannot be used hides the
 * template's errors.
 */
export function validateSelectorAndTemplate(
  spec: Fields,
  names: { readonly emptyOf: string; readonly owner: string; readonly unusable: string },
  path: string,
  errors: FieldError[],
): void {
  const selector: Fields | undefined = spec['selector'] ?? undefined
  if (!selector) errors.push(required(`${path}.selector`))
  else {
    validateLabelSelector(selector, `${path}.selector`, errors)
    if (isEmptySelector(selector))
      errors.push(invalid(`${path}.selector`, {}, `empty selector is invalid for ${names.emptyOf}`))
  }
  if (selector && !isUsableSelector(selector)) {
    errors.push(invalid(`${path}.selector`, printableSelector(selector), names.unusable))
    return
  }
  const template: Fields = spec['template'] ?? {}
  if (!selectorFits(selector, template)) errors.push(labelsMismatch(template, `${path}.template`))
  validateRunningTemplate(template, names.owner, `${path}.template`, errors)
}

/** Whether a usable selector selects the template's pods; an absent one selects nothing. */
export function selectorFits(selector: Fields | undefined, template: PodTemplateSpec | undefined): boolean {
  return labelSelectorOf(selector).matches(templateLabels(template) ?? {})
}

/** A count of pods or a share of them. */
export function intOrPercent(value: number | string | undefined, path: string, errors: FieldError[]): void {
  if (value === undefined || value === null) return
  if (typeof value === 'number') nonNegativeField(value, path, errors)
  else for (const message of percentText(value)) errors.push(invalid(path, value, message))
}

export function notMoreThanAll(value: number | string | undefined, path: string, errors: FieldError[]): void {
  if (typeof value === 'string' && percentText(value).length === 0 && Number(value.slice(0, -1)) > 100)
    errors.push(invalid(path, value, 'must not be greater than 100%'))
}

/** The number, of pods or percent; a text without a percent sign is refused, and counts as its number all the same. */
export function amountOfIntOrPercent(value: number | string | undefined): number {
  if (typeof value === 'number') return value
  if (value === undefined) return 0
  if (percentText(value).length === 0) return Number(value.slice(0, -1))
  return /^[+-]?\d+$/.test(value) ? Number(value) : 0
}

export function nonNegativeField(value: Int64 | undefined | null, path: string, errors: FieldError[]): void {
  if ((typeof value === 'number' || typeof value === 'bigint') && value < 0)
    errors.push(invalid(path, value as number, 'must be greater than or equal to 0'))
}

/** Counts of a status: none negative. */
export function nonNegativeCounts(status: Fields | undefined, fields: readonly string[], errors: FieldError[]): void {
  for (const field of fields) nonNegativeField(status?.[field], `status.${field}`, errors)
}

/** How often a hash was taken already only grows: an older count would give two revisions one name. */
export function collisionCount(status: Fields, old: Deployment | DaemonSet | StatefulSet, errors: FieldError[]): void {
  const before = old.status?.collisionCount ?? undefined
  const now: number = status['collisionCount'] ?? 0
  if (before !== undefined && now < before) errors.push(invalid('status.collisionCount', now, 'cannot be decremented'))
}

/** A selector says which pods are the object's: it never changes. */
export function immutableSelector(now: Fields | undefined, before: Fields | undefined, errors: FieldError[]): void {
  const text = (selector: Fields | undefined) => JSON.stringify(printableSelector(selector))
  if (text(now) !== text(before)) errors.push(invalid('spec.selector', printableSelector(now), 'field is immutable'))
}
