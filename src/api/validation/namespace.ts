/** Rules of Namespace. */
import { type FieldError, invalid } from '../errors/field-errors.ts'
import type { Namespace } from '../generated/types.ts'
import { qualifiedName } from '../names/name-formats.ts'

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion']

/** spec.finalizers of a new Namespace, whose errors name the list. */
export const validateNamespace = (object: Namespace): readonly FieldError[] => finalizerErrors(object, () => '')

/** spec.finalizers that the finalize endpoint is given, each by its place. */
export const validateNamespaceFinalize = (object: Namespace): readonly FieldError[] =>
  finalizerErrors(object, (index) => `[${index}]`)

function finalizerErrors(object: Namespace, place: (index: number) => string): readonly FieldError[] {
  const errors: FieldError[] = []
  object.spec?.finalizers?.forEach((finalizer: string, index: number) => {
    const path = `spec.finalizers${place(index)}`
    const messages = qualifiedName(finalizer)
    for (const message of messages) errors.push(invalid(path, finalizer, message))
    if (!finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer))
      errors.push(invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'))
  })
  return errors
}

export function validateNamespaceStatus(object: Namespace): readonly FieldError[] {
  const phase: string = object.status?.phase ?? ''
  if (object.metadata.deletionTimestamp === undefined)
    return phase === 'Active'
      ? []
      : [invalid('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")]
  return phase === 'Terminating'
    ? []
    : [invalid('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
}
