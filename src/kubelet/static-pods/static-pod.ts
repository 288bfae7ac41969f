/**
 * Static pods (API concept: static Pods): what a manifest that lies on the node becomes before the kubelet runs it, and the mirror
 * pod by which the API server knows of it. Pure functions.
 */

import { createHash } from 'node:crypto'
import { decodeBody } from '../../api/codec/decode.ts'
import { applyDefaults } from '../../api/defaults/defaults.ts'
import { invalidError } from '../../api/errors/field-errors.ts'
import type { Node, PodList } from '../../api/generated/types.ts'
import { CONFIG_MIRROR } from '../../api/objects/mirror-pods.ts'
import { schemaOf } from '../../api/schema/builtin.ts'
import { validateObjectMeta } from '../../api/validation/meta.ts'
import { validatePod } from '../../api/validation/pods.ts'
import { formatMicroTime } from '../../base/clock.ts'
import {
  annotationsOf,
  ephemeralContainersOf,
  initContainersOf,
  nameOf,
  namespaceOf,
  type Pod,
  specOf,
} from '../pod.ts'

export const CONFIG_HASH = 'kubernetes.io/config.hash'
export const CONFIG_SOURCE = 'kubernetes.io/config.source'
export const CONFIG_SEEN = 'kubernetes.io/config.seen'

/** Where a manifest came from: a file by its path, or a URL. */
export interface ManifestOrigin {
  readonly source: 'file' | 'http'
  readonly place: string
  readonly nodeName: string
  /** Milliseconds since the epoch. */
  readonly seenAt: number
}

/** `name_namespace`: by which a static pod and its mirror belong together. */
export const fullNameOf = (pod: Pod): string => `${nameOf(pod)}_${namespaceOf(pod)}`

/** Whether the mirror shows this static pod, and not an earlier one of its name. */
export const isMirrorOf = (mirror: Pod, pod: Pod): boolean =>
  fullNameOf(mirror) === fullNameOf(pod) && annotationsOf(mirror)[CONFIG_MIRROR] === annotationsOf(pod)[CONFIG_HASH]

const PODS = { schema: schemaOf('io.k8s.api.core.v1.Pod'), kind: 'Pod' }
const POD_LISTS = { schema: schemaOf('io.k8s.api.core.v1.PodList'), kind: 'PodList' }

/** @throws Error that says what is wrong with the manifest */
export const staticPodOf = (bytes: Uint8Array, origin: ManifestOrigin): Pod =>
  checked(decoded<Pod>(bytes, PODS), origin)

/** Of a list of pods; undefined for what is none. @throws Error that says what is wrong with one of them */
export function staticPodsOf(bytes: Uint8Array, origin: ManifestOrigin): readonly Pod[] | undefined {
  let list: PodList
  try {
    list = decoded<PodList>(bytes, POD_LISTS)
  } catch {
    return undefined
  }
  return list.items.map((pod) => checked(pod, origin))
}

function decoded<T>(bytes: Uint8Array, { schema, kind }: typeof PODS): T {
  const body = { kind: 'bytes', bytes, contentType: 'application/yaml' } as const
  const { object } = decodeBody(body, { group: '', version: 'v1', kind, schema }, { fieldValidation: 'Ignore' })
  return object as T
}

function checked(object: Pod, origin: ManifestOrigin): Pod {
  const pod = applyDefaults(placed(object, origin), PODS.schema)
  const problems = [...validateObjectMeta(pod.metadata, { namespaced: true }), ...validatePod(pod)]
  if (problems.length > 0) throw invalidError({ group: '', kind: 'Pod' }, nameOf(pod), problems)
  const referred = referredObjects(pod)
  if (referred.length > 0) throw new Error(`static pods may not refer to objects of the API: ${referred.join(', ')}`)
  return pod
}

function placed(pod: Pod, origin: ManifestOrigin): Pod {
  const { source, nodeName } = origin
  const { metadata, status: _status, ...rest } = pod
  const { [CONFIG_MIRROR]: _mirror, ...annotations } = metadata.annotations ?? {}
  const uid = metadata.uid ?? hashOf(pod, origin)
  const spec = specOf(pod)
  return {
    ...rest,
    metadata: {
      ...metadata,
      name: `${metadata.name ?? ''}-${nodeName.toLowerCase()}`,
      namespace: metadata.namespace ?? 'default',
      uid,
      annotations: {
        ...annotations,
        [CONFIG_HASH]: uid,
        [CONFIG_SEEN]: formatMicroTime(origin.seenAt).replace(/\.?0+Z$/, 'Z'),
        [CONFIG_SOURCE]: source,
      },
    },
    spec: {
      ...spec,
      nodeName,
      // What lies on the node itself stays there whatever becomes of the node.
      ...(source === 'file' ? { tolerations: withToleration(spec.tolerations ?? []) } : {}),
    },
    status: { phase: 'Pending' },
  }
}

type Tolerations = NonNullable<ReturnType<typeof specOf>['tolerations']>

const EVERYTHING = { operator: 'Exists', effect: 'NoExecute' } as const

function withToleration(tolerations: Tolerations): Tolerations {
  const isThere = tolerations.some(
    ({ key = '', operator, value = '', effect }) =>
      key === '' && value === '' && operator === EVERYTHING.operator && effect === EVERYTHING.effect,
  )
  return isThere ? tolerations : [...tolerations, EVERYTHING]
}

/** The same manifest at the same place is the same pod, also to a kubelet that starts anew. */
function hashOf(pod: Pod, { source, place, nodeName }: ManifestOrigin): string {
  const where = source === 'file' ? `host:${nodeName} file:${place}` : `url:${place}`
  return createHash('md5').update(JSON.stringify(pod)).update(where).digest('hex')
}

/** What the pod would have to ask the API server for. */
function referredObjects(pod: Pod): readonly string[] {
  const found = new Set<string>()
  const spec = specOf(pod)
  if (spec.serviceAccountName) found.add('serviceaccounts')
  if ((spec.imagePullSecrets ?? []).length > 0) found.add('secrets')
  if ((spec.resourceClaims ?? []).length > 0) found.add('resourceclaims')
  for (const volume of spec.volumes ?? []) {
    if (volume.secret !== undefined) found.add('secrets')
    if (volume.configMap !== undefined) found.add('configmaps')
    if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined)
      found.add('persistentvolumeclaims')
    if (volume.csi?.nodePublishSecretRef !== undefined) found.add('secrets')
    for (const { secret, configMap, serviceAccountToken, clusterTrustBundle, podCertificate } of volume.projected
      ?.sources ?? []) {
      if (secret !== undefined) found.add('secrets')
      if (configMap !== undefined) found.add('configmaps')
      if (serviceAccountToken !== undefined) found.add('serviceaccounts')
      if (clusterTrustBundle !== undefined) found.add('clustertrustbundles')
      if (podCertificate !== undefined) found.add('podcertificaterequests')
    }
  }
  for (const { env = [], envFrom = [] } of [
    ...initContainersOf(pod),
    ...spec.containers,
    ...ephemeralContainersOf(pod),
  ]) {
    for (const { secretRef, configMapRef } of envFrom) {
      if (secretRef !== undefined) found.add('secrets')
      if (configMapRef !== undefined) found.add('configmaps')
    }
    for (const { valueFrom } of env) {
      if (valueFrom?.secretKeyRef !== undefined) found.add('secrets')
      if (valueFrom?.configMapKeyRef !== undefined) found.add('configmaps')
    }
  }
  return [...found].sort()
}

/** What is created at the API server for a static pod. The Node owns it, so that it goes with the Node. */
export function mirrorPodOf(pod: Pod, node: Node): Pod {
  const { annotations = {}, ...metadata } = pod.metadata
  return {
    ...pod,
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...metadata,
      annotations: { ...annotations, [CONFIG_MIRROR]: annotations[CONFIG_HASH] ?? '' },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Node',
          name: node.metadata.name ?? '',
          uid: node.metadata.uid ?? '',
          controller: true,
        },
      ],
    },
  }
}
