/** PersistentVolumeClaimTemplate of an ephemeral volume: labels, annotations and a claim's spec. */
import type { Fields } from '../object.ts'
import { type FieldError, forbiddenField } from './errors.ts'
import { validateLabels } from './labels.ts'
import { validateAnnotations } from './meta.ts'
import { persistentVolumeClaimSpec } from './persistent-volume-claim.ts'

export function validateClaimTemplate(template: Fields, path: string, errors: FieldError[]): void {
  const metadata: Fields = template['metadata'] ?? {}
  validateAnnotations(metadata['annotations'], `${path}.metadata.annotations`, errors)
  validateLabels(metadata['labels'], `${path}.metadata.labels`, errors)
  for (const field of Object.keys(metadata).sort())
    if (field !== 'labels' && field !== 'annotations' && metadata[field] !== undefined && metadata[field] !== '')
      errors.push(forbiddenField(`${path}.metadata.${field}`, 'cannot be set'))
  persistentVolumeClaimSpec(template['spec'] ?? {}, `${path}.spec`, errors, { root: template })
}
