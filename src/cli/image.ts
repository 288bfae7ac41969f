/** skiff image: images that a cluster's node has, and images put there from a file, without a registry. */
import { join } from 'node:path'
import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live.ts'
import { clusterDirectory, holder, readState } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { nodeName } from '../cluster/nodes.ts'
import { nodeDirectory } from '../cluster/real-node.ts'
import { adminClient } from './status.ts'

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

export async function loadImages(dataDir: string, file: string): Promise<void> {
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
    for (const name of names) process.stdout.write(`${name}\n`)
  } finally {
    awake.close()
  }
}

export async function listImages(dataDir: string): Promise<void> {
  const { record } = await runningNode(dataDir)
  const { connect } = await import('../kubelet/runtimes/cri/connection.ts')
  const connection = connect(liveRuntime().clock, record.endpoint, 'runtime')
  try {
    const { images } = await connection.call<{
      images: readonly { id: string; repo_tags: readonly string[]; repo_digests: readonly string[]; size: number }[]
    }>('ListImages', {})
    const rows = images
      .flatMap(({ id, repo_tags, repo_digests, size }) =>
        (repo_tags.length > 0 ? repo_tags : repo_digests.length > 0 ? repo_digests : ['<none>']).map((name) => ({
          name,
          id: id.replace(/^sha256:/, '').slice(0, 12),
          size: `${(size / 1e6).toFixed(1)}MB`,
        })),
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const width = Math.max(5, ...rows.map(({ name }) => name.length)) + 2
    for (const { name, id, size } of [{ name: 'IMAGE', id: 'ID', size: 'SIZE' }, ...rows])
      process.stdout.write(`${name.padEnd(width)}${id.padEnd(14)}${size}\n`)
  } finally {
    connection.close()
  }
}
