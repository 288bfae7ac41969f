/**
 * Mounts a pod's volumes before its containers start: what they refer to must be there. On a node that has files they are written
 * then, and again when what they are made of has changed.
 */

import type { PersistentVolume, Volume } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import type { VolumeFiles } from './configmap-and-secret-keys-as-files.ts'
import { createFilesOfVolumes } from './configmap-secret-and-projected-volumes.ts'
import type { References } from './configmaps-and-secrets.ts'
import { type BackOff, createBackOff } from './doubling-back-off.ts'
import type { VolumeWorkMetrics } from './metrics/volume-work-metrics.ts'
import { MountStepError, UnprocessedVolumeError } from './mount-step-error.ts'
import { ephemeralContainersOf, initContainersOf, type Pod, specOf, uidOf } from './pod.ts'
import type { PodCertificates } from './pod-certificates.ts'
import type { PodEvents } from './pod-events.ts'
import { SyncError } from './sync-error.ts'
import { createVolumesOfClaims } from './volumes-of-claims.ts'

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
/** CSI drivers that want it publish a volume again after this. */
const REPUBLISHED_MS = 55_000

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
  const files = createFilesOfVolumes(clock, client, references, writer?.allocatable, certificates)
  const ofClaims = createVolumesOfClaims(clock, client, events, writer?.expand?.bind(writer))
  /** By pod: the volumes that are set up, and until when they need no other look. */
  const mounted = new Map<string, Map<string, number>>()

  async function setUp(pod: Pod, volume: Volume, signal: AbortSignal): Promise<void> {
    const bound = writer === undefined ? undefined : await untilAborted(ofClaims.boundTo(pod, volume), signal)
    const task = () => write(pod, volume, bound, signal)
    try {
      await (counts === undefined ? task() : counts.mounting(pod, volume, bound, task))
    } catch (error) {
      const isNamed = error instanceof MountStepError || error instanceof UnprocessedVolumeError
      if (bound === undefined || isNamed || signal.aborted) throw error
      throw new MountStepError('SetUp', bound.metadata.name ?? '', messageOf(error), { cause: error })
    }
  }

  async function write(
    pod: Pod,
    volume: Volume,
    persistent: PersistentVolume | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const made = await untilAborted(files.of(pod, volume), signal)
    if (writer === undefined) return
    const { configMap, secret, projected, downwardAPI } = volume
    const isMadeOfFiles = [configMap, secret, projected, downwardAPI].some((source) => source !== undefined)
    await writer.setUp(pod, volume, isMadeOfFiles ? made : undefined, persistent)
    if (writer.expand === undefined || persistent?.spec?.csi === undefined) return
    ofClaims.mayGrow(pod, volume)
  }

  /** What is made of objects is looked at in every sync, which follows changes of the pod and comes each minute; what is no file is set up once. */
  function freshUntil(volume: Volume): number {
    if (writer === undefined) return Number.POSITIVE_INFINITY
    const { configMap, secret, projected, downwardAPI, csi } = volume
    if ([configMap, secret, projected, downwardAPI].some((source) => source !== undefined)) return 0
    // A CSI driver may ask for NodePublishVolume again (requiresRepublish), with a new token.
    return csi === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() + REPUBLISHED_MS
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
          // It is mounted, as it was before: nothing has to wait.
          if (until !== undefined) continue
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
      await ofClaims.growAll(pod)
    },
    inherit(pod) {
      mounted.set(uidOf(pod), new Map(mountedVolumes(pod).map(({ name }) => [name, Number.POSITIVE_INFINITY])))
    },
    forget(uid) {
      mounted.delete(uid)
      ofClaims.forget(uid)
      files.forget(uid)
      backOff.delete(`${uid}_`)
    },
  }
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
