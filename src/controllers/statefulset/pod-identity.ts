/** The identity of a stateful pod: its ordinal, its name and labels, and the claims it mounts. They outlive the pod. */
import type { Pod, PodTemplateSpec, StatefulSet, Volume } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { podFromTemplate } from '../pods/pod.ts'
import { claimNames } from './volume-claim-templates-and-retention.ts'

const revisionLabel = 'controller-revision-hash'
const podNameLabel = 'statefulset.kubernetes.io/pod-name'
const podIndexLabel = 'apps.kubernetes.io/pod-index'
const mostOrdinal = 2 ** 31 - 1

export const statefulSetReplicas = (set: StatefulSet): number => set.spec?.replicas ?? 1
/** The first ordinal. */
export const startOf = (set: StatefulSet): number => set.spec?.ordinals?.start ?? 0
/** Of all pods but the condemned. */
export const isOrdinalInRange = (set: StatefulSet, ordinal: number): boolean =>
  ordinal >= startOf(set) && ordinal < startOf(set) + statefulSetReplicas(set)

export const podName = (set: StatefulSet, ordinal: number): string => `${set.metadata.name}-${ordinal}`
export const revisionOfPod = (pod: Pod): string | undefined => pod.metadata.labels?.[revisionLabel]

/** -1 for a pod that is not named as the set names them. */
export function ordinalOf(set: StatefulSet, { metadata }: KubeObject): number {
  const digits = /-(\d+)$/.exec(metadata.name ?? '')?.[1]
  if (digits === undefined || metadata.name !== `${set.metadata.name}-${digits}`) return -1
  const ordinal = Number(digits)
  return ordinal > mostOrdinal || String(ordinal) !== digits ? -1 : ordinal
}

/** The pod of this ordinal, by the template of the revision of that name. */
export function podOf(set: StatefulSet, template: PodTemplateSpec, revision: string, ordinal: number): KubeObject {
  const pod = podFromTemplate(template, set)
  const named: KubeObject = {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: podName(set, ordinal),
      namespace: set.metadata.namespace ?? '',
      labels: { ...pod.metadata.labels, [revisionLabel]: revision },
    },
    spec: { ...pod.spec, hostname: podName(set, ordinal), subdomain: set.spec?.serviceName ?? '' },
  }
  return withIdentity(set, named)
}

/** With the labels and the volumes that its name asks for; the same object when it has them. */
export function withIdentity(set: StatefulSet, pod: Pod): KubeObject {
  if (hasIdentity(set, pod)) return pod
  const { name = '', labels } = pod.metadata
  const claims = claimNames(set, name)
  const own = Object.entries(claims).map(([volume, claimName]) => ({
    name: volume,
    persistentVolumeClaim: { claimName },
  }))
  const others = volumesOf(pod).filter((volume) => !Object.hasOwn(claims, volume.name))
  const volumes = [...own, ...others]
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...labels, [podNameLabel]: name, [podIndexLabel]: String(ordinalOf(set, pod)) },
    },
    spec: { ...pod.spec, ...(volumes.length > 0 ? { volumes } : {}) },
  }
}

function hasIdentity(set: StatefulSet, pod: Pod): boolean {
  const { name = '', labels } = pod.metadata
  if (labels?.[podNameLabel] !== name || labels[podIndexLabel] !== String(ordinalOf(set, pod))) return false
  const volumes = volumesOf(pod)
  return Object.entries(claimNames(set, name)).every(([volume, claim]) =>
    volumes.some((other) => other.name === volume && other.persistentVolumeClaim?.claimName === claim),
  )
}

const volumesOf = (pod: Pod): readonly Volume[] => pod.spec?.volumes ?? []
