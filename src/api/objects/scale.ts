/** autoscaling/v1 Scale: how many replicas a workload wants and has, and by which selector they are counted. */
import type { KubeObject } from '../object.ts'

export interface Replicas {
  readonly wanted: number
  readonly present: number
  /** As text; '' where there is none. */
  readonly selector: string
}

/** The Scale of an object: its identity with nothing else of its metadata. */
export function scaleWith(object: KubeObject, { wanted, present, selector }: Replicas): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: { replicas: present, ...(selector === '' ? {} : { selector }) },
  }
}
