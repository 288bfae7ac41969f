/** What several plugins about pods share. */
import type { Pod, PodSpec } from '../../../api/generated/types.ts'
import { noParts, type Parts } from '../../../api/parts.ts'
import { forbidden, type StatusError } from '../../../api/status.ts'
import type { AdmissionAttributes } from '../plugin.ts'

/** The request writes a pod itself, not one of its subresources. */
export function isPod({ endpoint, subresource }: AdmissionAttributes): boolean {
  const { row } = endpoint
  return row.group === '' && row.resource === 'pods' && subresource === ''
}

/** `parts`, of the request, where the changes may be plain values. */
export function withSpec(pod: Pod, changes: Partial<PodSpec>, parts: Parts = noParts): Pod {
  return { ...pod, spec: parts.changed<Partial<PodSpec>>(pod.spec ?? {}, changes) as PodSpec }
}

/** The 403 of an admission plugin. An object that has no name yet is called by the beginning of the one that it will have. */
export function refused({ endpoint, name, object }: AdmissionAttributes, message: string): StatusError {
  const { row } = endpoint
  const called = name === '' ? (object?.metadata.generateName ?? '') : name
  return forbidden({ group: row.group, resource: row.resource }, called, message)
}

/** What of the namespace's objects the pod would be let read. */
export function referencedKinds(spec: Partial<PodSpec>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const volume of spec.volumes ?? []) {
    if (volume.secret) found.add('secret')
    if (volume.configMap) found.add('configMap')
    if (volume.persistentVolumeClaim) found.add('persistentVolumeClaim')
    for (const source of volume.projected?.sources ?? []) {
      if (source.secret) found.add('secret')
      if (source.configMap) found.add('configMap')
    }
  }
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    for (const from of container.envFrom ?? []) {
      if (from.secretRef) found.add('secret')
      if (from.configMapRef) found.add('configMap')
    }
    for (const variable of container.env ?? []) {
      if (variable.valueFrom?.secretKeyRef) found.add('secret')
      if (variable.valueFrom?.configMapKeyRef) found.add('configMap')
    }
  }
  if (spec.imagePullSecrets?.length) found.add('secret')
  if (spec.resourceClaims?.length) found.add('resourceClaims')
  return found
}
