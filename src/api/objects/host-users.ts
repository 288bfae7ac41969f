/** User namespaces of pods (KEP-127). */
import type { PodSpec } from '../generated/types.ts'

/** The pod's user namespace is its own: root in it has no rights outside. */
export const hasOwnUsers = (spec: Partial<PodSpec>): boolean => spec.hostUsers === false
