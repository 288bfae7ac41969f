/** An object's metadata as it is shown without the object: in tables and as PartialObjectMetadata. */
import type { KubeObject } from '../../api/object.ts'
import { ROLLBACK_TO, TEMPLATE_GENERATION } from '../../api/objects/annotated-fields.ts'

const FIELDS: Readonly<Record<string, string>> = { DaemonSet: TEMPLATE_GENERATION, Deployment: ROLLBACK_TO }

/** Whether objects of the kind may have an annotation that is not shown without them. */
export const hidesAnnotations = (kind: string): boolean => Object.hasOwn(FIELDS, kind)

/** What is a field inside Kubernetes is an annotation only in whole objects. */
export function ownMetadata({ kind, metadata }: KubeObject): KubeObject['metadata'] {
  const field = hidesAnnotations(kind) ? FIELDS[kind] : undefined
  if (field === undefined || metadata.annotations?.[field] === undefined) return metadata
  const { [field]: _, ...annotations } = metadata.annotations
  const { annotations: __, ...rest } = metadata
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}
