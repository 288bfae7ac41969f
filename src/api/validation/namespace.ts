/** Rules of Namespace. */
import type { Namespace } from '../generated/types.ts'
import { type FieldError, invalid } from './errors.ts'
import { qualifiedName } from './names.ts'

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion']

/** spec.finalizers of a Namespace. */
export function validateNamespaceFinalizers(object: Namespace): readonly FieldError[] {
  const errors: FieldError[] = []
  object.spec?.finalizers?.forEach((finalizer: string) => {
    const path = 'spec.finalizers'
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
