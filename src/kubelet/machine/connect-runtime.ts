/** The container runtime of a real node: connected to, given what it lacks, and ready for pods. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import { containerdImageTime, type ImageTimes, storeImages } from '../images/containerd-store.ts'
import { pauseImage } from '../images/pause-image.ts'
import { notingPulls, type PulledImages, pulledImages } from '../images/pulled-images.ts'
import { type Connection, connect } from '../runtimes/cri/connection.ts'
import { countedConnection } from '../runtimes/cri/counted-connection.ts'
import { createCriRuntime } from '../runtimes/cri/cri-runtime.ts'
import type { ContainerRuntime } from '../runtimes/runtime.ts'
import type { FoundRuntime } from './machine-requirements.ts'
import { MADE_BY_SKIFF } from './node-record.ts'
import { settlingLinks } from './pod-links.ts'
import type { PreparedNode } from './prepare-node.ts'
import { type RuntimeCondition, unready } from './real-machine.ts'
import { terminationMessage } from './termination-message.ts'

export interface ConnectedRuntime {
  readonly containerRuntime: ContainerRuntime
  /** When images were pulled, for the collection of those that nothing uses. */
  readonly pulled: PulledImages
  close(): void
}

/** Resolves when it takes pods. @throws Error when it does not come to that */
export async function connectRuntime(
  runtime: Runtime,
  { found, imagesDirectory, nodeName, cluster, network }: PreparedNode,
  signal: AbortSignal,
): Promise<ConnectedRuntime> {
  const plain = connect(runtime.clock, found.endpoint, 'runtime')
  const { metrics } = runtime
  const connection = metrics === undefined ? plain : countedConnection(runtime.clock, metrics, plain)
  mkdirSync(imagesDirectory, { recursive: true, mode: 0o700 })
  const times = imageTimes(runtime, found)
  const pulled = pulledImages(join(imagesDirectory, 'pulled-images.json'), times.imageTime)
  const [{ family }] = network
  const containerRuntime = notingPulls(
    createCriRuntime(runtime, {
      ...{ connection, cluster, nodeName, terminationMessage, family },
      sandboxMade: settlingLinks(runtime, network),
    }),
    pulled,
  )
  const podCIDRs = network.flatMap(({ podCIDR }) => podCIDR ?? [])
  if (podCIDRs.length > 0) await containerRuntime.real?.setPodCIDR(podCIDRs.join())
  await provideSandboxImage(runtime, found, connection, cluster)
  await networkReady(runtime, connection, signal)
  const close = () => {
    connection.close()
    times.close()
  }
  return { containerRuntime, pulled, close }
}

/** CRI itself does not tell. */
const imageTimes = (runtime: Runtime, { name, endpoint }: FoundRuntime): ImageTimes =>
  name === 'containerd' ? containerdImageTime(runtime, endpoint) : { imageTime: async () => undefined, close: () => {} }

/** A runtime that lacks the image of sandboxes would pull it; it is given ours under that name. */
async function provideSandboxImage(
  runtime: Runtime,
  found: FoundRuntime,
  connection: Connection,
  cluster: string,
): Promise<void> {
  const { sandboxImage, name, endpoint } = found
  if (sandboxImage === undefined || name !== 'containerd') return
  const { image } = await connection.call<{ image: unknown }>('ImageStatus', { image: { image: sandboxImage } })
  if (image !== null) return
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  await storeImages(runtime, endpoint, [pauseImage(sandboxImage, architecture)], { [MADE_BY_SKIFF]: cluster })
}

/** The runtime sees a new configuration a moment later. @throws Error when it does not take it */
async function networkReady(runtime: Runtime, connection: Connection, signal: AbortSignal): Promise<void> {
  for (let left = 100; ; left--) {
    const { status } = await connection.call<{ status: { conditions: readonly RuntimeCondition[] } }>('Status', {})
    const bad = unready(status.conditions)
    if (bad === undefined) return
    if (left === 0) throw new Error(`the container runtime is not ready (${bad.type}): ${bad.message}`)
    await sleep(runtime.clock, 100, signal)
  }
}
