/**
 * Image garbage collection (API concept: garbage collection of images): when the file system of images is fuller than the high
 * threshold, images that no container uses go, the longest unused first, until it is down to the low one; those unused for longer than a
 * maximum age go in any case. Never those that this node did not pull.
 */
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { FileSystem } from '../machine/measurements.ts'
import type { RuntimeImage } from '../runtimes/runtime.ts'
import type { PullRecords } from './pull-records.ts'
import type { PulledImages } from './pulled-images.ts'

/** Named after the kubelet's settings. */
export interface ImageGcPolicy {
  /** Percent of the file system. 100: it is never looked at. */
  readonly imageGCHighThresholdPercent: number
  readonly imageGCLowThresholdPercent: number
  readonly imageMinimumGCAgeMs: number
  /** 0: none. */
  readonly imageMaximumGCAgeMs: number
}

export const DEFAULT_IMAGE_GC: ImageGcPolicy = {
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  imageMinimumGCAgeMs: 120_000,
  imageMaximumGCAgeMs: 0,
}

/** @throws Error with the flag that is wrong */
export function imageGcPolicy(chosen: Partial<ImageGcPolicy> = {}): ImageGcPolicy {
  const policy = { ...DEFAULT_IMAGE_GC, ...chosen }
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = policy
  for (const [flag, percent] of [
    ['high', high],
    ['low', low],
  ] as const)
    if (!Number.isInteger(percent) || percent < 0 || percent > 100)
      throw new Error(`--image-gc-${flag}-threshold: ${percent} is no percentage`)
  if (low >= high)
    throw new Error(`--image-gc-low-threshold: ${low} must be less than --image-gc-high-threshold ${high}`)
  const { imageMinimumGCAgeMs: least, imageMaximumGCAgeMs: most } = policy
  if (most !== 0 && most <= least)
    throw new Error('--image-maximum-gc-age must be more than --minimum-image-ttl-duration')
  return policy
}

export interface ImageGcOptions {
  readonly runtime: Runtime
  readonly images: {
    listImages(): Promise<readonly RuntimeImage[]>
    removeImage(id: string): Promise<void>
    /** Ids and names of the images of all containers that the runtime has, other users' too. */
    imagesInUse(): Promise<ReadonlySet<string>>
  }
  readonly pulled: PulledImages
  readonly records?: Pick<PullRecords, 'forget' | 'prune'>
  /** Where images are. */
  readonly fileSystem: () => Promise<FileSystem>
  /** An Event about the node. */
  readonly warn: (reason: string, message: string) => void
  readonly policy?: ImageGcPolicy
}

export interface ImageGc {
  /** At once, and every five minutes. */
  run(signal: AbortSignal): void
  collect(): Promise<void>
  /** All that may go, whatever there is room for. @throws Error */
  deleteUnused(): Promise<void>
}

const PERIOD_MS = 300_000

interface Known {
  readonly firstDetected: number
  lastUsed: number
}

export function createImageGc(options: ImageGcOptions): ImageGc {
  const { runtime, images, pulled, policy = DEFAULT_IMAGE_GC } = options
  const { clock, log } = runtime
  const known = new Map<string, Known>()
  let failed = false

  /** Those that no container uses, the longest unused first. */
  async function unused(): Promise<readonly (RuntimeImage & Known)[]> {
    const now = clock.now()
    const ownBefore = pulled.ids()
    const [all, used] = await Promise.all([images.listImages(), images.imagesInUse()])
    const there = new Set(all.map(({ id }) => id))
    options.records?.prune(there, now)
    // Others have removed it: whatever comes by that id again may be theirs.
    for (const id of ownBefore) if (!there.has(id)) pulled.delete(id)
    for (const id of known.keys()) if (!there.has(id)) known.delete(id)
    const found: (RuntimeImage & Known)[] = []
    for (const image of all) {
      const record = known.get(image.id) ?? { firstDetected: now, lastUsed: 0 }
      known.set(image.id, record)
      if ([image.id, ...image.names].some((name) => used.has(name))) record.lastUsed = now
      else if (image.pinned !== true && (await pulled.owns(image))) found.push({ ...image, ...record })
    }
    return found.sort((a, b) => a.lastUsed - b.lastUsed || a.firstDetected - b.firstDetected)
  }

  async function remove({ id, names, size }: RuntimeImage, why: string): Promise<void> {
    log.info(2, 'Removing image to free bytes', { imageID: id, names, size, why })
    await images.removeImage(id)
    pulled.delete(id)
    options.records?.forget(id)
    known.delete(id)
  }

  /** Gives the bytes that were freed. @throws AggregateError for what could not be removed */
  async function free(bytes: number): Promise<number> {
    const now = clock.now()
    const failures: unknown[] = []
    let freed = 0
    for (const image of await unused()) {
      if (freed >= bytes) break
      if (now - image.firstDetected < policy.imageMinimumGCAgeMs) continue
      try {
        await remove(image, 'space')
        freed += image.size
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0)
      throw new AggregateError(
        failures,
        `wanted to free ${bytes} bytes, but freed ${freed} bytes space with errors in image deletion: ${failures.map(messageOf).join('; ')}`,
      )
    return freed
  }

  async function freeOld(): Promise<void> {
    const { imageMaximumGCAgeMs: most } = policy
    if (most === 0) return
    const now = clock.now()
    for (const image of await unused())
      if (now - Math.max(image.lastUsed, image.firstDetected) > most) await remove(image, 'age')
  }

  async function collectOnce(): Promise<void> {
    await unused()
    await freeOld()
    const { capacityBytes, availableBytes } = await options.fileSystem()
    if (capacityBytes === 0) {
      options.warn('InvalidDiskCapacity', 'invalid capacity 0 on image filesystem')
      throw new Error('invalid capacity 0 on image filesystem')
    }
    const available = Math.min(availableBytes, capacityBytes)
    const usage = 100 - Math.floor((available * 100) / capacityBytes)
    if (usage < policy.imageGCHighThresholdPercent) return
    const wanted = Math.floor((capacityBytes * (100 - policy.imageGCLowThresholdPercent)) / 100) - available
    if (wanted <= 0) return
    const freed = await free(wanted)
    if (freed >= wanted) return
    const message = tooLittle(usage, capacityBytes, freed)
    options.warn('FreeDiskSpaceFailed', message)
    throw new Error(message)
  }

  async function collect(): Promise<void> {
    try {
      await collectOnce()
      failed = false
    } catch (error) {
      log.error('Image garbage collection failed', error)
      // What is told is that it goes on failing.
      if (failed) options.warn('ImageGCFailed', messageOf(error))
      failed = true
    }
  }

  return {
    collect,
    async deleteUnused() {
      await free(Number.POSITIVE_INFINITY)
    },
    run(signal) {
      const turn = () => {
        void collect().finally(() => {
          if (signal.aborted) return
          const timer = clock.setTimer(PERIOD_MS, 'image garbage collection', turn)
          signal.addEventListener('abort', timer.cancel, { once: true })
        })
      }
      turn()
    },
  }
}

const tooLittle = (percent: number, capacity: number, freed: number): string =>
  `Insufficient free disk space on the node's image filesystem (${percent}% of ${sizeText(capacity)} used). Failed to free sufficient space by deleting unused images (freed ${freed} bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`

/** `252.0 GiB` */
function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
  let value = bytes
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`
}
