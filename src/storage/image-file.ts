/**
 * An image as a file: a line that says what it is, a line of JSON about it, its items, and a SHA-256 of all of that. Integers are
 * little-endian. What was damaged on its way is refused whole.
 */
import { createHash } from 'node:crypto'
import type { StoreImage } from './image.ts'
import { type KeyValue, StoreError } from './storage.ts'
import type { Expiry } from './tables.ts'

const MAGIC = 'skiff snapshot\n'
export const IMAGE_FORMAT = 1
const HASH_BYTES = 32
/** Key length, revisions, expiry (0: none), value length. */
const ITEM_HEADER = 4 + 8 + 8 + 8 + 4

export interface ImageHeader {
  readonly format: number
  readonly revision: number
  readonly items: number
  /** Of what made it. */
  readonly version: string
  /** metav1.MicroTime: the cluster's, when it was made. */
  readonly time: string
  /** The clock was moved by hand. */
  readonly clock?: 'manual'
  /** Keys and certificates in PEM, by the names of their files. */
  readonly keys?: Readonly<Record<string, string>>
}

export type AboutImage = Pick<ImageHeader, 'version' | 'time' | 'clock' | 'keys'>

export function encodeImage(image: StoreImage, about: AboutImage): Uint8Array[] {
  const header: ImageHeader = {
    format: IMAGE_FORMAT,
    revision: image.revision,
    items: image.items.length,
    version: about.version,
    time: about.time,
    ...(about.clock === undefined ? {} : { clock: about.clock }),
    ...(about.keys === undefined ? {} : { keys: about.keys }),
  }
  const expiresAt = new Map(image.expiries.map((expiry) => [expiry.key, expiry.expiresAt]))
  const pieces: Uint8Array[] = [Buffer.from(`${MAGIC}${JSON.stringify(header)}\n`)]
  for (const { key, value, modRevision, createRevision } of image.items) {
    const name = Buffer.from(key)
    const head = Buffer.alloc(ITEM_HEADER)
    head.writeUInt32LE(name.length, 0)
    head.writeDoubleLE(modRevision, 4)
    head.writeDoubleLE(createRevision, 12)
    head.writeDoubleLE(expiresAt.get(key) ?? 0, 20)
    head.writeUInt32LE(value.length, 28)
    pieces.push(head, name, value)
  }
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  pieces.push(hash.digest())
  return pieces
}

/** `name`: what the file is called, for the error. @throws StoreError in one line when it is damaged, or of another format */
export function decodeImage(bytes: Buffer, name: string): { readonly header: ImageHeader; readonly image: StoreImage } {
  const damaged = (why: string) => new StoreError(`${name} is damaged (${why}): take another snapshot`)
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new StoreError(`${name} is no snapshot of skiff`)
  const headerEnd = bytes.indexOf('\n', MAGIC.length)
  if (headerEnd < 0) throw damaged('it is cut off')
  const end = bytes.length - HASH_BYTES
  const header = headerIn(bytes.toString('utf8', MAGIC.length, headerEnd))
  // Another format may be hashed otherwise.
  if (header !== undefined && header.format !== IMAGE_FORMAT)
    throw new StoreError(
      `${name} has the format ${String(header.format)}, this version reads ${IMAGE_FORMAT}: use the version that made it (${String(header.version)})`,
    )
  const hash = end < headerEnd ? undefined : createHash('sha256').update(bytes.subarray(0, end)).digest()
  if (header === undefined || hash === undefined || !hash.equals(bytes.subarray(end)))
    throw damaged('its hash is another')
  // The hash tells of accidents; what was made to deceive has a hash that is right.
  const unsound = damaged('what it holds is no store')
  const { revision, keys: files } = header
  if (!isRevision(revision) || Number.isNaN(Date.parse(header.time)) || !areKeys(files)) throw unsound
  const items: KeyValue[] = []
  const expiries: Expiry[] = []
  const keys = new Set<string>()
  const revisions = new Set<number>()
  let at = headerEnd + 1
  while (at < end) {
    if (end - at < ITEM_HEADER) throw unsound
    const keyEnd = at + ITEM_HEADER + bytes.readUInt32LE(at)
    const valueEnd = keyEnd + bytes.readUInt32LE(at + 28)
    if (valueEnd > end) throw unsound
    const key = bytes.toString('utf8', at + ITEM_HEADER, keyEnd)
    const modRevision = bytes.readDoubleLE(at + 4)
    const createRevision = bytes.readDoubleLE(at + 12)
    const expiresAt = bytes.readDoubleLE(at + 20)
    const isSound =
      key.startsWith('/') &&
      isRevision(createRevision) &&
      isRevision(modRevision) &&
      createRevision <= modRevision &&
      modRevision <= revision &&
      expiresAt >= 0 &&
      expiresAt < Number.POSITIVE_INFINITY
    if (!isSound) throw unsound
    keys.add(key)
    revisions.add(modRevision)
    items.push({ key, value: bytes.subarray(keyEnd, valueEnd), modRevision, createRevision })
    if (expiresAt > 0) expiries.push({ key, expiresAt, revision: modRevision })
    at = valueEnd
  }
  // Each write of a store has a revision of its own.
  if ([header.items, keys.size, revisions.size].some((count) => count !== items.length)) throw unsound
  return { header, image: { revision, items, expiries } }
}

/** Names of files, with no way out of the directory that they are written to. */
const areKeys = (files: unknown): boolean =>
  files === undefined ||
  (typeof files === 'object' &&
    files !== null &&
    Object.entries(files).every(([name, text]) => /^[a-z0-9][a-z0-9.-]{0,63}$/.test(name) && typeof text === 'string'))

const isRevision = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

function headerIn(text: string): ImageHeader | undefined {
  try {
    const header: unknown = JSON.parse(text)
    return typeof header === 'object' && header !== null ? (header as ImageHeader) : undefined
  } catch {
    return undefined
  }
}
