/** An object's metadata as it is shown without the object: in tables and as PartialObjectMetadata. */
import type { KubeObject } from '../../api/object.ts'

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

/** A DaemonSet's template generation is a field inside Kubernetes, and an annotation only in whole objects. */
export function ownMetadata({ kind, metadata }: KubeObject): KubeObject['metadata'] {
  if (kind !== 'DaemonSet' || metadata.annotations?.[TEMPLATE_GENERATION] === undefined) return metadata
  const { [TEMPLATE_GENERATION]: _, ...annotations } = metadata.annotations
  const { annotations: __, ...rest } = metadata
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}
