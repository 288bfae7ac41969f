/**
 * ServiceAccount: a pod runs as a service account that exists (`default` unless it says otherwise), gets its pull secrets,
 * and, unless opted out, a projected volume with a token, the cluster's CA and its namespace (KEP-1205).
 */

import { jsonText } from '../../../api/codec/json.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { partFrom } from '../../../api/parts.ts'
import { suffixFor } from '../../../base/random.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionPlugin, AdmissionPluginFactory } from '../plugin.ts'
import { isMirrorPod, isPod, referencedKinds, refused, withSpec } from './pods.ts'

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
/** An hour and seven seconds: told apart from what a user asks for. */
const TOKEN_SECONDS = 3607

export const serviceAccount: AdmissionPluginFactory = (reads): AdmissionPlugin => ({
  name: 'ServiceAccount',
  handles: (operation) => operation === 'CREATE',
  mutate(attributes) {
    const pod = attributes.object!
    if (!isPod(attributes)) return pod
    if (isMirrorPod(pod)) {
      const refusal = mirrorPodRefusal(pod)
      if (refusal) throw refused(attributes, refusal)
      return pod
    }
    const name: string = pod['spec'].serviceAccountName || 'default'
    const named = withSpec(pod, { serviceAccountName: name, serviceAccount: name })
    const complete = (account: KubeObject | undefined) => {
      if (account === undefined)
        throw refused(
          attributes,
          `error looking up service account ${attributes.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
        )
      return withToken(withPullSecrets(named, account), account)
    }
    const account = findAccount(reads, attributes.namespace, name)
    return account instanceof Promise ? account.then(complete) : complete(account)
  },
})

function findAccount(reads: CacheReads, namespace: string, name: string) {
  return reads.get('', 'serviceaccounts', namespace, name) ?? reads.getLive('', 'serviceaccounts', namespace, name)
}

function mirrorPodRefusal(pod: KubeObject): string | undefined {
  const spec: Fields = pod['spec']
  if (spec['serviceAccountName']) return 'a mirror pod may not reference service accounts'
  if (referencedKinds(spec).has('secret')) return 'a mirror pod may not reference secrets'
  for (const volume of (spec['volumes'] ?? []) as readonly Fields[]) {
    if (volume['projected']?.sources?.some((source: Fields) => source['serviceAccountToken']))
      return 'a mirror pod may not use ServiceAccountToken volume projections'
  }
  return undefined
}

function withPullSecrets(pod: KubeObject, account: KubeObject): KubeObject {
  const secrets = account['imagePullSecrets'] as readonly Fields[] | undefined
  if (pod['spec'].imagePullSecrets?.length || !secrets?.length) return pod
  return withSpec(pod, { imagePullSecrets: secrets })
}

function withToken(pod: KubeObject, account: KubeObject): KubeObject {
  const automount: boolean = pod['spec'].automountServiceAccountToken ?? account['automountServiceAccountToken'] ?? true
  const spec = automount ? withTokenMounted(pod['spec']) : pod['spec']
  return spec === pod['spec'] ? pod : { ...pod, spec }
}

/** The volume's name is the spec's: pods of one template are made alike, where Kubernetes gives each a name by chance. */
const withTokenMounted = partFrom((spec: Fields): Fields => {
  const volumes = (spec['volumes'] ?? []) as readonly Fields[]
  const existing = volumes.find(
    (volume) =>
      volume['name'].startsWith(VOLUME_PREFIX) &&
      volume['projected']?.sources?.some((source: Fields) => source['serviceAccountToken']),
  )
  const name: string = existing?.['name'] ?? VOLUME_PREFIX + suffixFor(jsonText(spec), 5)
  let mounted = false
  const mount = (containers: readonly Fields[] | undefined) =>
    containers?.map((container) => {
      const mounts = (container['volumeMounts'] ?? []) as readonly Fields[]
      if (mounts.some((present) => present['mountPath'] === MOUNT_PATH)) return container
      mounted = true
      return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }] }
    })
  const initContainers = mount(spec['initContainers'])
  const containers = mount(spec['containers'])
  if (!mounted) return spec
  return {
    ...spec,
    ...(existing ? {} : { volumes: [...volumes, tokenVolume(name)] }),
    ...(initContainers ? { initContainers } : {}),
    ...(containers ? { containers } : {}),
  }
})

function tokenVolume(name: string): Fields {
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
