/**
 * Mounts a pod's volumes before its containers start: what they refer to must be there. On a node that has files they are written
 * then, and again when what they are made of has changed.
 */

import type { PersistentVolume, Volume } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import type { Client } from '../client/client.ts'
import { createBesideSyncs } from './beside-syncs.ts'
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
import { untilAborted, untilLate } from './until-aborted.ts'
import { createVolumesOfClaims } from './volumes-of-claims.ts'

export interface Volumes {
  /**
   * Sets up what is not yet. Answers of the API server are waited for until `signal` is aborted: a pod that ends while one is slow is
   * not held up; files that are being written are written to their end. What is set up is looked at again beside, and waited for no
   * longer than a moment: an API server that is slow keeps no container from its restart.
   * @throws SyncError while something is missing, and the signal's reason
   */
  mount(pod: Pod, signal: AbortSignal): Promise<void>
  /** The pod ran before on this node, which has no files: its volumes are set up. */
  inherit(pod: Pod): void
  /** The pod has ended: its volumes are looked at no more. Resolves when nothing is written any longer; undefined: nothing is. */
  end(uid: string): Promise<unknown> | undefined
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
/** No volume has this name. */
const GROWTH = '/growth'

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
  /** By pod and volume: see triedAgain. */
  const failed = new Map<string, Map<string, number>>()
  const beside = createBesideSyncs()

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
    signal.throwIfAborted()
    await writer.setUp(pod, volume, isMadeOfObjects(volume) ? made : undefined, persistent)
    if (writer.expand === undefined || persistent?.spec?.csi === undefined) return
    ofClaims.mayGrow(pod, volume)
  }

  /** When a volume that failed is tried again, by the monotonic clock. */
  const triedAgain = (uid: string, { name }: Volume) => failed.get(uid)?.get(name) ?? 0

  /** Tells of it, though no sooner again than it has to be tried again: a pod is synced for other reasons too. */
  function failure(pod: Pod, volume: Volume, error: unknown): SyncError {
    const uid = uidOf(pod)
    const [step, of] = error instanceof MountStepError ? [error.step, error.volume] : ['SetUp', volume.name]
    const text = `MountVolume.${step} failed for volume "${of}" : ${messageOf(error)}`
    const now = clock.monotonic()
    if (triedAgain(uid, volume) <= now) {
      const key = keyOf(uid, volume)
      events.warning(pod, 'FailedMount', text)
      backOff.next(key, clock.now())
      getOrInsertComputed(failed, uid, () => new Map<string, number>()).set(volume.name, now + backOff.current(key))
    }
    return new SyncError(text, triedAgain(uid, volume) - now, { cause: error })
  }

  function succeeded(pod: Pod, volume: Volume): void {
    const uid = uidOf(pod)
    mounted.get(uid)?.set(volume.name, freshUntil(volume))
    if (failed.get(uid)?.delete(volume.name) === true) backOff.delete(keyOf(uid, volume))
  }

  /**
   * What is made of objects is set up at the same time, the rest one after the other: two volumes may be of one claim. What failed
   * first to be tried again, and what is not even begun, by volume.
   */
  async function begin(
    pod: Pod,
    volumes: readonly Volume[],
    signal: AbortSignal,
  ): Promise<[SyncError | undefined, ReadonlyMap<string, string>]> {
    let problem: SyncError | undefined
    const unprocessed = new Map<string, string>()
    async function beginOne(volume: Volume): Promise<void> {
      try {
        await setUp(pod, volume, signal)
        succeeded(pod, volume)
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof UnprocessedVolumeError) {
          unprocessed.set(volume.name, messageOf(error))
          return
        }
        const failing = failure(pod, volume, error)
        if (problem === undefined || failing.retryMs! < problem.retryMs!) problem = failing
      }
    }
    async function beginInTurn(): Promise<void> {
      for (const volume of volumes) if (!isMadeOfObjects(volume)) await beginOne(volume)
    }
    await Promise.all([...volumes.filter(isMadeOfObjects).map(beginOne), beginInTurn()])
    signal.throwIfAborted()
    return [problem, unprocessed]
  }

  /** It is mounted, whatever comes of it. */
  async function lookAgain(pod: Pod, volume: Volume, signal: AbortSignal): Promise<void> {
    try {
      await setUp(pod, volume, signal)
      succeeded(pod, volume)
    } catch (error) {
      if (!signal.aborted) failure(pod, volume, error)
    }
  }

  /** What is made of objects is looked at in every sync, which follows changes of the pod and comes each minute; what is no file is set up once. */
  function freshUntil(volume: Volume): number {
    if (writer === undefined) return Number.POSITIVE_INFINITY
    if (isMadeOfObjects(volume)) return 0
    // A CSI driver may ask for NodePublishVolume again (requiresRepublish), with a new token.
    return volume.csi === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() + REPUBLISHED_MS
  }

  return {
    async mount(pod, signal) {
      const wanted = mountedVolumes(pod)
      if (wanted.length === 0) return
      const uid = uidOf(pod)
      const done = getOrInsertComputed(mounted, uid, () => new Map<string, number>())
      const looks = wanted.map((volume) => {
        const until = done.get(volume.name)
        if (until === undefined || Math.max(until, triedAgain(uid, volume)) > clock.monotonic()) return undefined
        return beside.begin(uid, volume.name, (ended) => lookAgain(pod, volume, ended))
      })
      const missing = wanted.filter(({ name }) => !done.has(name))
      const [problem, unprocessed] = await begin(pod, missing, signal)
      if (unprocessed.size > 0) {
        const left = wanted.filter(({ name }) => !done.has(name)).map(({ name }) => name)
        const names = [...unprocessed.keys()].join(' ')
        const text = `unmounted volumes=[${left.join(' ')}], unattached volumes=[], failed to process volumes=[${names}]: ${[...unprocessed.values()].join('; ')}`
        events.warning(pod, 'FailedMount', `Unable to attach or mount volumes: ${text}`)
        throw problem ?? new SyncError(text)
      }
      if (problem !== undefined) throw problem
      if (ofClaims.isDue(pod)) looks.push(beside.begin(uid, GROWTH, () => ofClaims.growAll(pod)))
      await untilLate(clock, looks, signal)
    },
    end: (uid) => beside.end(uid),
    inherit(pod) {
      mounted.set(uidOf(pod), new Map(mountedVolumes(pod).map(({ name }) => [name, Number.POSITIVE_INFINITY])))
    },
    forget(uid) {
      void beside.end(uid)
      mounted.delete(uid)
      failed.delete(uid)
      ofClaims.forget(uid)
      files.forget(uid)
      backOff.delete(`${uid}_`)
    },
  }
}

const keyOf = (uid: string, { name }: Volume) => `${uid}_${name}/`

/** Of such a volume files are written. */
function isMadeOfObjects({ configMap, secret, projected, downwardAPI }: Volume): boolean {
  return [configMap, secret, projected, downwardAPI].some((source) => source !== undefined)
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
