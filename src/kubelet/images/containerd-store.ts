/**
 * Images put into containerd's store by its own API, since CRI can only pull: content under a lease, so that nothing is collected before the
 * image that holds it is there, then the image in the namespace that CRI uses. Its layers are unpacked when the first container needs them.
 */
import type { Runtime } from '../../base/runtime.ts'
import { type Connection, connect, isRpcAlreadyExists, isRpcNotFound } from '../runtimes/cri/connection.ts'
import type { ArchivedImage, Blob } from './archive.ts'
import type { ImageTime } from './pulled-images.ts'

const NAMESPACE = 'k8s.io'
/** By which containerd's CRI knows an image as its own to tell of. */
const MANAGED = { 'io.cri-containerd.image': 'managed' }
/** A lease that a dead process leaves behind ends after this. */
const LEASE_SECONDS = 3600

export interface ImageTimes {
  readonly imageTime: ImageTime
  close(): void
}

/** `labels`: of the images, besides those that CRI needs. @throws RuntimeError with containerd's message */
export async function storeImages(
  runtime: Runtime,
  endpoint: string,
  images: readonly ArchivedImage[],
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { clock } = runtime
  const lease = `skiff-${runtime.random.uuid()}`
  const leases = connect(clock, endpoint, 'leases', { 'containerd-namespace': NAMESPACE })
  const expires = new Date(clock.now() + LEASE_SECONDS * 1000).toISOString()
  const leased = { 'containerd-namespace': NAMESPACE, 'containerd-lease': lease }
  const content = connect(clock, endpoint, 'content', leased)
  const store = connect(clock, endpoint, 'images', leased)
  try {
    await leases.call('Create', { id: lease, labels: { 'containerd.io/gc.expire': expires } })
    for (const image of images) {
      for (const blob of image.blobs) await write(content, lease, blob, {})
      const refs = Object.fromEntries(
        image.blobs.map(({ digest }, at) => [`containerd.io/gc.ref.content.${at}`, digest] as const),
      )
      const manifest: Blob = {
        ...image.manifest,
        chunks: async function* () {
          yield image.manifestBytes
        },
      }
      await write(content, lease, manifest, refs)
      for (const name of namesOf(image)) {
        const { mediaType: media_type, digest, size } = image.manifest
        const one = { name, labels: { ...MANAGED, ...labels }, target: { media_type, digest, size } }
        await store.call('Create', { image: one }).catch((error: unknown) => {
          if (!isRpcAlreadyExists(error)) throw error
          return store.call('Update', { image: one })
        })
      }
    }
  } finally {
    await leases.call('Delete', { id: lease, sync: true }).catch(() => {})
    for (const connection of [leases, content, store]) connection.close()
  }
}

/** Removes all images that have the label, under each of their names. */
export async function removeLabelledImages(
  runtime: Runtime,
  endpoint: string,
  [key, value]: readonly [string, string],
): Promise<void> {
  const store = connect(runtime.clock, endpoint, 'images', { 'containerd-namespace': NAMESPACE })
  try {
    const filters = [`labels.${JSON.stringify(key)}==${JSON.stringify(value)}`]
    const { images } = await store.call<{ images: readonly { readonly name: string }[] }>('List', { filters })
    for (const { name } of images)
      await store.call('Delete', { name }).catch((error: unknown) => {
        if (!isRpcNotFound(error)) throw error
      })
  } finally {
    store.close()
  }
}

/** Since when it has the image of an id, to the nanosecond: what was removed and is there again has another time. */
export function containerdImageTime(runtime: Runtime, endpoint: string): ImageTimes {
  const store = connect(runtime.clock, endpoint, 'images', { 'containerd-namespace': NAMESPACE })
  type Answer = { readonly image: { readonly created_at: { readonly seconds: number; readonly nanos: number } | null } }
  return {
    close: () => store.close(),
    async imageTime(id) {
      try {
        const { image } = await store.call<Answer>('Get', { name: id })
        if (image.created_at === null) return undefined
        const { seconds, nanos } = image.created_at
        return `${seconds}.${String(nanos).padStart(9, '0')}`
      } catch (error) {
        if (isRpcNotFound(error)) return undefined
        throw error
      }
    },
  }
}

/** By which CRI knows it: `sha256:…`, the digest of its configuration. */
export function imageIdOf({ manifestBytes }: ArchivedImage): string {
  const { config } = JSON.parse(manifestBytes.toString()) as { readonly config: { readonly digest: string } }
  return config.digest
}

/** CRI finds an image by its id too. */
function namesOf(image: ArchivedImage): readonly string[] {
  return image.names.length === 0 ? [] : [imageIdOf(image), ...image.names]
}

async function write(
  content: Connection,
  lease: string,
  blob: Blob,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const ref = `${lease}-${blob.digest}`
  async function* requests() {
    yield { action: 'WRITE', ref, total: blob.size, expected: blob.digest, offset: 0 }
    let offset = 0
    for await (const data of blob.chunks()) {
      yield { action: 'WRITE', ref, offset, data }
      offset += data.byteLength
    }
    yield { action: 'COMMIT', ref, total: blob.size, expected: blob.digest, offset, labels }
  }
  try {
    await content.exchange('Write', requests())
  } catch (error) {
    if (!isRpcAlreadyExists(error)) throw error
  }
}
