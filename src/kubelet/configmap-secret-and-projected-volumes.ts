/**
 * Volumes: before a pod's containers start, what their mounted volumes refer to must be there. Here that is looked up and
 * the projected service account tokens are asked for. On a node that has files they are written then, and again when what they are made
 * of has changed.
 */

import type {
  AuthenticationV1TokenRequest,
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
  Volume,
} from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { labelSelectorOf } from '../api/objects/label-selector.ts'
import { compareQuantities } from '../api/objects/quantity.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import { addKeys, type VolumeFiles } from './configmap-and-secret-keys-as-files.ts'
import type { References } from './configmaps-and-secrets.ts'
import { type BackOff, createBackOff } from './doubling-back-off.ts'
import { textOfDownwardItem } from './downward-api.ts'
import type { VolumeWorkMetrics } from './metrics/volume-work-metrics.ts'
import { MountStepError, UnprocessedVolumeError } from './mount-step-error.ts'
import { ephemeralContainersOf, initContainersOf, nameOf, namespaceOf, type Pod, specOf, uidOf } from './pod.ts'
import type { PodCertificates } from './pod-certificates.ts'
import type { PodEvents } from './pod-events.ts'
import { SyncError } from './sync-error.ts'

export interface Volumes {
  /**
   * Sets up what is not yet. Answers of the API server are waited for until `signal` is aborted: a pod that ends while one is slow is
   * not held up; files that are being written are written to their end.
   * @throws SyncError while something is missing, and the signal's reason
   */
  mount(pod: Pod, signal: AbortSignal): Promise<void>
  /** The pod ran before on this node, which has no files: its volumes are set up. */
  inherit(pod: Pod): void
  forget(uid: string): void
}

/** Where volumes become directories. */
export interface VolumeWriter {
  /** What the pod's fields say of the node, where they ask for what has no limit. */
  readonly allocatable: () => Readonly<Record<string, string>>
  /**
   * `files`: of a volume that is made from objects; `persistent`: what a claim is bound to. Called again for files that may have changed.
   * @throws Error
   */
  setUp(
    pod: Pod,
    volume: Volume,
    files: VolumeFiles | undefined,
    persistent: PersistentVolume | undefined,
  ): Promise<void>
  /** Makes a volume of a driver as large as it is told to be now. False: that is not done on nodes. @throws Error */
  expand?(pod: Pod, volume: Volume, persistent: PersistentVolume): Promise<boolean>
}

const FIRST_MS = 500
const LONGEST_MS = 122_000
/** What volumes are made of is looked at again after this. */
const FRESH_MS = 55_000
const DEFAULT_MODE = 0o644

interface Token {
  readonly text: string
  /** When it is asked for anew: after four fifths of its life. */
  readonly until: number
}

export function createVolumes(
  clock: Clock,
  client: Client,
  references: References,
  events: PodEvents,
  /** Of a node that has files. */
  writer?: VolumeWriter,
  certificates?: PodCertificates,
  counts?: Pick<VolumeWorkMetrics, 'mounting'>,
): Volumes {
  const backOff: BackOff = createBackOff(clock, FIRST_MS, LONGEST_MS)
  const core = { group: '', version: 'v1' }
  const claims = client.resource<PersistentVolumeClaim>({ ...core, resource: 'persistentvolumeclaims' })
  const persistentVolumes = client.resource<PersistentVolume>({ ...core, resource: 'persistentvolumes' })
  /** By pod: the volumes that are set up, and until when they need no other look. */
  const mounted = new Map<string, Map<string, number>>()
  /** By pod: volumes that may grow, and when they are looked at again. */
  const growing = new Map<string, Map<string, number>>()
  /** By pod: its tokens, by volume and place in it. */
  const tokens = new Map<string, Map<string, Token>>()

  async function setUp(pod: Pod, volume: Volume, signal: AbortSignal): Promise<void> {
    const bound = writer === undefined ? undefined : await untilAborted(persistentVolume(pod, volume), signal)
    const task = () => write(pod, volume, bound, signal)
    await (counts === undefined ? task() : counts.mounting(pod, volume, bound, task))
  }

  async function write(
    pod: Pod,
    volume: Volume,
    persistent: PersistentVolume | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const files = await untilAborted(filesOf(pod, volume), signal)
    if (writer === undefined) return
    const { configMap, secret, projected, downwardAPI } = volume
    const isMadeOfFiles = [configMap, secret, projected, downwardAPI].some((source) => source !== undefined)
    await writer.setUp(pod, volume, isMadeOfFiles ? files : undefined, persistent)
    if (writer.expand === undefined || persistent?.spec?.csi === undefined) return
    const own = growing.get(uidOf(pod)) ?? new Map<string, number>()
    growing.set(uidOf(pod), own)
    own.set(volume.name, 0)
  }

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
    if (writer === undefined) return
    files.set(item.path, {
      bytes: Buffer.from(textOfDownwardItem(pod, item, writer.allocatable())),
      mode: item.mode ?? mode,
    })
  }

  /** The volume a claim is bound to; undefined for what is no claim. @throws Error while it is not bound */
  async function persistentVolume(pod: Pod, volume: Volume): Promise<PersistentVolume | undefined> {
    const name = claimOf(pod, volume)
    if (name === undefined) return undefined
    const failed = `error processing PVC ${namespaceOf(pod)}/${name}`
    const claim = await claims
      .namespace(namespaceOf(pod))
      .get(name)
      .catch((error) => {
        const why = `${failed}: failed to fetch PVC from API server: ${messageOf(error)}`
        throw new UnprocessedVolumeError(why, { cause: error })
      })
    const bound = claim.spec?.volumeName
    if (bound === undefined || bound === '' || claim.status?.phase !== 'Bound')
      throw new UnprocessedVolumeError(`${failed}: PVC is not bound`)
    return persistentVolumes.get(bound)
  }

  /** What its driver does on the node is told to the claim. @throws Error */
  async function expand(pod: Pod, volume: Volume): Promise<void> {
    const name = claimOf(pod, volume)
    if (name === undefined || writer?.expand === undefined) return
    const claim = await claims.namespace(namespaceOf(pod)).get(name)
    const persistent = await persistentVolumes.get(claim.spec?.volumeName ?? '')
    const [has, is] = [claim.status?.capacity?.['storage'], persistent.spec?.capacity?.['storage']]
    if (has === undefined || is === undefined || compareQuantities(has, is) >= 0) return
    if (!(await writer.expand(pod, volume, persistent))) return
    const over = (claim.status?.conditions ?? []).filter(({ type }) => RESIZING.has(type))
    await claims.namespace(namespaceOf(pod)).patch(
      name,
      'strategic',
      {
        status: {
          capacity: { ...claim.status?.capacity, storage: is },
          ...(over.length === 0 ? {} : { conditions: over.map(({ type }) => ({ type, $patch: 'delete' })) }),
          ...(claim.status?.allocatedResourceStatuses === undefined
            ? {}
            : { allocatedResourceStatuses: { storage: null } }),
        },
      },
      { subresource: 'status' },
    )
    const message = `MountVolume.NodeExpandVolume succeeded for volume "${persistent.metadata.name}" ${specOf(pod).nodeName}`
    events.normal(pod, 'FileSystemResizeSuccessful', message)
    events.about({ ...claim, kind: 'PersistentVolumeClaim', apiVersion: 'v1' }, 'FileSystemResizeSuccessful', message)
  }

  /** What does not grow serves on as it is, and is tried again. */
  async function growAll(pod: Pod): Promise<void> {
    const own = growing.get(uidOf(pod))
    for (const volume of own === undefined ? [] : (specOf(pod).volumes ?? [])) {
      const due = own?.get(volume.name)
      if (due === undefined || due > clock.monotonic()) continue
      own?.set(volume.name, clock.monotonic() + FRESH_MS)
      await expand(pod, volume).catch((error: unknown) => {
        events.warning(
          pod,
          'VolumeResizeFailed',
          `NodeExpandVolume failed for volume "${volume.name}" : ${messageOf(error)}`,
        )
      })
    }
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
    if (writer !== undefined) addKeys(files, found, 'configmap', items, mode)
  }

  async function secretKeys(
    namespace: string,
    { name = '', optional, items }: KeySelection,
    files: VolumeFiles,
    mode = DEFAULT_MODE,
  ): Promise<void> {
    const found = await references.secret(namespace, name)
    checkKeys(found, 'secret', name, optional, items)
    if (writer !== undefined) addKeys(files, found, 'secret', items, mode)
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
    own.set(place, { text: writer === undefined ? '' : text, until: clock.now() + expirationSeconds * 800 })
    return text
  }

  /** Fields of the pod are looked at in every sync, which follows their changes; what is no file is set up once. */
  function freshUntil(volume: Volume): number {
    if (writer === undefined) return Number.POSITIVE_INFINITY
    const { configMap, secret, projected, downwardAPI } = volume
    if (downwardAPI !== undefined || projected?.sources?.some((source) => source.downwardAPI !== undefined)) return 0
    // A CSI driver may ask for NodePublishVolume again (requiresRepublish), with a new token.
    const isMadeOfObjects = [configMap, secret, projected, volume.csi].some((source) => source !== undefined)
    return isMadeOfObjects ? clock.monotonic() + FRESH_MS : Number.POSITIVE_INFINITY
  }

  return {
    async mount(pod, signal) {
      const uid = uidOf(pod)
      const wanted = mountedVolumes(pod)
      if (wanted.length === 0) return
      let done = mounted.get(uid)
      if (done === undefined) {
        done = new Map()
        mounted.set(uid, done)
      }
      let problem: SyncError | undefined
      const unprocessed = new Map<string, string>()
      for (const volume of wanted) {
        const until = done.get(volume.name)
        if (until !== undefined && until > clock.monotonic()) continue
        try {
          await setUp(pod, volume, signal)
          done.set(volume.name, freshUntil(volume))
        } catch (error) {
          if (signal.aborted) throw signal.reason
          const message = messageOf(error)
          if (error instanceof UnprocessedVolumeError) {
            unprocessed.set(volume.name, message)
            continue
          }
          const [step, of] = error instanceof MountStepError ? [error.step, error.volume] : ['SetUp', volume.name]
          const text = `MountVolume.${step} failed for volume "${of}" : ${message}`
          events.warning(pod, 'FailedMount', text)
          const key = `${uid}_${volume.name}`
          backOff.next(key, clock.now())
          const wait = backOff.current(key)
          if (problem === undefined || wait < problem.retryMs!) problem = new SyncError(text, wait, { cause: error })
        }
      }
      if (unprocessed.size > 0) {
        const left = wanted.filter(({ name }) => !done.has(name)).map(({ name }) => name)
        const names = [...unprocessed.keys()].join(' ')
        const text = `unmounted volumes=[${left.join(' ')}], unattached volumes=[], failed to process volumes=[${names}]: ${[...unprocessed.values()].join('; ')}`
        events.warning(pod, 'FailedMount', `Unable to attach or mount volumes: ${text}`)
        problem ??= new SyncError(text)
      }
      if (problem !== undefined) throw problem
      await growAll(pod)
    },
    inherit(pod) {
      mounted.set(uidOf(pod), new Map(mountedVolumes(pod).map(({ name }) => [name, Number.POSITIVE_INFINITY])))
    },
    forget(uid) {
      mounted.delete(uid)
      growing.delete(uid)
      tokens.delete(uid)
      certificates?.forget(uid)
      backOff.delete(`${uid}_`)
    },
  }
}

/** Of conditions of a claim: what is over when its volume has grown. */
const RESIZING = new Set(['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'])

const claimOf = (pod: Pod, volume: Volume): string | undefined =>
  volume.persistentVolumeClaim?.claimName ??
  (volume.ephemeral === undefined ? undefined : `${nameOf(pod)}-${volume.name}`)

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

/** Only volumes that a container mounts are waited for. */
function mountedVolumes(pod: Pod): readonly Volume[] {
  const { volumes = [], containers } = specOf(pod)
  if (volumes.length === 0) return volumes
  const names = new Set<string>()
  for (const container of [...initContainersOf(pod), ...containers, ...ephemeralContainersOf(pod)]) {
    for (const { name } of container.volumeMounts ?? []) names.add(name)
    for (const { name } of container.volumeDevices ?? []) names.add(name)
    // Files of variables are read there by the kubelet.
    for (const { valueFrom } of container.env ?? [])
      if (valueFrom?.fileKeyRef) names.add(valueFrom.fileKeyRef.volumeName)
  }
  return volumes.filter(({ name }) => names.has(name))
}

/** The answer, or the signal's reason if that comes first. @throws both's */
export async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([answer, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
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
