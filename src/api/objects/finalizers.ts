/** Finalizers of an object (API concept: finalizers). */
import type { KubeObject } from '../object.ts'

export const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) === true
