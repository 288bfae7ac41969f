/** skiff snapshot: all objects of a cluster in a file, and a cluster made from one. */
import { existsSync } from 'node:fs'
import { askControlForBytes } from '../cluster/control-client.ts'
import { type ClusterDirectory, clusterDirectory, hold, holder } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import {
  readSnapshot,
  restore,
  restoreKeys,
  type Snapshot,
  snapshotIn,
  stoppedSnapshot,
  withKeys,
} from '../cluster/snapshot.ts'
import type { EtcdOptions } from '../storage/etcd/servers.ts'
import { type EtcdFlags, etcdOf } from './etcd-flags.ts'

const NO_SNAPSHOTS =
  'start it with skiff up --controls snapshot, or stop it first; of one over an etcd --etcd-servers names that'

export interface SnapshotFlags extends EtcdFlags {
  readonly dataDir: string
}

export async function snapshotSave(file: string, flags: SnapshotFlags & { readonly keys?: boolean }): Promise<void> {
  const directory = clusterDirectory(flags.dataDir)
  const { etcd } = etcdOf(flags)
  const taken = etcd === undefined ? await ofDirectory(directory) : await ofEtcd(etcd)
  const snapshot = flags.keys === true ? withKeys(taken, directory) : taken
  snapshot.save(file)
  process.stdout.write(`${file}: ${snapshot.image.items.length} objects at revision ${snapshot.revision}\n`)
}

const ofEtcd = async (etcd: EtcdOptions) => (await import('../cluster/snapshot-of-etcd.ts')).snapshotOfEtcd(etcd)

async function ofDirectory(directory: ClusterDirectory): Promise<Snapshot> {
  const isRunning = holder(directory) !== undefined
  if (!isRunning && !existsSync(directory.store))
    throw new StartError(`there is no cluster in ${directory.path}: start one with skiff up`)
  return isRunning
    ? snapshotIn(await askControlForBytes(directory.path, 'GET', 'snapshot', undefined, NO_SNAPSHOTS), 'the answer')
    : stoppedSnapshot(directory)
}

export async function snapshotRestore(file: string, flags: SnapshotFlags): Promise<void> {
  const directory = clusterDirectory(flags.dataDir)
  const { etcd } = etcdOf(flags)
  const snapshot = readSnapshot(file)
  const release = hold(directory)
  try {
    if (etcd === undefined) await restore(snapshot, directory)
    else {
      const { restoreToEtcd } = await import('../cluster/snapshot-of-etcd.ts')
      const forgetKeys = restoreKeys(snapshot, directory)
      try {
        await restoreToEtcd(snapshot, etcd)
      } catch (error) {
        forgetKeys()
        throw error
      }
    }
  } finally {
    release()
  }
  process.stdout.write(
    `${snapshot.image.items.length} objects in ${etcd?.servers ?? directory.path}: skiff up goes on with them\n`,
  )
}
