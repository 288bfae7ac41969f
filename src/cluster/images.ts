/** Images of a running cluster's node: those it has, and those put there from a file, without a registry. */
import { join } from 'node:path'
import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live.ts'
import { adminClient } from './admin-client.ts'
import { clusterDirectory, holder, readState } from './directory.ts'
import { StartError } from './errors.ts'
import { nodeName } from './nodes.ts'
import { nodeDirectory } from './real-node.ts'

/** How long the node may take to tell of a new image. */
const PATIENCE_MS = 30_000
const LOOK_AGAIN_MS = 200

/** @throws StartError where the cluster has no node of real containers that runs */
async function runningNode(dataDir: string) {
  const directory = clusterDirectory(dataDir)
  const state = holder(directory) === undefined ? undefined : readState(directory)
  if (state === undefined) throw new StartError(`no cluster runs in ${directory.path}`)
  const { readRecord } = await import('../kubelet/machine/real-node.ts')
  const record =
    state.containerRuntime === undefined ? undefined : readRecord(nodeDirectory(directory.path, nodeName(0)))
  if (record === undefined)
    throw new StartError('the nodes of this cluster are simulated: they have no images (skiff up --runtime cri has)')
  return { directory, state, record }
}

/** Gives the names that were loaded, once the node tells of them. @throws StartError */
export async function loadImages(dataDir: string, file: string): Promise<readonly string[]> {
  const { directory, state, record } = await runningNode(dataDir)
  if (!record.runtimeName.startsWith('containerd'))
    throw new StartError(
      `${record.runtimeName} takes no images from skiff: load it with podman load --input ${JSON.stringify(file)} as root`,
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
      await storeImages(runtime, record.endpoint, archive.images)
    } catch (cause) {
      throw new StartError(`cannot load ${file}: ${messageOf(cause)}`, { cause })
    } finally {
      await archive.close()
    }
    const client = adminClient(join(directory.path, 'pki'), state.url)
    try {
      for (const from = runtime.clock.monotonic(); ; await sleep(runtime.clock, LOOK_AGAIN_MS)) {
        const answer = await client.send({ method: 'GET', path: `/api/v1/nodes/${record.nodeName}` })
        const node = JSON.parse(Buffer.from(await answer.bytes()).toString()) as {
          status?: { images?: readonly { names?: readonly string[] }[] }
        }
        const images = node.status?.images ?? []
        const told = new Set(images.flatMap((image) => image.names ?? []))
        // A node tells of its fifty largest only.
        if (names.every((name) => told.has(name)) || images.length >= 50) break
        if (runtime.clock.monotonic() - from > PATIENCE_MS)
          throw new StartError(`${file} is loaded, but ${record.nodeName} does not tell of it: see skiff status`)
      }
    } finally {
      client.close()
    }
    return names
  } finally {
    awake.close()
  }
}

export interface ImageRow {
  readonly name: string
  readonly id: string
  readonly bytes: number
}

/** One row for each name. @throws StartError */
export async function listImages(dataDir: string): Promise<readonly ImageRow[]> {
  const { record } = await runningNode(dataDir)
  const { connect } = await import('../kubelet/runtimes/cri/connection.ts')
  const connection = connect(liveRuntime().clock, record.endpoint, 'runtime')
  try {
    const { images } = await connection.call<{
      images: readonly { id: string; repo_tags: readonly string[]; repo_digests: readonly string[]; size: number }[]
    }>('ListImages', {})
    return images
      .flatMap(({ id, repo_tags, repo_digests, size }) =>
        (repo_tags.length > 0 ? repo_tags : repo_digests.length > 0 ? repo_digests : ['<none>']).map((name) => ({
          name,
          id: id.replace(/^sha256:/, '').slice(0, 12),
          bytes: size,
        })),
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } finally {
    connection.close()
  }
}
