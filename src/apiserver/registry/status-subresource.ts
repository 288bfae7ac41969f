/** What a write to .../status makes of an object, unless the kind has more to say: custom resources and built-in kinds alike. */
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject, SpecAndStatus } from '../../api/object.ts'

/** The object that is there with the status that was sent, and with what names its version and its managers. */
export function statusWritten(object: SpecAndStatus, old: SpecAndStatus): KubeObject {
  const { managedFields, resourceVersion, uid } = object.metadata
  const { status: _, ...rest } = old
  const kept: KubeObject = withMetadata({ ...rest, apiVersion: object.apiVersion } as KubeObject, {
    managedFields,
    resourceVersion,
    uid,
  })
  return object.status === undefined ? kept : { ...kept, status: object.status }
}
