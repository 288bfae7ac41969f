/**
 * Volumes: before a pod's containers start, what their mounted volumes refer to must be there. Here that is looked up and
 * the projected service account tokens are asked for; a runtime that mounts gets them from there.
 */

import type { Volume } from '../api/generated/types.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { labelSelectorOf } from '../api/objects/label-selector.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import { type BackOff, createBackOff } from './backoff.ts'
import { initContainersOf, nameOf, namespaceOf, type Pod, specOf, uidOf } from './pod.ts'
import type { PodEvents } from './pod-events.ts'
import type { References } from './references.ts'
import { SyncError } from './sync-error.ts'

export interface Volumes {
  /** Sets up what is not yet. @throws SyncError while something is missing */
  mount(pod: Pod): Promise<void>
  forget(uid: string): void
}

const FIRST_MS = 500
const LONGEST_MS = 122_000

export function createVolumes(clock: Clock, client: Client, references: References, events: PodEvents): Volumes {
  const backOff: BackOff = createBackOff(clock, FIRST_MS, LONGEST_MS)
  /** By pod: the volumes that are set up. */
  const mounted = new Map<string, Set<string>>()

  async function setUp(pod: Pod, volume: Volume): Promise<void> {
    const namespace = namespaceOf(pod)
    const { configMap, secret, projected } = volume
    if (configMap !== undefined) await configMapKeys(namespace, configMap)
    if (secret !== undefined) await secretKeys(namespace, { ...secret, name: secret.secretName ?? '' })
    for (const source of projected?.sources ?? []) {
      if (source.configMap !== undefined) await configMapKeys(namespace, source.configMap)
      if (source.secret !== undefined) await secretKeys(namespace, source.secret)
      if (source.clusterTrustBundle !== undefined) await trustBundles(source.clusterTrustBundle)
      const token = source.serviceAccountToken
      if (token !== undefined) await requestToken(pod, token.audience, token.expirationSeconds ?? 3600)
    }
  }

  interface KeySelection {
    readonly name?: string
    readonly optional?: boolean
    readonly items?: readonly { readonly key: string }[]
  }

  async function configMapKeys(namespace: string, { name = '', optional, items }: KeySelection): Promise<void> {
    const found = await references.configMap(namespace, name)
    checkKeys(found, 'configmap', name, optional, items)
  }

  async function secretKeys(namespace: string, { name = '', optional, items }: KeySelection): Promise<void> {
    const found = await references.secret(namespace, name)
    checkKeys(found, 'secret', name, optional, items)
  }

  type TrustBundleSource = NonNullable<
    NonNullable<NonNullable<Volume['projected']>['sources']>[number]['clusterTrustBundle']
  >

  async function trustBundles({ name, signerName = '', labelSelector, optional }: TrustBundleSource): Promise<void> {
    const selector = labelSelectorOf(labelSelector as Fields | undefined)
    const found = await references.trustBundles(name === undefined ? { signerName, selector } : { name })
    if (found.length > 0 || optional === true) return
    throw new Error(
      name === undefined
        ? 'combination of signerName and labelSelector matched zero ClusterTrustBundles'
        : `clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)} not found`,
    )
  }

  async function requestToken(pod: Pod, audience: string | undefined, expirationSeconds: number): Promise<void> {
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: nameOf(pod), uid: uidOf(pod) }
    const request: KubeObject = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { audiences: audience === undefined ? null : [audience], expirationSeconds, boundObjectRef },
    }
    const accounts = client.resource({ group: '', version: 'v1', resource: 'serviceaccounts' })
    const name = specOf(pod).serviceAccountName ?? 'default'
    await accounts.namespace(namespaceOf(pod)).create(request, { subresource: 'token', name })
  }

  return {
    async mount(pod) {
      const uid = uidOf(pod)
      const wanted = mountedVolumes(pod)
      if (wanted.length === 0) return
      let done = mounted.get(uid)
      if (done === undefined) {
        done = new Set()
        mounted.set(uid, done)
      }
      let problem: SyncError | undefined
      for (const volume of wanted) {
        if (done.has(volume.name)) continue
        try {
          await setUp(pod, volume)
          done.add(volume.name)
        } catch (error) {
          const message = messageOf(error)
          const text = `MountVolume.SetUp failed for volume "${volume.name}" : ${message}`
          events.warning(pod, 'FailedMount', text)
          const key = `${uid}_${volume.name}`
          backOff.next(key, clock.now())
          const wait = backOff.current(key)
          if (problem === undefined || wait < problem.retryMs!) problem = new SyncError(text, wait, { cause: error })
        }
      }
      if (problem !== undefined) throw problem
    },
    forget(uid) {
      mounted.delete(uid)
      backOff.delete(`${uid}_`)
    },
  }
}

function checkKeys(
  object: KubeObject | undefined,
  kind: string,
  name: string,
  optional: boolean | undefined,
  items: readonly { readonly key: string }[] | undefined,
): void {
  if (object === undefined) {
    if (optional === true) return
    throw new Error(`${kind} ${JSON.stringify(name)} not found`)
  }
  const data = { ...(object['data'] as object | undefined), ...(object['binaryData'] as object | undefined) }
  for (const { key } of items ?? [])
    if (!Object.hasOwn(data, key) && optional !== true)
      throw new Error(`references non-existent ${kind === 'configmap' ? 'config' : 'secret'} key: ${key}`)
}

/** Only volumes that a container mounts are waited for. */
function mountedVolumes(pod: Pod): readonly Volume[] {
  const { volumes = [], containers } = specOf(pod)
  if (volumes.length === 0) return volumes
  const names = new Set<string>()
  for (const container of [...initContainersOf(pod), ...containers]) {
    for (const { name } of container.volumeMounts ?? []) names.add(name)
    for (const { name } of container.volumeDevices ?? []) names.add(name)
  }
  return volumes.filter(({ name }) => names.has(name))
}
