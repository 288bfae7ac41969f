/**
 * The store's file in memory. LMDB maps it, and what of the map has been touched stays resident, with what the kernel maps around it: in
 * the end that is the whole file, the pages of old history too. So the file is mapped anew once much of it has been touched.
 */
import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type DatabaseOptions, open } from 'lmdb'
import { OBJECT_DICTIONARY } from './dictionary.ts'
import type { Environment, LmdbTable } from './group-commit.ts'
import { COMPRESSED_BYTES } from './put-change.ts'

export interface MappedFile {
  /** The tables. Not to be kept over a turn: they may be others then. */
  readonly now: Environment
  /** So many bytes were read or written. */
  touched(bytes: number): void
  /** Reads rows one after the other; until they have been read, or are given up, the file stays mapped as it is. */
  reading<T>(rows: (environment: Environment) => Iterable<T>): Generator<T>
  /** To be called when no transaction is under way: maps the file anew if much of it has been touched. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** @param mostTouched bytes after which the file is mapped anew */
export function mapFile(directory: string, mapSize: number, mostTouched: number): MappedFile {
  const dir = resolve(directory)
  // lmdb puts its compressor in the place of its options: kept, so that the next environment has the same.
  const compressed: Compressed = { compression: { threshold: COMPRESSED_BYTES, dictionary: OBJECT_DICTIONARY } }
  const openIt = () => openEnvironment(dir, mapSize, compressed)
  let environment: Environment | undefined = openIt()
  const file = openSync(join(dir, 'data.mdb'), 'r')
  let touched = 0
  let readers = 0

  /** What is wanted while the old map is being closed is read by a new one, which then is the old one still: LMDB has one for a file. */
  const now = () => {
    environment ??= openIt()
    return environment
  }

  /** A directory that was moved or removed meanwhile would be opened as another store: then the old map is kept. */
  function isInPlace(): boolean {
    const { dev, ino } = fstatSync(file)
    const there = statSync(join(dir, 'data.mdb'), { throwIfNoEntry: false })
    return there?.dev === dev && there.ino === ino
  }

  return {
    get now() {
      return now()
    },
    touched(bytes) {
      touched += bytes
    },
    *reading(rows) {
      readers++
      try {
        yield* rows(now())
      } finally {
        readers--
      }
    },
    async renew() {
      if (touched < mostTouched || readers > 0 || environment === undefined) return
      touched = 0
      if (!isInPlace()) return
      const { root } = environment
      environment = undefined
      await root.close()
      // At once, while there are still the descriptors that were given back. What was written is answered all the same: the next read or write tries again.
      try {
        now()
      } catch {
        environment = undefined
      }
    },
    async close() {
      try {
        await now().root.close()
      } finally {
        closeSync(file)
      }
    },
  }
}

/** Options that lmdb changes. */
type Compressed = Pick<DatabaseOptions, 'compression'>

function openEnvironment(dir: string, mapSize: number, compressed: Compressed): Environment {
  const root = open<Buffer, Buffer>({
    path: dir,
    noSubdir: false,
    overlappingSync: false,
    noMemInit: true,
    encoding: 'binary',
    keyEncoding: 'binary',
    mapSize,
    maxDbs: 8,
  })
  const table = (name: string): LmdbTable =>
    root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' })
  // Each turn's writes begin with a promise of their own, which no caller gets to see: its failure is the group's.
  const ignore = () => {}
  root.on('beforecommit', () => void Promise.resolve().then(() => root.committed.then(ignore, ignore)))
  return {
    root,
    meta: table('meta'),
    // A value says by its first byte whether it is compressed, and no change begins with such a byte.
    changes: root.openDB<Buffer, Buffer>(
      Object.assign(compressed, { name: 'changes', encoding: 'binary', keyEncoding: 'binary' } as const),
    ),
    changesAsGiven: table('changes'),
    keys: table('keys'),
    expiries: table('expiries'),
    journal: table('journal'),
  }
}
