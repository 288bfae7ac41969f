/**
 * What volumes of ConfigMaps, Secrets, projected sources and the downward API hold as files: what they refer to is looked up, and projected
 * service account tokens are asked for and kept for four fifths of their life.
 */

import type { AuthenticationV1TokenRequest, ConfigMap, Secret, Volume } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { labelSelectorOf } from '../api/objects/label-selector.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import { addKeys, type VolumeFiles } from './configmap-and-secret-keys-as-files.ts'
import type { References } from './configmaps-and-secrets.ts'
import { textOfDownwardItem } from './downward-api.ts'
import { initContainersOf, nameOf, namespaceOf, type Pod, specOf, uidOf } from './pod.ts'
import type { PodCertificates } from './pod-certificates.ts'

export interface FilesOfVolumes {
  /** Empty for volumes that are made of no objects, and on a node without files. @throws Error for what is missing */
  of(pod: Pod, volume: Volume): Promise<VolumeFiles>
  forget(uid: string): void
}

const DEFAULT_MODE = 0o644

interface Token {
  readonly text: string
  /** When it is asked for anew: after four fifths of its life. */
  readonly until: number
}

export function createFilesOfVolumes(
  clock: Clock,
  client: Client,
  references: References,
  /** Of a node that has files: what the pod's fields say of it, where they ask for what has no limit. */
  allocatable?: () => Readonly<Record<string, string>>,
  certificates?: PodCertificates,
): FilesOfVolumes {
  const isWritten = allocatable !== undefined
  /** By pod: its tokens, by volume and place in it. */
  const tokens = new Map<string, Map<string, Token>>()

  async function filesOf(pod: Pod, volume: Volume): Promise<VolumeFiles> {
    const namespace = namespaceOf(pod)
    const { configMap, secret, projected, downwardAPI } = volume
    const files: VolumeFiles = new Map()
    if (configMap !== undefined) await configMapKeys(namespace, configMap, files, configMap.defaultMode)
    if (secret !== undefined)
      await secretKeys(namespace, { ...secret, name: secret.secretName ?? '' }, files, secret.defaultMode)
    const missing: string[] = []
    for (const [at, source] of (projected?.sources ?? []).entries()) {
      const mode = projected?.defaultMode ?? DEFAULT_MODE
      try {
        await addSource(pod, `${volume.name}/${at}`, source, files, mode)
      } catch (error) {
        missing.push(messageOf(error))
      }
    }
    if (missing.length > 0) throw new Error(missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`)
    for (const item of downwardAPI?.items ?? []) addField(pod, item, files, downwardAPI?.defaultMode)
    return files
  }

  type ProjectedSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number]

  async function addSource(
    pod: Pod,
    place: string,
    source: ProjectedSource,
    files: VolumeFiles,
    mode: number,
  ): Promise<void> {
    const namespace = namespaceOf(pod)
    if (source.configMap !== undefined) await configMapKeys(namespace, source.configMap, files, mode)
    if (source.secret !== undefined) await secretKeys(namespace, source.secret, files, mode)
    if (source.clusterTrustBundle !== undefined) {
      const pem = await trustBundles(source.clusterTrustBundle)
      files.set(source.clusterTrustBundle.path, { bytes: Buffer.from(pem), mode })
    }
    for (const item of source.downwardAPI?.items ?? []) addField(pod, item, files, mode)
    if (source.podCertificate !== undefined && certificates !== undefined) {
      const { credentialBundlePath, keyPath, certificateChainPath } = source.podCertificate
      const { key, chain } = await certificates.credentials(pod, place, source.podCertificate)
      const put = (path: string | undefined, text: string) => {
        if (path) files.set(path, { bytes: Buffer.from(text), ...tokenOwner(pod, mode) })
      }
      put(credentialBundlePath, key + chain)
      put(keyPath, key)
      put(certificateChainPath, chain)
    }
    const { serviceAccountToken } = source
    if (serviceAccountToken === undefined) return
    const { audience, expirationSeconds = 3600, path } = serviceAccountToken
    const text = await tokenOf(pod, place, audience, expirationSeconds)
    files.set(path, { bytes: Buffer.from(text), ...tokenOwner(pod, mode) })
  }

  type Field = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number]

  function addField(pod: Pod, item: Field, files: VolumeFiles, mode = DEFAULT_MODE): void {
    if (allocatable === undefined) return
    files.set(item.path, {
      bytes: Buffer.from(textOfDownwardItem(pod, item, allocatable())),
      mode: item.mode ?? mode,
    })
  }

  interface KeySelection {
    readonly name?: string
    readonly optional?: boolean
    readonly items?: readonly { readonly key: string; readonly path: string; readonly mode?: number }[]
  }

  async function configMapKeys(
    namespace: string,
    { name = '', optional, items }: KeySelection,
    files: VolumeFiles,
    mode = DEFAULT_MODE,
  ): Promise<void> {
    const found = await references.configMap(namespace, name)
    checkKeys(found, 'configmap', name, optional, items)
    if (isWritten) addKeys(files, found, 'configmap', items, mode)
  }

  async function secretKeys(
    namespace: string,
    { name = '', optional, items }: KeySelection,
    files: VolumeFiles,
    mode = DEFAULT_MODE,
  ): Promise<void> {
    const found = await references.secret(namespace, name)
    checkKeys(found, 'secret', name, optional, items)
    if (isWritten) addKeys(files, found, 'secret', items, mode)
  }

  type TrustBundleSource = NonNullable<
    NonNullable<NonNullable<Volume['projected']>['sources']>[number]['clusterTrustBundle']
  >

  async function trustBundles({ name, signerName = '', labelSelector, optional }: TrustBundleSource): Promise<string> {
    const selector = labelSelectorOf(labelSelector)
    const found = await references.trustBundles(name === undefined ? { signerName, selector } : { name })
    if (found.length > 0 || optional === true) return found.map((bundle) => bundle.spec?.trustBundle ?? '').join('')
    throw new Error(
      name === undefined
        ? 'combination of signerName and labelSelector matched zero ClusterTrustBundles'
        : `while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)} not found`,
    )
  }

  async function tokenOf(
    pod: Pod,
    place: string,
    audience: string | undefined,
    expirationSeconds: number,
  ): Promise<string> {
    const uid = uidOf(pod)
    const own = tokens.get(uid) ?? new Map<string, Token>()
    tokens.set(uid, own)
    const known = own.get(place)
    if (known !== undefined && known.until > clock.now()) return known.text
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: nameOf(pod), uid }
    const request: KubeObject = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { audiences: audience === undefined ? null : [audience], expirationSeconds, boundObjectRef },
    }
    const accounts = client.resource<AuthenticationV1TokenRequest>({
      group: '',
      version: 'v1',
      resource: 'serviceaccounts',
    })
    const name = specOf(pod).serviceAccountName ?? 'default'
    const answer = await accounts
      .namespace(namespaceOf(pod))
      .create(request as AuthenticationV1TokenRequest, { subresource: 'token', name })
    const text = answer.status?.token ?? ''
    // Where nothing is written only the time counts until another one is asked for.
    own.set(place, { text: isWritten ? text : '', until: clock.now() + expirationSeconds * 800 })
    return text
  }

  return {
    of: filesOf,
    forget(uid) {
      tokens.delete(uid)
      certificates?.forget(uid)
    },
  }
}

/** That an object has the keys that a volume shows of it. @throws Error */
export function checkKeys(
  object: ConfigMap | Secret | undefined,
  kind: string,
  name: string,
  optional: boolean | undefined,
  items: readonly { readonly key: string }[] | undefined,
): void {
  if (object === undefined) {
    if (optional === true) return
    throw new Error(`${kind} ${JSON.stringify(name)} not found`)
  }
  const data = { ...object.data, ...('binaryData' in object ? object.binaryData : undefined) }
  for (const { key } of items ?? [])
    if (!Object.hasOwn(data, key) && optional !== true)
      throw new Error(
        `${kind === 'configmap' ? 'configmap references non-existent config' : 'references non-existent secret'} key: ${key}`,
      )
}

/** A token or key is its user's alone, where the pod's containers have one user, or a group that shares its volumes. */
function tokenOwner(pod: Pod, mode: number): { readonly mode: number; readonly uid?: number } {
  const { securityContext, containers } = specOf(pod)
  const users = new Set(
    [...initContainersOf(pod), ...containers].map(
      (one) => one.securityContext?.runAsUser ?? securityContext?.runAsUser,
    ),
  )
  const [user] = users
  if (users.size === 1 && user !== undefined) return { mode: 0o600, uid: user }
  return { mode: securityContext?.fsGroup === undefined ? mode : 0o600 }
}
