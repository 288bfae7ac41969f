/** Images of a running cluster's node: those it has, and those put there from a file, without a registry. */
import type { Node } from '../api/generated/types.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import type { HttpsClient } from '../http/client.ts'
import type { Image } from '../kubelet/runtimes/cri/messages.ts'
import type { RuntimeImage } from '../kubelet/runtimes/runtime.ts'
import { adminClient } from './admin-client.ts'
import { clusterDirectory, holder, readState } from './directory.ts'
import { StartError } from './errors.ts'
import { nodeName } from './nodes.ts'
import { nodeDirectory, realPath } from './real-node.ts'

/** How long the node may take to tell of a new image. */
const PATIENCE_MS = 30_000
const LOOK_AGAIN_MS = 200
/** As many as a Node's status names. */
const MOST_IMAGES = 50

interface Images {
  readonly nodeName: string
  /** Where the node's runtime listens. */
  readonly endpoint: string
}

/** @throws StartError where the cluster has no node of real containers that runs */
async function runningNodes(dataDir: string) {
  const directory = clusterDirectory(dataDir)
  const state = holder(directory) === undefined ? undefined : readState(directory)
  if (state === undefined) throw new StartError(`no cluster runs in ${directory.path}`)
  const { readRecord } = await import('../kubelet/machine/node-record.ts')
  const { containerdEndpoint, isRunning, namespacedNodes } = await import('./namespaced-nodes/left-nodes.ts')
  const record =
    state.containerRuntime === undefined ? undefined : readRecord(nodeDirectory(directory.path, nodeName(0)))
  if (record === undefined)
    throw new StartError('the nodes of this cluster are simulated: they have no images (skiff up --runtime cri has)')
  const { nodeName: name, endpoint, runtimeName } = record
  const further = namespacedNodes(realPath(directory.path))
    .filter(isRunning)
    .map((one) => ({
      nodeName: one.nodeName,
      endpoint: containerdEndpoint(one),
    }))
  const nodes: readonly Images[] = [{ nodeName: name, endpoint }, ...further]
  return { directory, state, runtimeName, nodes }
}

/** Into each node. Gives the names that were loaded, once the nodes tell of them. @throws StartError */
export async function loadImages(dataDir: string, file: string): Promise<readonly string[]> {
  const { directory, state, runtimeName, nodes } = await runningNodes(dataDir)
  if (!runtimeName.startsWith('containerd'))
    throw new StartError(
      `${runtimeName} takes no images from skiff: load it with podman load --input ${JSON.stringify(file)} as root`,
    )
  const { openArchive } = await import('../kubelet/images/archive.ts')
  const { imageIdOf, storeImages } = await import('../kubelet/images/containerd-store.ts')
  const runtime = liveRuntime()
  // A live timer keeps no process alive by itself.
  const awake = new BroadcastChannel('skiff image load')
  try {
    const archive = await openArchive(file, process.arch === 'x64' ? 'amd64' : process.arch).catch((cause: unknown) => {
      throw new StartError(`cannot load ${file}: ${messageOf(cause)}`, { cause })
    })
    const names = archive.images.flatMap((image) => image.names)
    const ids = archive.images.filter((image) => image.names.length > 0).map(imageIdOf)
    try {
      for (const { endpoint } of nodes) await storeImages(runtime, endpoint, archive.images)
    } catch (cause) {
      throw new StartError(`cannot load ${file}: ${messageOf(cause)}`, { cause })
    } finally {
      await archive.close()
    }
    const client = adminClient(directory, state.url)
    try {
      for (const node of nodes) await untilTold(client, runtime.clock, node, ids, file)
    } finally {
      client.close()
    }
    return names
  } finally {
    awake.close()
  }
}

/** @throws StartError when the node does not tell of them in time */
async function untilTold(
  client: HttpsClient,
  clock: Clock,
  { nodeName: name, endpoint }: Images,
  ids: readonly string[],
  file: string,
): Promise<void> {
  for (const from = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS)) {
    const answer = await client.send({ method: 'GET', path: `/api/v1/nodes/${name}` })
    const { status } = JSON.parse(Buffer.from(await answer.bytes()).toString()) as Node
    if (untoldImages(ids, await imagesAt(endpoint), status?.images ?? []).length === 0) return
    if (clock.monotonic() - from > PATIENCE_MS)
      throw new StartError(`${file} is loaded, but ${name} does not tell of it: see skiff status`)
  }
}

/**
 * Those of the images (by id) that a Node's status still has to name. A status names five names of each image, whichever these are, and
 * the fifty largest images (`nodeStatusMaxImages` of a kubelet's configuration): an image is told of by any name that its runtime has for it, and
 * one that is no larger than the smallest of fifty need not be.
 */
export function untoldImages(
  ids: readonly string[],
  ofRuntime: readonly RuntimeImage[],
  told: NonNullable<NonNullable<Node['status']>['images']>,
): readonly string[] {
  const names = new Set(told.flatMap((image) => image.names ?? []))
  const smallest = told.length < MOST_IMAGES ? 0 : Math.min(...told.map(({ sizeBytes }) => Number(sizeBytes ?? 0)))
  const known = new Map(ofRuntime.map((image) => [image.id, image]))
  return ids.filter((id) => {
    const image = known.get(id)
    if (image === undefined) return true
    return image.size > smallest && !image.names.some((name) => names.has(name))
  })
}

export interface ImageRow {
  readonly name: string
  readonly id: string
  readonly bytes: number
}

/** One row for each image and name, whichever nodes have it. @throws StartError */
export async function listImages(dataDir: string): Promise<readonly ImageRow[]> {
  const { nodes } = await runningNodes(dataDir)
  const images = (await Promise.all(nodes.map(({ endpoint }) => imagesAt(endpoint)))).flat()
  const rows = images.flatMap(({ id, tags, digests, size }) =>
    (tags.length > 0 ? tags : digests.length > 0 ? digests : ['<none>']).map((name) => ({
      name,
      id: id.replace(/^sha256:/, '').slice(0, 12),
      bytes: size,
    })),
  )
  const unique = new Map(rows.map((row) => [`${row.name} ${row.id}`, row]))
  return [...unique.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

interface ListedImage extends RuntimeImage {
  readonly tags: readonly string[]
  readonly digests: readonly string[]
}

async function imagesAt(endpoint: string): Promise<readonly ListedImage[]> {
  const { connect } = await import('../kubelet/runtimes/cri/connection.ts')
  const connection = connect(liveRuntime().clock, endpoint, 'runtime')
  try {
    const { images } = await connection.call<{ images: readonly Image[] }>('ListImages', {})
    return images.map(({ id, repo_tags: tags, repo_digests: digests, size }) => ({
      id,
      tags,
      digests,
      names: [...digests, ...tags],
      size,
    }))
  } finally {
    connection.close()
  }
}
