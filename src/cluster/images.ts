/** Images of a running cluster's node: those it has, and those put there from a file, without a registry. */
import { join } from 'node:path'
import type { Node } from '../api/generated/types.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import type { HttpsClient } from '../http/client.ts'
import { adminClient } from './admin-client.ts'
import { clusterDirectory, holder, readState } from './directory.ts'
import { StartError } from './errors.ts'
import { nodeName } from './nodes.ts'
import { nodeDirectory, realPath } from './real-node.ts'

/** How long the node may take to tell of a new image. */
const PATIENCE_MS = 30_000
const LOOK_AGAIN_MS = 200

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
  const { storeImages } = await import('../kubelet/images/containerd-store.ts')
  const runtime = liveRuntime()
  // A live timer keeps no process alive by itself.
  const awake = new BroadcastChannel('skiff image load')
  try {
    const archive = await openArchive(file, process.arch === 'x64' ? 'amd64' : process.arch).catch((cause: unknown) => {
      throw new StartError(`cannot load ${file}: ${messageOf(cause)}`, { cause })
    })
    const names = archive.images.flatMap((image) => image.names)
    try {
      for (const { endpoint } of nodes) await storeImages(runtime, endpoint, archive.images)
    } catch (cause) {
      throw new StartError(`cannot load ${file}: ${messageOf(cause)}`, { cause })
    } finally {
      await archive.close()
    }
    const client = adminClient(join(directory.path, 'pki'), state.url)
    try {
      for (const node of nodes) await untilTold(client, runtime.clock, node.nodeName, names, file)
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
  name: string,
  names: readonly string[],
  file: string,
): Promise<void> {
  for (const from = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS)) {
    const answer = await client.send({ method: 'GET', path: `/api/v1/nodes/${name}` })
    const { status } = JSON.parse(Buffer.from(await answer.bytes()).toString()) as Node
    const images = status?.images ?? []
    const told = new Set(images.flatMap((image) => image.names ?? []))
    // A node tells of its fifty largest only.
    if (names.every((one) => told.has(one)) || images.length >= 50) return
    if (clock.monotonic() - from > PATIENCE_MS)
      throw new StartError(`${file} is loaded, but ${name} does not tell of it: see skiff status`)
  }
}

export interface ImageRow {
  readonly name: string
  readonly id: string
  readonly bytes: number
}

/** One row for each image and name, whichever nodes have it. @throws StartError */
export async function listImages(dataDir: string): Promise<readonly ImageRow[]> {
  const { nodes } = await runningNodes(dataDir)
  const rows = (await Promise.all(nodes.map(({ endpoint }) => imagesAt(endpoint)))).flat()
  const unique = new Map(rows.map((row) => [`${row.name} ${row.id}`, row]))
  return [...unique.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function imagesAt(endpoint: string): Promise<readonly ImageRow[]> {
  const { connect } = await import('../kubelet/runtimes/cri/connection.ts')
  const connection = connect(liveRuntime().clock, endpoint, 'runtime')
  try {
    const { images } = await connection.call<{
      images: readonly { id: string; repo_tags: readonly string[]; repo_digests: readonly string[]; size: number }[]
    }>('ListImages', {})
    return images.flatMap(({ id, repo_tags, repo_digests, size }) =>
      (repo_tags.length > 0 ? repo_tags : repo_digests.length > 0 ? repo_digests : ['<none>']).map((name) => ({
        name,
        id: id.replace(/^sha256:/, '').slice(0, 12),
        bytes: size,
      })),
    )
  } finally {
    connection.close()
  }
}
