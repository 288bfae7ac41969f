/** An object with or without one of its finalizers. */
import type { KubeObject } from '../../api/object.ts'

export function withFinalizer(object: KubeObject, finalizer: string): KubeObject {
  const finalizers = [...(object.metadata.finalizers ?? []), finalizer]
  return { ...object, metadata: { ...object.metadata, finalizers } }
}

export function withoutFinalizer(object: KubeObject, finalizer: string): KubeObject {
  const { finalizers = [], ...metadata } = object.metadata
  const left = finalizers.filter((other) => other !== finalizer)
  return { ...object, metadata: left.length === 0 ? metadata : { ...metadata, finalizers: left } }
}
