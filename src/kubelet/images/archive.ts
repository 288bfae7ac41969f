/**
 * Image archives: what `docker save` writes, and OCI image layouts, as tar files (API concept: images; OCI image-spec). Gives each image's
 * manifest with all that it refers to, in the form in which a container runtime keeps them.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { fullImageName } from '../runtimes/image-names.ts'
import { bytesAt, listTar, type TarEntry } from './tar.ts'

export interface Blob {
  readonly digest: string
  readonly size: number
  /** Chunks of its bytes. */
  readonly chunks: () => AsyncIterable<Uint8Array>
}

export interface ArchivedImage {
  /** Full names with tags; empty for an image that has none. */
  readonly names: readonly string[]
  readonly manifest: Descriptor
  /** What the manifest's content refers to, labelled so that it is kept with it. */
  readonly blobs: readonly Blob[]
  readonly manifestBytes: Buffer
}

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly architecture: string; readonly os: string; readonly variant?: string }
  readonly annotations?: Readonly<Record<string, string>>
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const CONFIG = 'application/vnd.docker.container.image.v1+json'
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar'
const LARGEST_JSON = 4 * 1024 * 1024
const CHUNK = 1024 * 1024

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

export interface Archive {
  readonly images: readonly ArchivedImage[]
  close(): Promise<void>
}

/** @throws Error with what is wrong with the file */
export async function openArchive(path: string, architecture: string): Promise<Archive> {
  const file = await open(path, 'r')
  try {
    const start = (await file.stat()).isFile() ? await bytesAt(file, 0, 2).catch(() => Buffer.alloc(2)) : undefined
    if (start === undefined) throw new Error('it is no file')
    if (start[0] === 0x1f && start[1] === 0x8b) throw new Error('it is compressed: unpack it first (gunzip)')
    const entries = new Map((await listTar(file)).map((entry) => [entry.name, entry]))
    const reader: Reader = { file, entries }
    const images = entries.has('manifest.json')
      ? await dockerImages(reader)
      : entries.has('index.json')
        ? await layoutImages(reader, architecture)
        : []
    if (images.length === 0)
      throw new Error('it holds no image: neither manifest.json (docker save) nor index.json (OCI layout)')
    return { images, close: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

interface Reader {
  readonly file: FileHandle
  readonly entries: ReadonlyMap<string, TarEntry>
}

/** The entry of that name, or what a link of that name leads to. @throws Error */
function entryOf({ entries }: Reader, name: string): TarEntry {
  const entry = entries.get(name)
  if (entry?.type === 'link') {
    const linked = entries.get(entry.link) ?? entries.get(new URL(entry.link, `file:///${name}`).pathname.slice(1))
    if (linked?.type === 'file') return linked
  }
  if (entry?.type !== 'file') throw new Error(`it lacks ${name}`)
  return entry
}

async function read(reader: Reader, name: string): Promise<Buffer> {
  const { size, offset } = entryOf(reader, name)
  if (size > LARGEST_JSON) throw new Error(`${name} is too large`)
  return bytesAt(reader.file, offset, size)
}

async function readJson<T>(reader: Reader, name: string): Promise<T> {
  return parseJson<T>(name, await read(reader, name))
}

function parseJson<T>(name: string, bytes: Buffer): T {
  try {
    return JSON.parse(bytes.toString()) as T
  } catch (cause) {
    throw new Error(`${name} is no JSON`, { cause })
  }
}

async function* chunksOf({ file }: Reader, { offset, size }: TarEntry): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += CHUNK) yield bytesAt(file, offset + at, Math.min(CHUNK, size - at))
}

async function digestOfEntry(reader: Reader, entry: TarEntry): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunksOf(reader, entry)) hash.update(chunk)
  return `sha256:${hash.digest('hex')}`
}

/** An entry of a docker archive's manifest.json. */
interface DockerImage {
  readonly Config: string
  readonly RepoTags: readonly string[] | null
  readonly Layers: readonly string[]
}

async function dockerImages(reader: Reader): Promise<readonly ArchivedImage[]> {
  const listed = await readJson<readonly DockerImage[]>(reader, 'manifest.json')
  if (!Array.isArray(listed)) throw new Error('manifest.json is no list')
  const digests = new Map<string, string>()
  const images: ArchivedImage[] = []
  for (const { Config, RepoTags, Layers } of listed as readonly DockerImage[]) {
    const config = await read(reader, Config)
    const layers: Descriptor[] = []
    const blobs: Blob[] = [
      {
        digest: digestOf(config),
        size: config.length,
        chunks: async function* () {
          yield config
        },
      },
    ]
    for (const name of Layers) {
      const entry = entryOf(reader, name)
      const digest = digests.get(name) ?? (await digestOfEntry(reader, entry))
      digests.set(name, digest)
      const [first, second] = await bytesAt(reader.file, entry.offset, 2)
      const mediaType = first === 0x1f && second === 0x8b ? `${LAYER}.gzip` : LAYER
      layers.push({ mediaType, digest, size: entry.size })
      blobs.push({ digest, size: entry.size, chunks: () => chunksOf(reader, entry) })
    }
    images.push(assembled(RepoTags ?? [], config, layers, blobs))
  }
  return images
}

/** An image of these layers. */
export function assembled(
  names: readonly string[],
  config: Uint8Array,
  layers: readonly Descriptor[],
  blobs: readonly Blob[],
): ArchivedImage {
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: { mediaType: CONFIG, digest: digestOf(config), size: config.length },
    layers,
  }
  const manifestBytes = Buffer.from(JSON.stringify(manifest))
  return {
    names: names.map(fullImageName),
    manifest: { mediaType: MANIFEST, digest: digestOf(manifestBytes), size: manifestBytes.length },
    manifestBytes,
    blobs,
  }
}

/** The algorithms that the image specification registers. */
const DIGESTS = new Set(['sha256', 'sha512'])

interface ManifestOrIndex {
  readonly manifests?: readonly Descriptor[]
  readonly config?: Descriptor
  readonly layers?: readonly Descriptor[]
}

/** Of indexes that name indexes: one of images and one of platforms are usual. */
const DEEPEST_INDEX = 8

async function layoutImages(reader: Reader, architecture: string): Promise<readonly ArchivedImage[]> {
  const blobName = (digest: string) => {
    if (!/^[a-z0-9]+:[0-9a-f]{32,}$/.test(digest)) throw new Error(`${JSON.stringify(digest)} is no digest`)
    return `blobs/${digest.replace(':', '/')}`
  }
  // Layers and configurations are held to their digests by the runtime that takes them.
  const readManifest = async (digest: string) => {
    const name = blobName(digest)
    const [algorithm = ''] = digest.split(':', 1)
    if (!DIGESTS.has(algorithm)) throw new Error(`${digest} is a digest by ${algorithm}: sha256 and sha512 are known`)
    const bytes = await read(reader, name)
    if (`${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}` !== digest)
      throw new Error(`${name} is not what its name says: the file is damaged`)
    return { bytes, content: parseJson<ManifestOrIndex>(name, bytes) }
  }
  const { manifests = [] } = await readJson<{ manifests?: readonly Descriptor[] }>(reader, 'index.json')
  const images: ArchivedImage[] = []
  for (const listed of manifests) {
    let descriptor = listed
    // An index of platforms leads to this machine's own, which may be an index in turn.
    for (let depth = 0; /index|manifest\.list/.test(descriptor.mediaType); depth++) {
      if (depth === DEEPEST_INDEX) throw new Error('its indexes lead to one another without end')
      const { manifests: of = [] } = (await readManifest(descriptor.digest)).content
      const own = of.find(({ platform }) => platform?.os === 'linux' && platform.architecture === architecture)
      if (own === undefined) throw new Error(`it has nothing for linux/${architecture}`)
      descriptor = own
    }
    const { bytes: manifestBytes, content } = await readManifest(descriptor.digest)
    const { config, layers = [] } = content
    if (config === undefined) throw new Error(`${blobName(descriptor.digest)} names no configuration`)
    const blobs = [config, ...layers].map(({ digest }) => {
      const entry = entryOf(reader, blobName(digest))
      return { digest, size: entry.size, chunks: () => chunksOf(reader, entry) }
    })
    const { annotations = {} } = listed
    const name = annotations['io.containerd.image.name'] ?? annotations['org.opencontainers.image.ref.name']
    images.push({
      names: name === undefined || !/[/:]/.test(name) ? [] : [fullImageName(name)],
      manifest: { mediaType: descriptor.mediaType, digest: descriptor.digest, size: manifestBytes.length },
      manifestBytes,
      blobs,
    })
  }
  return images
}
