/** skiff snapshot: all objects of a cluster in a file, and a cluster made from one. */
import { existsSync } from 'node:fs'
import { askControlForBytes } from '../cluster/control-client.ts'
import { clusterDirectory, hold, holder } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { readSnapshot, restore, snapshotIn, stoppedSnapshot } from '../cluster/snapshot.ts'

const NO_SNAPSHOTS = 'start it with skiff up --controls snapshot, or stop it first'

export async function snapshotSave(dataDir: string, file: string): Promise<void> {
  const directory = clusterDirectory(dataDir)
  const isRunning = holder(directory) !== undefined
  if (!isRunning && !existsSync(directory.store))
    throw new StartError(`there is no cluster in ${directory.path}: start one with skiff up`)
  const snapshot = isRunning
    ? snapshotIn(await askControlForBytes(dataDir, 'GET', 'snapshot', undefined, NO_SNAPSHOTS), 'the answer')
    : await stoppedSnapshot(directory)
  snapshot.save(file)
  process.stdout.write(`${file}: ${snapshot.image.items.length} objects at revision ${snapshot.revision}\n`)
}

export async function snapshotRestore(dataDir: string, file: string): Promise<void> {
  const directory = clusterDirectory(dataDir)
  const snapshot = readSnapshot(file)
  const release = hold(directory)
  try {
    await restore(snapshot, directory)
  } finally {
    release()
  }
  process.stdout.write(`${snapshot.image.items.length} objects in ${directory.path}: skiff up goes on with them\n`)
}
