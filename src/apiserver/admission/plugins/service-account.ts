/**
 * ServiceAccount: a pod runs as a service account that exists (`default` unless it says otherwise), gets its pull secrets,
 * and, unless opted out, a projected volume with a token, the cluster's CA and its namespace (KEP-1205).
 */

import type { Container, Pod, PodSpec, ServiceAccount, Volume, VolumeMount } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { isMirrorPod } from '../../../api/objects/mirror-pods.ts'
import type { Naming, Parts } from '../../../api/parts.ts'
import { jsonText } from '../../../api/values/json.ts'
import type { Random } from '../../../base/random.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmissionPluginFactory } from '../plugin.ts'
import { isPod, referencedKinds, refused, withSpec } from './pods.ts'

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
const SUFFIX_LENGTH = 5
/** An hour and seven seconds: told apart from what a user asks for. */
const TOKEN_SECONDS = 3607

export const serviceAccount =
  (random: Random): AdmissionPluginFactory =>
  (reads): AdmissionPlugin => ({
    name: 'ServiceAccount',
    handles: (operation) => operation === 'CREATE',
    mutate(attributes) {
      const pod: Pod = attributes.object!
      if (!isPod(attributes)) return pod
      if (isMirrorPod(pod)) {
        const refusal = mirrorPodRefusal(pod)
        if (refusal) throw refused(attributes, refusal)
        return pod
      }
      const name: string = pod.spec!.serviceAccountName || 'default'
      const named = withSpec(pod, { serviceAccountName: name, serviceAccount: name }, attributes.endpoint.parts)
      const complete = (account: ServiceAccount | undefined) => {
        if (account === undefined)
          throw refused(
            attributes,
            `error looking up service account ${attributes.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
          )
        return withToken(withPullSecrets(named, account), account, attributes, random)
      }
      const account = findAccount(reads, attributes.namespace, name)
      return account instanceof Promise ? account.then(complete) : complete(account)
    },
  })

function findAccount(reads: CacheReads, namespace: string, name: string) {
  return (
    reads.get<ServiceAccount>('', 'serviceaccounts', namespace, name) ??
    reads.getLive<ServiceAccount>('', 'serviceaccounts', namespace, name)
  )
}

function mirrorPodRefusal(pod: Pod): string | undefined {
  const spec = pod.spec!
  if (spec.serviceAccountName) return 'a mirror pod may not reference service accounts'
  if (referencedKinds(spec).has('secret')) return 'a mirror pod may not reference secrets'
  for (const volume of spec.volumes ?? []) {
    if (volume.projected?.sources?.some((source) => source.serviceAccountToken))
      return 'a mirror pod may not use ServiceAccountToken volume projections'
  }
  return undefined
}

function withPullSecrets(pod: Pod, account: ServiceAccount): Pod {
  const secrets = account.imagePullSecrets
  if (pod.spec!.imagePullSecrets?.length || !secrets?.length) return pod
  return withSpec(pod, { imagePullSecrets: secrets })
}

function withToken(
  pod: Pod,
  account: ServiceAccount,
  { endpoint: { parts } }: AdmissionAttributes,
  random: Random,
): KubeObject {
  const automount = pod.spec!.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
  if (!automount) return pod
  const before = pod.spec!
  const spec = withTokenMounted(before, parts, () => VOLUME_PREFIX + random.suffix(SUFFIX_LENGTH))
  return spec === before ? pod : { ...pod, spec }
}

/** Each pod's volume has a name of its own; of a spec that recurs all but the name is made once. */
function withTokenMounted(spec: PodSpec, parts: Parts, newName: () => string): PodSpec {
  if (!parts.holds(spec, lacksStandIn)) return tokenMounted(spec, newName)
  const standIn = parts.from(spec, withStandIn)
  return standIn === spec || parts.once(spec, hasTokenVolume) ? standIn : parts.named(standIn, newName(), renamed)
}

/** As no volume is ever named by chance: `a` is not among the letters of suffixes. */
const STAND_IN = `${VOLUME_PREFIX}aaaaa`

const lacksStandIn = (spec: PodSpec): boolean => !jsonText(spec).includes(STAND_IN)

const withStandIn = (spec: PodSpec): PodSpec => tokenMounted(spec, () => STAND_IN)

const renamed: Naming<PodSpec> = (spec, name) => ({
  ...spec,
  volumes: (spec.volumes ?? []).map((volume) => renamedOne(volume, name)),
  ...containersWith(spec, (container) => ({
    ...container,
    volumeMounts: (container.volumeMounts ?? []).map((mount) => renamedOne(mount, name)),
  })),
})

const renamedOne = <T extends Volume | VolumeMount>(one: T, name: string): T =>
  one.name === STAND_IN ? { ...one, name } : one

function containersWith(
  { initContainers, containers }: Partial<PodSpec>,
  change: (container: Container) => Container,
): Partial<PodSpec> {
  return {
    ...(initContainers ? { initContainers: initContainers.map(change) } : {}),
    ...(containers ? { containers: containers.map(change) } : {}),
  }
}

const hasTokenVolume = (spec: PodSpec): boolean => tokenVolumeOf(spec) !== undefined

function tokenVolumeOf({ volumes = [] }: PodSpec): Volume | undefined {
  return volumes.find(
    (volume) =>
      volume.name.startsWith(VOLUME_PREFIX) && volume.projected?.sources?.some((source) => source.serviceAccountToken),
  )
}

/** The spec in which every container has a token, from the volume that is there or a new one; the same spec where each has one. */
function tokenMounted(spec: PodSpec, newName: () => string): PodSpec {
  const existing = tokenVolumeOf(spec)
  // Drawn only where it is used, as it is for specs that recur.
  let mounted: string | undefined
  const lists = containersWith(spec, (container) => {
    const mounts = container.volumeMounts ?? []
    if (mounts.some((present) => present.mountPath === MOUNT_PATH)) return container
    mounted ??= existing?.name ?? newName()
    return { ...container, volumeMounts: mounts.concat([{ name: mounted, readOnly: true, mountPath: MOUNT_PATH }]) }
  })
  if (mounted === undefined) return spec
  return { ...spec, ...(existing ? {} : { volumes: (spec.volumes ?? []).concat([tokenVolume(mounted)]) }), ...lists }
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 420,
    },
  }
}
