/**
 * Snapshots: all objects of a cluster at one revision, without history, in memory or in a file. Taken while the cluster works. Keys
 * and certificates are no part of it unless they are asked for: what is made from one has its own, and believes no token of the other.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { formatMicroTime } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { makeDirectory } from '../base/make-directory.ts'
import { syncDirectory } from '../base/sync-directory.ts'
import { fill, imageOf, type StoreImage } from '../storage/image.ts'
import { type AboutImage, decodeImage, encodeImage } from '../storage/image-file.ts'
import { openClockFile, readClock } from './clock.ts'
import { type ClusterDirectory, forgetMigrationWithoutStore, hold, refuseHalfFilled } from './directory.ts'
import { StartError } from './errors.ts'
import { KUBERNETES_VERSION } from './version.ts'
import { writeWhole } from './write-whole.ts'

export interface Snapshot {
  /** The cluster's resourceVersion that it shows. */
  readonly revision: number
  /** The cluster's time. */
  readonly time: Date
  /** Whether the cluster's clock was moved by hand: then what begins with it goes on at that time. */
  readonly isManual: boolean
  readonly image: StoreImage
  /** Keys and certificates in PEM, by the names of their files below pki/; of a backup alone. */
  readonly keys?: Readonly<Record<string, string>>
  /** As a file has it. */
  bytes(): Uint8Array[]
  /** Writes a file that only its owner may read, whole or not at all. @throws StartError */
  save(file: string): void
}

export function snapshotOf(image: StoreImage, timeMs: number, isManual: boolean, keys?: Snapshot['keys']): Snapshot {
  const about: AboutImage = {
    version: KUBERNETES_VERSION,
    time: formatMicroTime(timeMs),
    ...(isManual ? { clock: 'manual' } : {}),
    ...(keys === undefined ? {} : { keys }),
  }
  const bytes = () => encodeImage(image, about)
  return {
    revision: image.revision,
    time: new Date(timeMs),
    isManual,
    image,
    ...(keys === undefined ? {} : { keys }),
    bytes,
    save(file) {
      try {
        writeWhole(file, bytes())
      } catch (error) {
        throw new StartError(`cannot write the snapshot ${file}: ${messageOf(error)}`, { cause: error })
      }
    },
  }
}

/** The same with the keys and certificates of the directory: what is restored from it is the same cluster. @throws StartError */
export function withKeys({ image, time, isManual }: Snapshot, { pki }: ClusterDirectory): Snapshot {
  try {
    const files = readdirSync(pki, { withFileTypes: true }).filter((entry) => entry.isFile())
    const keys = Object.fromEntries(files.map(({ name }) => [name, readFileSync(join(pki, name), 'utf8')]))
    return snapshotOf(image, time.getTime(), isManual, keys)
  } catch (error) {
    throw new StartError(`cannot read the keys of the cluster: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Writes what `withKeys` has read. Under another name until all are there. What is given back takes away what this call has made.
 *
 * @throws StartError when the directory has other keys already
 */
export function restoreKeys(snapshot: Snapshot, directory: ClusterDirectory): () => void {
  const { keys } = snapshot
  if (keys === undefined || hasKeys(snapshot, directory)) return () => {}
  makeDirectory(directory.path)
  const part = `${directory.pki}.part`
  rmSync(part, { recursive: true, force: true })
  makeDirectory(part)
  for (const [name, text] of Object.entries(keys)) writeWhole(join(part, name), [Buffer.from(text)])
  renameSync(part, directory.pki)
  syncDirectory(directory.path)
  return () => rmSync(directory.pki, { recursive: true, force: true })
}

/** @throws StartError when the directory has other keys */
function hasKeys({ keys }: Snapshot, { pki }: ClusterDirectory): boolean {
  if (keys === undefined || !existsSync(pki)) return false
  const isSame = ([name, text]: [string, string]) => {
    const file = join(pki, name)
    return existsSync(file) && readFileSync(file, 'utf8') === text
  }
  if (Object.entries(keys).every(isSame)) return true
  throw new StartError(`there are other keys in ${pki}: restore into another directory`)
}

/** @throws StartError, StoreError in one line */
export function readSnapshot(file: string): Snapshot {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    throw new StartError(`cannot read the snapshot ${file}: ${messageOf(error)}`, { cause: error })
  }
  return snapshotIn(bytes, file)
}

/** @throws StoreError */
export function snapshotIn(bytes: Buffer, name: string): Snapshot {
  const { header, image } = decodeImage(bytes, name)
  return snapshotOf(image, Date.parse(header.time), header.clock === 'manual', header.keys)
}

/** Of a cluster that does not run. @throws StartError, StoreError */
export async function stoppedSnapshot(directory: ClusterDirectory): Promise<Snapshot> {
  const { openLmdbTables } = await import('../storage/lmdb/tables.ts')
  const runtime = liveRuntime({ log: { write() {} } })
  const release = hold(directory)
  try {
    refuseHalfFilled(directory)
    const tables = openLmdbTables(runtime, directory.store)
    try {
      const stoodAt = readClock(directory.clock)
      return snapshotOf(imageOf(tables, tables.initial.revision), stoodAt ?? runtime.clock.now(), stoodAt !== undefined)
    } finally {
      await tables.close()
    }
  } finally {
    release()
  }
}

/** Makes the store of a directory that has none. @throws StartError when it has one */
export async function restore(snapshot: Snapshot, directory: ClusterDirectory): Promise<void> {
  if (existsSync(directory.store))
    throw new StartError(`there is a cluster in ${directory.path} already: restore into another directory`)
  const { openLmdbTables } = await import('../storage/lmdb/tables.ts')
  hasKeys(snapshot, directory)
  makeDirectory(directory.path)
  forgetMigrationWithoutStore(directory)
  // Under another name until it is whole: a restore that was killed left no store.
  const part = `${directory.store}.part`
  rmSync(part, { recursive: true, force: true })
  let forgetKeys = () => {}
  try {
    const tables = openLmdbTables(liveRuntime({ log: { write() {} } }), part)
    try {
      await fill(tables, snapshot.image)
    } finally {
      await tables.close()
    }
    forgetKeys = restoreKeys(snapshot, directory)
    if (snapshot.isManual) openClockFile(directory.clock, snapshot.time.getTime()).close()
    renameSync(part, directory.store)
  } catch (error) {
    forgetKeys()
    for (const left of [part, `${directory.pki}.part`]) rmSync(left, { recursive: true, force: true })
    throw new StartError(`the snapshot cannot be restored: ${messageOf(error)}`, { cause: error })
  }
  syncDirectory(directory.path)
}
