/** Events about the node itself, in the words of the kubelet. */
import type { Node } from '../api/generated/types.ts'
import type { EventRecorder } from '../client/events.ts'

export interface NodeEvents {
  /** `node`: as the API server has it, where it does. */
  normal(reason: string, message: string, node?: Node): void
  warning(reason: string, message: string, node?: Node): void
}

export function createNodeEvents(recorder: EventRecorder, nodeName: string): NodeEvents {
  const subject = (node: Node | undefined) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, ...(node?.metadata.uid === undefined ? {} : { uid: node.metadata.uid }) },
  })
  return {
    normal: (reason, message, node) => recorder.event(subject(node), 'Normal', reason, message),
    warning: (reason, message, node) => recorder.event(subject(node), 'Warning', reason, message),
  }
}
