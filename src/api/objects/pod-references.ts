/** Which Secrets and ConfigMaps of its namespace a pod refers to, by their names. */
import type { Container, EphemeralContainer, Pod, PodSpec, Volume } from '../generated/types.ts'

const volumes = (pod: Pod): readonly Volume[] => pod.spec?.volumes ?? []

function containers(pod: Pod): readonly (Container | EphemeralContainer)[] {
  const spec: Partial<PodSpec> = pod.spec ?? {}
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

export function refersToSecret(pod: Pod, name: string): boolean {
  return (
    (pod.spec?.imagePullSecrets ?? []).some((ref) => ref.name === name) ||
    volumes(pod).some(
      (volume) =>
        volume.secret?.secretName === name ||
        volume.projected?.sources?.some((source) => source.secret?.name === name) ||
        [volume.cephfs, volume.flexVolume, volume.iscsi, volume.rbd, volume.scaleIO, volume.storageos].some(
          (source) => source?.secretRef?.name === name,
        ) ||
        volume.azureFile?.secretName === name ||
        volume.csi?.nodePublishSecretRef?.name === name,
    ) ||
    containers(pod).some(
      (container) =>
        container.envFrom?.some((from) => from.secretRef?.name === name) ||
        container.env?.some((env) => env.valueFrom?.secretKeyRef?.name === name),
    )
  )
}

export function refersToConfigMap(pod: Pod, name: string): boolean {
  return (
    volumes(pod).some(
      (volume) =>
        volume.configMap?.name === name || volume.projected?.sources?.some((source) => source.configMap?.name === name),
    ) ||
    containers(pod).some(
      (container) =>
        container.envFrom?.some((from) => from.configMapRef?.name === name) ||
        container.env?.some((env) => env.valueFrom?.configMapKeyRef?.name === name),
    )
  )
}
