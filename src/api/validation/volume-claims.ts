/** PersistentVolumeClaimTemplate of an ephemeral volume: labels, annotations and a claim's spec. */
import type { FieldError } from '../errors/field-errors.ts'
import type { PersistentVolumeClaimTemplate } from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { validateLabels } from './labels.ts'
import { validateAnnotations, validateMetadataToCome } from './meta.ts'
import { persistentVolumeClaimSpec } from './persistent-volume-claim.ts'

export function validateClaimTemplate(
  template: Partial<PersistentVolumeClaimTemplate>,
  path: string,
  errors: FieldError[],
): void {
  const metadata: Fields = template.metadata ?? {}
  validateAnnotations(metadata['annotations'], `${path}.metadata.annotations`, errors)
  validateLabels(metadata['labels'], `${path}.metadata.labels`, errors)
  validateMetadataToCome(metadata, `${path}.metadata`, errors)
  persistentVolumeClaimSpec(template.spec ?? {}, `${path}.spec`, errors, { root: template })
}
