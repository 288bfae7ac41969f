/** What the API server tells a CSI driver's calls of the pod, the attachment, tokens and Secrets (API concept: CSIDriver). */
import type { AuthenticationV1TokenRequest, CSIDriver, Secret, VolumeAttachment } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client } from '../../client/client.ts'
import { MountStepError } from '../mount-step-error.ts'
import { nameOf, namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'
import { sha256 } from './csi-records.ts'
import type { CsiVolumeSource, SecretRef } from './csi-volume-source.ts'

type Texts = Readonly<Record<string, string>>

const CSI_DRIVERS = { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' }
const ATTACHMENTS = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattachments' }
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const TOKEN_SECONDS = 3600

/** Undefined: there is no such object, and the driver is what drivers are by default. @throws Error */
export async function csiDriverNamed(client: Client, name: string): Promise<CSIDriver | undefined> {
  try {
    return await client.resource<CSIDriver>(CSI_DRIVERS).get(name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Its values by their keys; none where no Secret is named. @throws Error */
export async function secretValues(client: Client, ref: SecretRef | undefined, namespace: string): Promise<Texts> {
  if (ref?.name === undefined) return {}
  const { data = {} } = await client
    .resource<Secret & KubeObject>(SECRETS)
    .namespace(ref.namespace ?? namespace)
    .get(ref.name)
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()]),
  )
}

/** What the attachment to the node tells of the volume; nothing where none is needed. @throws MountStepError */
export async function attachmentMetadata(
  client: Client,
  nodeName: string,
  source: CsiVolumeSource,
  object: CSIDriver | undefined,
): Promise<Texts> {
  if (source.isInline || object?.spec.attachRequired === false) return {}
  const id = `csi-${sha256(`${source.volumeHandle}${source.driverName}${nodeName}`)}`
  let attachment: VolumeAttachment
  try {
    attachment = await client.resource<VolumeAttachment>(ATTACHMENTS).get(id)
  } catch (error) {
    const why = `volume ${source.volumeHandle} has GET error for volume attachment ${id}: ${messageOf(error)}`
    throw new MountStepError('WaitForAttach', source.name, why)
  }
  if (attachment.status?.attached === true) return attachment.status.attachmentMetadata ?? {}
  const why = `volume attachment ${id} is not attached yet`
  throw new MountStepError('WaitForAttach', source.name, attachment.status?.attachError?.message ?? why)
}

/** Tokens of the pod's account for the audiences that the driver asks for, as the driver reads them. @throws Error */
export async function accountTokens(client: Client, pod: Pod, object: CSIDriver | undefined): Promise<Texts> {
  const requests = object?.spec.tokenRequests ?? []
  if (requests.length === 0) return {}
  const given: Record<string, unknown> = {}
  for (const { audience, expirationSeconds = TOKEN_SECONDS } of requests) {
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: nameOf(pod), uid: uidOf(pod) }
    const request: AuthenticationV1TokenRequest = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { audiences: audience === '' ? [] : [audience], expirationSeconds, boundObjectRef },
    }
    const name = specOf(pod).serviceAccountName ?? 'default'
    const accounts = client.resource<AuthenticationV1TokenRequest>(ACCOUNTS).namespace(namespaceOf(pod))
    const { status } = await accounts.create(request, { subresource: 'token', name })
    given[audience] = { token: status?.token, expirationTimestamp: status?.expirationTimestamp }
  }
  return { 'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify(given) }
}

/** What a driver is told of the pod, where it asks for that. */
export const podInfo = (pod: Pod, isInline: boolean, object: CSIDriver | undefined): Texts =>
  object?.spec.podInfoOnMount === true
    ? {
        'csi.storage.k8s.io/pod.name': nameOf(pod),
        'csi.storage.k8s.io/pod.namespace': namespaceOf(pod),
        'csi.storage.k8s.io/pod.uid': uidOf(pod),
        'csi.storage.k8s.io/serviceAccount.name': specOf(pod).serviceAccountName ?? 'default',
        'csi.storage.k8s.io/ephemeral': String(isInline),
      }
    : {}
