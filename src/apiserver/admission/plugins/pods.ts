/** What several plugins about pods share. */
import type { Fields, KubeObject } from '../../../api/object.ts'
import { forbidden, type StatusError } from '../../../api/status.ts'
import type { AdmissionAttributes } from '../plugin.ts'

/** The request writes a pod itself, not one of its subresources. */
export function isPod({ row, subresource }: AdmissionAttributes): boolean {
  return row.group === '' && row.resource === 'pods' && subresource === ''
}

export function withSpec(pod: KubeObject, changes: Fields): KubeObject {
  return { ...pod, spec: { ...pod['spec'], ...changes } }
}

/** The 403 of an admission plugin. */
export function refused({ row, name }: AdmissionAttributes, message: string): StatusError {
  return forbidden({ group: row.group, resource: row.resource }, name, message)
}

export const isMirrorPod = (pod: KubeObject): boolean =>
  pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
