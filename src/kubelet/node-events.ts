/** Events about the node itself, in the words of the kubelet. */
import type { EventRecorder } from '../client/events.ts'

export interface NodeEvents {
  normal(reason: string, message: string): void
  warning(reason: string, message: string): void
}

export function createNodeEvents(recorder: EventRecorder, nodeName: string): NodeEvents {
  const subject = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } }
  return {
    normal: (reason, message) => recorder.event(subject, 'Normal', reason, message),
    warning: (reason, message) => recorder.event(subject, 'Warning', reason, message),
  }
}
