/** What the controllers around ReplicaSets share. */
import { StatusError } from '../../api/status.ts'

/** ReplicaSets by their controller's uid, or `orphan namespace`. */
export const replicaSetsIndex = 'controller'

/** In a namespace that goes, nothing can be created and nothing need be. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    error.code === 403 &&
    (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  )
}
