/** Sees to it that a container's image is on the machine, by its pull policy; failed pulls wait longer and longer. */

import { messageOf } from '../../base/errors.ts'
import { goDurationTextMs } from '../../base/go-duration.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type BackOff, createBackOff } from '../doubling-back-off.ts'
import type { ImageMetrics } from '../metrics/image-metrics.ts'
import type { PodStartMetrics } from '../metrics/pod-start-metrics.ts'
import { annotationsOf, type Pod, uidOf } from '../pod.ts'
import type { PodEvents } from '../pod-events.ts'
import type { ContainerRuntime, PullCredentials } from '../runtimes/runtime.ts'
import { StartContainerError } from '../sync-error.ts'
import { badImageName } from './image-reference.ts'
import type { PullRecords } from './pull-records.ts'

export interface WantedImage {
  readonly image: string
  /** Default: IfNotPresent. */
  readonly policy: string | undefined
  /** What the Events are about; undefined: the whole pod. */
  readonly fieldPath?: string
}

export interface Images {
  /** Gives what identifies its content. @throws StartContainerError InvalidImageName, ErrImageNeverPull, ErrImagePull, ImagePullBackOff */
  ensure(pod: Pod, wanted: WantedImage, signal: AbortSignal): Promise<string>
  forget(uid: string): void
}

const FIRST_MS = 10_000
const LONGEST_MS = 300_000

/** `credentials`: for the image's registry, of the pod's secrets. `records`: absent where any pod may use what is there. */
export function createImages(
  runtime: Runtime,
  containerRuntime: ContainerRuntime,
  events: PodEvents,
  credentials: (pod: Pod, image: string) => Promise<readonly PullCredentials[]> = async () => [],
  counts?: Pick<ImageMetrics, 'ensured' | 'pulled'>,
  starts?: Pick<PodStartMetrics, 'pulling'>,
  records?: PullRecords,
): Images {
  const { clock } = runtime
  const backOff: BackOff = createBackOff(clock, FIRST_MS, LONGEST_MS)
  const failures = new Map<string, string>()
  /** When the last pull failed. */
  const failedAt = new Map<string, number>()

  return {
    async ensure(pod, { image, policy = 'IfNotPresent', fieldPath: path }, signal) {
      const bad = badImageName(image)
      if (bad !== undefined) {
        const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": ${bad}`
        events.warning(pod, 'InspectFailed', message, path)
        throw new StartContainerError('InvalidImageName', message)
      }
      const annotations = annotationsOf(pod)
      const present = await containerRuntime.imageStatus(image, annotations)
      const isPulled =
        policy === 'Always' ||
        present === undefined ||
        (await records?.mustPull(image, present.id, () => credentials(pod, image))) === true
      counts?.ensured(
        policy,
        policy === 'Always' ? undefined : present !== undefined,
        policy === 'Never' && present === undefined ? undefined : isPulled,
      )
      if (policy === 'Never' && isPulled) {
        const message = `Container image "${image}" is not present with pull policy of Never`
        events.warning(pod, 'ErrImageNeverPull', message, path)
        throw new StartContainerError('ErrImageNeverPull', message)
      }
      if (!isPulled) {
        events.normal(
          pod,
          'Pulled',
          `Container image "${image}" already present on machine and can be accessed by the pod`,
          path,
        )
        return present.id
      }
      const key = `${uidOf(pod)}_${image}`
      const left = failedAt.has(key) ? backOff.remaining(key, failedAt.get(key)!) : 0
      if (left > 0) {
        const message = `Back-off pulling image "${image}"`
        events.normal(pod, 'BackOff', message, path)
        throw new StartContainerError('ImagePullBackOff', `${message}: ErrImagePull: ${failures.get(key) ?? ''}`)
      }
      events.normal(pod, 'Pulling', `Pulling image "${image}"`, path)
      const from = clock.monotonic()
      const lookUp = () => containerRuntime.imageStatus(image, annotations)
      let pulled: { readonly id: string; readonly credentials?: PullCredentials }
      try {
        const pull = async () => {
          const shown = await credentials(pod, image)
          records?.begin(image)
          return containerRuntime.pullImage(image, annotations, signal, shown).catch(async (error: unknown) => {
            // What has come all the same is nothing that others have put there. Where that cannot be asked the intent stays.
            const there = records === undefined || present !== undefined ? undefined : await lookUp()
            records?.failed(image, there?.id)
            throw error
          })
        }
        pulled = await (starts === undefined ? pull() : starts.pulling(pod, pull))
      } catch (error) {
        if (signal.aborted) throw error
        const message = messageOf(error)
        events.warning(pod, 'Failed', `Failed to pull image "${image}": ${message}`, path)
        failures.set(key, message)
        failedAt.set(key, clock.now())
        backOff.next(key, clock.now())
        throw new StartContainerError('ErrImagePull', message, undefined, { cause: error })
      }
      const tookMs = clock.monotonic() - from
      const took = formatDuration(tookMs)
      const now = await lookUp()
      records?.pulled(image, now?.id ?? pulled.id, pulled.credentials)
      const size = now?.size ?? present?.size ?? 0
      counts?.pulled(size, tookMs)
      events.normal(
        pod,
        'Pulled',
        `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: ${size} bytes.`,
        path,
      )
      backOff.delete(key)
      failures.delete(key)
      failedAt.delete(key)
      return pulled.id
    },
    forget(uid) {
      backOff.delete(`${uid}_`)
      for (const key of failures.keys()) if (key.startsWith(`${uid}_`)) failures.delete(key)
      for (const key of failedAt.keys()) if (key.startsWith(`${uid}_`)) failedAt.delete(key)
    },
  }
}

/** `1.2s`, `350ms`, `1m3s`: rounded to milliseconds. */
export const formatDuration = (ms: number): string => goDurationTextMs(Math.round(ms))
