/** What a real node's container runtime is seen to have: its images, its features, and whether it answers. Its logs are kept from growing. */
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { rotateLog, USUAL_ROTATION } from '../logs/rotate-log.ts'
import type { RealKubeletSettings } from '../node-settings.ts'
import type { ContainerRuntime, RuntimeFeatures } from '../runtimes/runtime.ts'

/** As many as a node's status names (nodeStatusMaxImages). */
const MOST_IMAGES = 50
const PERIOD_MS = 3000

export interface WatchedRuntime {
  /** As a node's status lists them, the largest first. */
  readonly images: readonly NodeImage[]
  /** Undefined where it does not tell. */
  readonly features: RuntimeFeatures | undefined
  /** Why no pods can run; undefined when they can. */
  readonly problem: string | undefined
  /** Looks again and again, until the signal is aborted. `changed` is told when it has come to be another. */
  run(changed: () => Promise<void> | undefined): void
}

interface NodeImage {
  readonly names: readonly string[]
  readonly sizeBytes: number
}

export interface WatchedRuntimeOptions extends Pick<RealKubeletSettings, 'logs' | 'mostImages'> {
  readonly runtime: Runtime
  readonly containerRuntime: ContainerRuntime
  readonly nodeName: string
  readonly signal: AbortSignal
}

/** Resolves when it was looked at once. @throws Error when it does not answer */
export async function createWatchedRuntime(options: WatchedRuntimeOptions): Promise<WatchedRuntime> {
  const { runtime, containerRuntime, nodeName, signal, logs = USUAL_ROTATION, mostImages = MOST_IMAGES } = options
  const { clock, log } = runtime
  let features = await containerRuntime.real?.features()
  let images = await imagesOf(containerRuntime, mostImages)
  let problem: string | undefined

  /** Whether it has come to be another. */
  async function look(): Promise<boolean> {
    const before = JSON.stringify([images, problem])
    try {
      images = await imagesOf(containerRuntime, mostImages)
      // One that was away may be another version of itself.
      if (problem !== undefined) features = await containerRuntime.real?.features()
      problem = undefined
    } catch (error) {
      if (signal.aborted) return false
      log.info(2, 'The container runtime does not answer', { node: nodeName, err: messageOf(error) })
      problem = 'container runtime is down'
    }
    return JSON.stringify([images, problem]) !== before && !signal.aborted
  }

  const failed = (what: string, of?: Readonly<Record<string, string>>) => (error: unknown) => {
    if (!signal.aborted) log.info(2, what, { node: nodeName, ...of, err: messageOf(error) })
  }

  /** One that cannot be turned over keeps no other back. */
  async function rotateLogs(): Promise<void> {
    const suffix = formatTime(clock.now()).replace(/[-:Z]/g, '').replace('T', '-')
    const running = (await containerRuntime.listContainers({})).filter(({ state }) => state === 'running')
    for (const { id, logPath = '' } of running) {
      if (logPath === '') continue
      const reopen = async () => containerRuntime.real?.reopenLog(id)
      await rotateLog(logPath, suffix, reopen, logs).catch(failed('Failed to rotate log', { path: logPath }))
    }
  }

  /** A large log takes its time to be compressed: the runtime is looked at meanwhile. */
  let isRotating = false
  function keepRotated(): void {
    if (isRotating) return
    isRotating = true
    void rotateLogs()
      .catch(failed('Failed to rotate logs'))
      .finally(() => {
        isRotating = false
      })
  }

  function run(changed: () => Promise<void> | undefined): void {
    const timer = clock.setTimer(PERIOD_MS, 'the container runtime is looked at', () => {
      keepRotated()
      void look()
        .then((isAnother) => (isAnother ? changed() : undefined))
        .catch(failed('Failed to tell of the node'))
        .finally(() => {
          if (!signal.aborted) run(changed)
        })
    })
    signal.addEventListener('abort', timer.cancel, { once: true })
  }

  return {
    get images() {
      return images
    },
    get features() {
      return features
    },
    get problem() {
      return problem
    },
    run,
  }
}

/** `most`: -1: all. */
async function imagesOf(containerRuntime: ContainerRuntime, most: number): Promise<readonly NodeImage[]> {
  const images = (await containerRuntime.listImages?.()) ?? []
  return images
    .map(({ names, size }) => ({ names, sizeBytes: size }))
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, most < 0 ? undefined : most)
}
