/** Rebuilding an object's metadata. */
import type { KubeObject, ObjectMeta } from './object.ts'

/** Changes metadata and keeps the identity of everything else; undefined removes a field. */
export function withMetadata<T extends KubeObject>(
  object: T,
  changes: { readonly [K in keyof ObjectMeta]?: ObjectMeta[K] | undefined },
): T {
  const metadata: Record<string, unknown> = { ...object.metadata }
  for (const field in changes) {
    const value = changes[field as keyof ObjectMeta]
    if (value !== undefined) metadata[field] = value
    // Deleting makes an object slow for good: only what is there.
    else if (metadata[field] !== undefined) delete metadata[field]
  }
  return { ...object, metadata: metadata as ObjectMeta }
}

/** What Kubernetes' own components keep of objects in their informers. The same object where there are none. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
