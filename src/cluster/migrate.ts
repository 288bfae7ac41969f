/** skiff migrate: a cluster's objects from one store to another, of a data directory that does not run, or an etcd. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { builtinScheme } from '../api/scheme/scheme.ts'
import { readingKubernetes } from '../apiserver/stored-by-kubernetes.ts'
import { holdProcess } from '../base/live-clock.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import type { Runtime } from '../base/runtime.ts'
import {
  copyTo,
  fillTables,
  halfFilledError,
  type Migrated,
  type MigrationSource,
  readSource,
  refuseChanged,
  refuseServed,
  verify,
} from '../storage/copy-to-another-store.ts'
import { openEtcd } from '../storage/etcd/etcd.ts'
import type { EtcdOptions } from '../storage/etcd/servers.ts'
import { openLmdbTables } from '../storage/lmdb/tables.ts'
import { openStorage } from '../storage/open.ts'
import { type Storage, StoreError } from '../storage/storage.ts'
import { clusterDirectory, hold, refuseHalfFilled } from './directory.ts'
import { writeWhole } from './write-whole.ts'

export interface MigrateOptions {
  /** A data directory, or the URLs of etcd's members. */
  readonly from: string
  readonly to: string
  /** How the etcd among them is reached. */
  readonly etcd: Omit<EtcdOptions, 'servers'>
}

const isEtcd = (place: string) => /^https?:\/\//.test(place)
/** A URL of whatever kind, or `localhost:2379`. */
const isAddress = (place: string) => /^[a-z][a-z0-9+.-]*:\/\/|^[^/]+:\d+(,|$)/i.test(place)

/** @throws StoreError, StartError */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const runtime = liveRuntime()
  const { from, to } = options
  for (const [flag, place] of [['--from', from] as const, ['--to', to] as const])
    if (place === '' || (isAddress(place) && !isEtcd(place)))
      throw new StoreError(`${flag} "${place}" is neither a directory nor the URL of an etcd`)
  if (from === to) throw new StoreError('--from and --to are the same')
  if (isEtcd(from) && isEtcd(to)) throw new StoreError('from etcd to etcd etcdctl copies: snapshot save and restore')
  const release = holdProcess()
  const undo: (() => void | Promise<void>)[] = [release]
  try {
    // Neither directory is made before there is something to copy.
    if (!isEtcd(from)) {
      if (!existsSync(clusterDirectory(from).store)) throw new StoreError(`there is no store in ${from}`)
      undo.push(hold(clusterDirectory(from)))
      refuseHalfFilled(clusterDirectory(from))
    }
    const source = await sourceOf(runtime, options)
    if (source.items.length === 0)
      throw new StoreError(`there are no objects in ${from}${isEtcd(from) ? ' under its --etcd-prefix' : ''}`)
    if (!isEtcd(to)) undo.push(hold(clusterDirectory(to)))
    const name = `${from} at revision ${source.revision}`
    return isEtcd(to) ? await toEtcd(runtime, options, source, name) : await toDirectory(runtime, options, source, name)
  } finally {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step()
  }
}

async function sourceOf(runtime: Runtime, { from, etcd }: MigrateOptions): Promise<MigrationSource> {
  if (!isEtcd(from)) {
    const { store } = clusterDirectory(from)
    return reading(await openStorage({ runtime, driver: 'lmdb', dir: store }), (storage) =>
      readSource(storage, (_key, value) => value),
    )
  }
  const { decode } = readingKubernetes(builtinScheme())
  return reading(await openSource(runtime, { from, etcd }), async (storage) => {
    await refuseServed(storage)
    return readSource(storage, decode)
  })
}

const openSource = (runtime: Runtime, { from, etcd }: Pick<MigrateOptions, 'from' | 'etcd'>) =>
  openEtcd(runtime, { ...etcd, servers: from, compactEveryMs: 0 })

async function reading<T>(storage: Storage, task: (storage: Storage) => Promise<T>): Promise<T> {
  try {
    return await task(storage)
  } finally {
    await storage.close()
  }
}

const toEtcd = async (runtime: Runtime, { to, etcd }: MigrateOptions, source: MigrationSource, name: string) =>
  reading(await openEtcd(runtime, { ...etcd, servers: to, compactEveryMs: 0 }), (target) =>
    copyTo(target, source, name),
  )

/** The directory is whole, and may be started over, only once the etcd is known to have stood still meanwhile. */
async function toDirectory(
  runtime: Runtime,
  options: MigrateOptions,
  source: MigrationSource,
  name: string,
): Promise<Migrated> {
  const { from, to } = options
  const { migration: file, store } = clusterDirectory(to)
  const begun = existsSync(file)
  if (begun && readFileSync(file, 'utf8') !== name) throw halfFilledError(readFileSync(file), Buffer.from(name))
  const tables = openLmdbTables(runtime, store)
  let migrated: Migrated
  try {
    if (!begun && tables.initial.revision === 1) writeWhole(file, [Buffer.from(name)])
    migrated = await fillTables(runtime, tables, source, begun)
  } finally {
    await tables.close()
  }
  await reading(await openStorage({ runtime, driver: 'lmdb', dir: store }), async (storage) =>
    verify(source.items, (await storage.range('/registry/', '/registry0')).items, true),
  )
  if (isEtcd(from))
    await reading(await openSource(runtime, options), async (storage) => {
      await refuseServed(storage)
      await refuseChanged(storage, source)
    })
  rmSync(file)
  return migrated
}
