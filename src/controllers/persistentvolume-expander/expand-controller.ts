/**
 * The expansion of volumes: says of a bound claim that asks for more than it has that a resizer is waited for. Volumes are made larger
 * by that one, which the driver brings; of a volume of one of the old kinds the claim is told the driver's name (KEP-625). The
 * controller manager starts it.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts'
import { compareQuantities } from '../../api/values/quantity.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const claimsResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const volumesResource = { group: '', version: 'v1', resource: 'persistentvolumes' }
const RESIZER = 'volume.kubernetes.io/storage-resizer'
const workers = 10

/** Kinds of volumes that were once built in: their plugin's name, and the CSI driver that has taken them over. */
const TAKEN_OVER: Readonly<Record<string, { readonly plugin: string; readonly driver: string }>> = {
  awsElasticBlockStore: { plugin: 'kubernetes.io/aws-ebs', driver: 'ebs.csi.aws.com' },
  azureDisk: { plugin: 'kubernetes.io/azure-disk', driver: 'disk.csi.azure.com' },
  azureFile: { plugin: 'kubernetes.io/azure-file', driver: 'file.csi.azure.com' },
  cinder: { plugin: 'kubernetes.io/cinder', driver: 'cinder.csi.openstack.org' },
  gcePersistentDisk: { plugin: 'kubernetes.io/gce-pd', driver: 'pd.csi.storage.gke.io' },
  portworxVolume: { plugin: 'kubernetes.io/portworx-volume', driver: 'pxd.portworx.com' },
  vsphereVolume: { plugin: 'kubernetes.io/vsphere-volume', driver: 'csi.vsphere.vmware.com' },
}

export function createExpandController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const claims = informers.informer<PersistentVolumeClaim>(claimsResource)
  const volumes = client.resource<PersistentVolume>(volumesResource)
  const queue = createWorkQueue<string>(runtime, 'volume_expand')
  const recorder = createEventRecorder(runtime, client, { component: 'volume_expand' })

  async function sync(key: string): Promise<void> {
    const claim = claims.store.get(key)
    const volumeName = claim?.spec?.volumeName
    if (claim === undefined || volumeName === undefined) return
    const { spec } = await volumes.get(volumeName)
    const { requested, actual } = sizesOf(claim)
    // For a driver in the kubelet's own plugin directory there is no resizer.
    if (compareQuantities(requested, actual) <= 0 || spec?.flexVolume !== undefined) return
    const kind = Object.keys(TAKEN_OVER).find((field) => spec !== undefined && Object.hasOwn(spec, field))
    const taken = kind === undefined ? undefined : TAKEN_OVER[kind]
    const message =
      taken === undefined
        ? 'waiting for an external controller to expand this PVC'
        : `CSI migration enabled for ${taken.plugin}; waiting for external resizer to expand the pvc`
    recorder.event(
      { ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      'Normal',
      'ExternalExpanding',
      message,
    )
    if (taken !== undefined && claim.metadata.annotations?.[RESIZER] !== taken.driver)
      await tellDriver(claim, taken.driver)
  }

  async function tellDriver({ metadata }: PersistentVolumeClaim, driver: string): Promise<void> {
    const { name = '', namespace = '', resourceVersion = '' } = metadata
    const body = { metadata: { annotations: { [RESIZER]: driver }, resourceVersion } }
    const own = client.resource<PersistentVolumeClaim>(claimsResource).namespace(namespace)
    await own.patch(name, 'strategic', body, { subresource: 'status' })
  }

  const enqueue = (claim: PersistentVolumeClaim) => {
    if (claim.status?.phase === 'Bound') queue.add(objectKey(claim))
  }

  return {
    name: 'expand-controller',
    async start() {
      claims.addHandlers({
        added: enqueue,
        updated: (old, claim) => {
          const [before, now] = [sizesOf(old), sizesOf(claim)]
          // A smaller request than before is no reason to tell again.
          if (compareQuantities(now.requested, before.requested) > 0 || before.actual !== now.actual) enqueue(claim)
        },
      })
      await claims.whenSynced(signal)
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

function sizesOf({ spec, status }: PersistentVolumeClaim): { readonly requested: string; readonly actual: string } {
  const { storage: requested = '0' } = spec?.resources?.requests ?? {}
  const { storage: actual = '0' } = status?.capacity ?? {}
  return { requested: String(requested), actual: String(actual) }
}
