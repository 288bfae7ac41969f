/** Pods of the recordings, made anew. */
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { namespace } from './stage.ts'

/** The pod as the user made it. */
export function podOf(object: JsonObject, annotations: Readonly<Record<string, string>>): KubeObject {
  const { metadata, spec } = object as { metadata: JsonObject; spec: JsonObject }
  const { nodeName: _, ...rest } = JSON.parse(JSON.stringify(spec).replaceAll('<5>', 'abcde')) as Record<
    string,
    unknown
  >
  const { name, finalizers } = metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      annotations,
      ...(finalizers === undefined ? {} : { finalizers }),
    } as KubeObject['metadata'],
    spec: rest,
  }
}
