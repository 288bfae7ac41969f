/**
 * Makes volumes for claims of the default StorageClass: directories of the node that their first consumer was given to (what Kubernetes calls
 * an external provisioner; its own controller manager has none). The controller manager starts it where it is told where the directories are.
 * It makes and removes directories only where the nodes are of its own machine; elsewhere the kubelet makes them, and they stay.
 */
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  StorageClass,
} from '../../api/generated/types.ts'
import { classOf } from '../../api/objects/best-volume-for-claim.ts'
import { PROVISIONED_BY } from '../../api/objects/in-tree-volumes.ts'
import { selectedNode } from '../../api/objects/volume-binding.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

export const LOCAL_PATH_PROVISIONER = 'skiff.dev/local-path'

export interface LocalPathOptions {
  /** The directory of all volumes, on every node. */
  readonly directory: string
  /** Makes and removes a volume's directory, where nodes are of this machine. Both may be repeated. */
  readonly files?: {
    make(path: string): Promise<void>
    /** @throws Error when something is left of it */
    remove(path: string): Promise<void>
  }
}

const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes' }
const CLASSES = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }
const ASKED = 'volume.kubernetes.io/storage-provisioner'
const HOSTNAME = 'kubernetes.io/hostname'
const WORKERS = 4

export function createLocalPathProvisioner(
  context: ControllerContext,
  { directory, files }: LocalPathOptions,
): Controller {
  const { runtime, client, informers, signal } = context
  const claims = informers.informer<PersistentVolumeClaim>(CLAIMS)
  const volumes = informers.informer<PersistentVolume>(VOLUMES)
  const classes = informers.informer<StorageClass>(CLASSES)
  const nodes = informers.informer<Node>(NODES)
  const claimQueue = createWorkQueue<string>(runtime, 'local-path-claims')
  const volumeQueue = createWorkQueue<string>(runtime, 'local-path-volumes')
  const recorder = createEventRecorder(runtime, client, { component: LOCAL_PATH_PROVISIONER })
  const volumeClient = client.resource<PersistentVolume>(VOLUMES)
  const pathOf = (name: string) => `${directory}/${name}`

  async function provision(key: string): Promise<void> {
    const claim = claims.store.get(key)
    if (claim === undefined || !isAskedFor(claim)) return
    const storageClass = classes.store.get(classOf(claim))
    if (storageClass?.provisioner !== LOCAL_PATH_PROVISIONER) return
    const name = `pvc-${claim.metadata.uid}`
    if (volumes.store.get(name) !== undefined) return
    const nodeName = claim.metadata.annotations?.[selectedNode]
    const why = whyNot(claim, nodeName)
    if (why !== undefined || nodeName === undefined)
      return recorder.event(claim, 'Warning', 'ProvisioningFailed', why ?? 'no node is chosen')
    const node = nodes.store.get(nodeName)
    // One that has gone is given up by the scheduler.
    if (node === undefined) return
    recorder.event(
      claim,
      'Normal',
      'Provisioning',
      `External provisioner is provisioning volume for claim ${JSON.stringify(key)}`,
    )
    try {
      await files?.make(pathOf(name))
      await volumeClient.create(volumeFor(claim, storageClass, name, node))
    } catch (error) {
      if (isAlreadyExists(error)) return
      recorder.event(
        claim,
        'Warning',
        'ProvisioningFailed',
        `failed to provision volume with StorageClass ${JSON.stringify(storageClass.metadata.name)}: ${messageOf(error)}`,
      )
      throw error
    }
    recorder.event(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`)
  }

  const volumeFor = (
    { metadata, spec }: PersistentVolumeClaim,
    { metadata: { name: className = '' }, reclaimPolicy = 'Delete', mountOptions }: StorageClass,
    name: string,
    node: Node,
  ): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { [PROVISIONED_BY]: LOCAL_PATH_PROVISIONER } },
    spec: {
      capacity: { storage: spec?.resources?.requests?.['storage'] ?? '0' },
      accessModes: spec?.accessModes ?? [],
      volumeMode: 'Filesystem',
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: className,
      ...(mountOptions === undefined ? {} : { mountOptions }),
      hostPath: { path: pathOf(name), type: 'DirectoryOrCreate' },
      nodeAffinity: affinityTo(node),
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        ...(metadata.name === undefined ? {} : { name: metadata.name }),
        ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
        ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
      },
    },
  })

  /** The directory goes first: a volume that is still there is tried again. */
  async function reclaim(name: string): Promise<void> {
    const volume = volumes.store.get(name)
    if (volume === undefined || !isOurs(volume) || volume.status?.phase !== 'Released') return
    if (volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return
    try {
      await files?.remove(pathOf(name))
      if (volume.metadata.deletionTimestamp !== undefined) return
      const { uid } = volume.metadata
      await volumeClient.delete(name, uid === undefined ? {} : { preconditions: { uid } })
    } catch (error) {
      if (isNotFound(error)) return
      recorder.event(volume, 'Warning', 'VolumeFailedDelete', messageOf(error))
      throw error
    }
  }

  return {
    name: 'local-path-provisioner',
    async start() {
      const enqueueClaim = (claim: PersistentVolumeClaim) => {
        if (isAskedFor(claim)) claimQueue.add(objectKey(claim))
      }
      const enqueueVolume = (volume: PersistentVolume) => {
        if (isOurs(volume) && volume.status?.phase === 'Released') volumeQueue.add(volume.metadata.name ?? '')
      }
      claims.addHandlers({ added: enqueueClaim, updated: (_, claim) => enqueueClaim(claim) })
      volumes.addHandlers({
        added: enqueueVolume,
        updated: (_, volume) => enqueueVolume(volume),
        deleted(volume) {
          // Deleted before its claim had gone, it was never seen released.
          if (!isOurs(volume) || volume.spec?.persistentVolumeReclaimPolicy !== 'Delete' || files === undefined) return
          const { name = '' } = volume.metadata
          files.remove(pathOf(name)).catch((error: unknown) => {
            runtime.log.error('The directory of a volume was not removed', error, { volume: name })
          })
        },
      })
      await Promise.all([claims, volumes, classes, nodes].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, claimQueue, WORKERS, provision, signal)
      runWorkers(runtime, volumeQueue, WORKERS, reclaim, signal)
    },
  }
}

const isAskedFor = ({ metadata, spec, status }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[ASKED] === LOCAL_PATH_PROVISIONER &&
  !spec?.volumeName &&
  status?.phase !== 'Lost' &&
  metadata.deletionTimestamp === undefined

/** By its name too: no other directory is ever touched, whatever an annotation says. */
const isOurs = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.[PROVISIONED_BY] === LOCAL_PATH_PROVISIONER &&
  /^pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(metadata.name ?? '')

/** What a directory of one node cannot be. */
function whyNot({ spec }: PersistentVolumeClaim, nodeName: string | undefined): string | undefined {
  if (nodeName === undefined)
    return 'a directory of a node needs a StorageClass whose volumeBindingMode is WaitForFirstConsumer'
  if (spec?.volumeMode === 'Block') return 'volumes of mode Block are not made: only directories are'
  const several = spec?.accessModes?.find((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
  if (several !== undefined) return `the access mode ${several} is not supported: use ReadWriteOnce or ReadWriteOncePod`
  const unknown = spec?.selector ?? spec?.dataSourceRef
  return unknown === undefined ? undefined : 'claims with a selector or a data source are not supported'
}

const affinityTo = ({ metadata }: Node): NonNullable<PersistentVolumeSpec['nodeAffinity']> => ({
  required: {
    nodeSelectorTerms: [
      {
        matchExpressions: [
          { key: HOSTNAME, operator: 'In', values: [metadata.labels?.[HOSTNAME] ?? metadata.name ?? ''] },
        ],
      },
    ],
  },
})
