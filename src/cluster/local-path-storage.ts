/**
 * The default StorageClass, whose volumes are directories of nodes: what the cluster holds for it, and the directories themselves where nodes run
 * real containers.
 */
import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { StorageClass } from '../api/generated/types.ts'
import type { Client } from '../client/client.ts'
import { serviceAccountUser } from '../client/transport.ts'
import { LOCAL_PATH_PROVISIONER, type LocalPathOptions } from '../controllers/local-path/local-path-provisioner.ts'
import { createUnlessThere, ensureRole } from './reader.ts'

const NAME = 'skiff:local-path-provisioner'
/** The directory of volumes that a simulated node names: there is no real one. */
const SIMULATED_DIRECTORY = '/var/lib/skiff/volumes'

/** Made once: one that was changed or unmarked stays so. */
const STORAGE_CLASS: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: LOCAL_PATH_PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
}

/** `client`: an administrator's. @throws StatusError */
export async function ensureLocalPathStorage(client: Client): Promise<void> {
  const { name } = serviceAccountUser('kube-system', 'local-path-provisioner')
  await ensureRole(client, NAME, name, [
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'create', 'delete'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  ])
  const classes = client.resource<StorageClass>({ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' })
  await createUnlessThere(classes, STORAGE_CLASS)
}

/** `directory`: where real nodes keep the volumes; undefined: nothing is executed. */
export function localPathOptions(directory: string | undefined): LocalPathOptions {
  if (directory === undefined) return { directory: SIMULATED_DIRECTORY }
  return { directory, files: { make: makeVolume, remove: removeVolume } }
}

/** Whichever user a container has may write there; other users of this machine do not get as far as the directory. */
async function makeVolume(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await mkdir(path, { recursive: true })
  await chmod(path, 0o777)
}

/** What a container has mounted there is not the volume's: as long as it is there nothing is removed. */
async function removeVolume(path: string): Promise<void> {
  const { mountedBelow } = await import('../kubelet/machine/mounts.ts')
  const [mounted] = mountedBelow(path)
  if (mounted !== undefined) throw new Error(`${mounted} is still mounted`)
  const { removeDirectory } = await import('../kubelet/machine/remove-directory.ts')
  await removeDirectory(path)
}
