/** Events about pods, in the words of the kubelet. */
import type { KubeObject } from '../api/object.ts'
import type { EventRecorder } from '../client/events.ts'
import type { Pod } from './pod.ts'

export interface PodEvents {
  /** `fieldPath`: the container it is about, `spec.containers{c}`. */
  normal(pod: Pod, reason: string, message: string, fieldPath?: string): void
  /** About something that the pod has. */
  about(object: KubeObject, reason: string, message: string): void
  warning(
    pod: Pod,
    reason: string,
    message: string,
    fieldPath?: string,
    annotations?: Readonly<Record<string, string>>,
  ): void
}

export function createPodEvents(recorder: EventRecorder): PodEvents {
  const tell = (
    pod: Pod,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    fieldPath?: string,
    annotations?: Readonly<Record<string, string>>,
  ) => {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = pod.metadata
    const metadata = {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    }
    const subject = { apiVersion: 'v1', kind: 'Pod', metadata, ...(fieldPath === undefined ? {} : { fieldPath }) }
    recorder.event(subject, type, reason, message, annotations === undefined ? {} : { annotations })
  }
  return {
    about: (object, reason, message) => recorder.event(object, 'Normal', reason, message),
    normal: (pod, reason, message, fieldPath) => tell(pod, 'Normal', reason, message, fieldPath),
    warning: (pod, reason, message, fieldPath, annotations) =>
      tell(pod, 'Warning', reason, message, fieldPath, annotations),
  }
}
