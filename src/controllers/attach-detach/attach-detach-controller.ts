/**
 * The attach/detach controller: a volume that pods want on a node is attached there before the kubelet mounts it, and detached when
 * the last of them is gone (KEP-279 for CSI). It makes and deletes VolumeAttachments, which the drivers' external attachers act on, and keeps
 * Node.status.volumesAttached. The controller manager starts it.
 */
import type {
  CSIDriver,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeAttachment,
} from '../../api/generated/types.ts'
import { claimIndex, claimsOf } from '../../api/objects/pod-claims.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { podsResource } from '../pods/pod.ts'
import { type ActualState, createActualState } from './actual-state.ts'
import { attachableVolumesOf, type VolumeObjects } from './attachable-volumes.ts'
import { attachmentPluginOf } from './attachment-plugins.ts'
import { attachmentsResource, createCsiAttachments } from './csi-attachments.ts'
import { createDesiredState } from './desired-state.ts'
import { createNodeReports } from './node-reports.ts'
import { type AttachDetachSettings, createReconciler } from './reconciler.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const MANAGED = 'volumes.kubernetes.io/controller-managed-attach-detach'
const nodeIndex = 'nodeName'

export function createAttachDetachController(
  context: ControllerContext,
  settings: AttachDetachSettings = {},
): Controller {
  const { runtime, client, informers, signal } = context
  const pods = informers.informer<Pod>(podsResource)
  const nodes = informers.informer<Node>(core('nodes'))
  const claims = informers.informer<PersistentVolumeClaim>(core('persistentvolumeclaims'))
  const volumes = informers.informer<PersistentVolume>(core('persistentvolumes'))
  const drivers = informers.informer<CSIDriver>({ group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' })
  const attachments = informers.informer<VolumeAttachment>(attachmentsResource)
  const objects: VolumeObjects = {
    claim: (key) => claims.store.get(key),
    volume: (name) => volumes.store.get(name),
    driver: (name) => drivers.store.get(name),
  }
  const desired = createDesiredState()
  const actual = createActualState()
  const recorder = createEventRecorder(runtime, client, { component: 'attachdetach-controller' })
  const reports = createNodeReports(runtime, client, nodes, actual)
  const csi = createCsiAttachments(runtime, client, attachments, signal)
  const reconciler = createReconciler({
    runtime,
    client,
    nodes,
    desired,
    actual,
    reports,
    csi,
    recorder,
    settings,
  })
  /** Nodes whose kubelets leave attaching to the controller, as long as volumes are wanted there. */
  const managed = new Set<string>()
  const enqueueAll = (names: Iterable<string>) => {
    for (const name of names) reconciler.enqueue(name)
  }

  function podSeen(pod: Pod): void {
    const nodeName = pod.spec?.nodeName
    if (!nodeName) return
    if (isOver(pod)) enqueueAll(desired.remove(objectKey(pod)))
    else if (managed.has(nodeName)) enqueueAll(desired.set(pod, nodeName, attachableVolumesOf(pod, objects)))
  }

  function nodeSeen(node: Node): void {
    const name = node.metadata.name ?? ''
    if (node.metadata.annotations?.[MANAGED] === 'true') {
      if (managed.has(name)) return
      managed.add(name)
      for (const pod of pods.store.byIndex(nodeIndex, name)) podSeen(pod)
    } else if (actual.on(name).size === 0) managed.delete(name)
  }

  function claimSeen(claim: PersistentVolumeClaim): void {
    if (claim.status?.phase === 'Bound')
      for (const pod of pods.store.byIndex(claimIndex, objectKey(claim))) podSeen(pod)
  }

  const volumeSeen = ({ spec }: PersistentVolume) => {
    const { namespace, name } = spec?.claimRef ?? {}
    const claim = name === undefined ? undefined : claims.store.get(`${namespace}/${name}`)
    if (claim !== undefined) claimSeen(claim)
  }

  /** Whether a driver's volumes are attached at all may change. */
  const driverSeen = ({ metadata }: CSIDriver) => {
    for (const volume of volumes.store.list()) if (volume.spec?.csi?.driver === metadata.name) volumeSeen(volume)
  }

  /** Of one that another has deleted, while it was attached. */
  const attachmentGone = (attachment: VolumeAttachment) => {
    const { nodeName, source } = attachment.spec
    const spec = volumes.store.get(source.persistentVolumeName ?? '')?.spec
    const uniqueName = spec && attachmentPluginOf(spec)?.uniqueName
    if (uniqueName === undefined || attachments.store.get(attachment.metadata.name ?? '') !== undefined) return
    const known = actual.get(uniqueName, nodeName)
    if (known === undefined || reconciler.operations.isPending(uniqueName, nodeName)) return
    actual.detached(uniqueName, nodeName)
    if (known.isReported) reports.changed(nodeName)
    reconciler.enqueue(uniqueName)
  }

  return {
    name: 'attachdetach-controller',
    async start() {
      pods.addIndex(claimIndex, claimsOf)
      pods.addIndex(nodeIndex, (pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []))
      await Promise.all(
        [nodes, pods, claims, volumes, drivers, attachments].map((informer) => informer.whenSynced(signal)),
      )
      findAttached(actual, nodes.store.list(), attachments.store.list(), (name) => volumes.store.get(name))
      nodes.addHandlers({
        added: (node) => {
          nodeSeen(node)
          enqueueAll(actual.mounted(node.metadata.name ?? '', new Set(node.status?.volumesInUse)))
        },
        updated: (old, node) => {
          nodeSeen(node)
          const name = node.metadata.name ?? ''
          enqueueAll(actual.mounted(name, new Set(node.status?.volumesInUse)))
          if (old.status?.conditions !== node.status?.conditions || old.spec?.taints !== node.spec?.taints)
            enqueueAll(unwanted(name))
        },
        // What it had in use last it may have still: nothing is known of the machine.
        deleted: ({ metadata: { name = '' }, status }) => {
          if (actual.on(name).size === 0) managed.delete(name)
          actual.mounted(name, new Set(status?.volumesInUse))
          enqueueAll(actual.on(name).keys())
        },
      })
      pods.addHandlers({
        added: podSeen,
        updated: (_, pod) => podSeen(pod),
        deleted: (pod) => enqueueAll(desired.remove(objectKey(pod))),
      })
      claims.addHandlers({ added: claimSeen, updated: (_, claim) => claimSeen(claim) })
      volumes.addHandlers({ updated: (_, volume) => volumeSeen(volume) })
      drivers.addHandlers({
        updated: (old, driver) => {
          if (old.spec.attachRequired !== driver.spec.attachRequired) driverSeen(driver)
        },
        added: (driver, initial) => {
          if (!initial) driverSeen(driver)
        },
        deleted: driverSeen,
      })
      attachments.addHandlers({ deleted: attachmentGone })
      await Promise.all([nodes, pods, claims, attachments].map((informer) => informer.whenSynced(signal)))
      for (const node of nodes.store.list()) enqueueAll(actual.on(node.metadata.name ?? '').keys())
      for (const { spec } of attachments.store.list()) enqueueAll(actual.on(spec.nodeName).keys())
      reconciler.run(signal)
    },
  }

  /** What is attached to the node and waits to be detached. */
  function unwanted(nodeName: string): readonly string[] {
    return [...actual.on(nodeName)].filter(([, { detachSinceMs }]) => detachSinceMs !== undefined).map(([name]) => name)
  }
}

/** What another controller manager has left: nodes tell what is attached to them; a VolumeAttachment beyond that is uncertain. */
function findAttached(
  actual: ActualState,
  nodes: readonly Node[],
  attachments: readonly VolumeAttachment[],
  volumeOf: (name: string) => PersistentVolume | undefined,
): void {
  for (const { metadata, status } of nodes)
    for (const { name, devicePath } of status?.volumesAttached ?? [])
      actual.attached(name, metadata.name ?? '', devicePath)
  for (const { spec } of attachments) {
    const volume = volumeOf(spec.source.persistentVolumeName ?? '')?.spec
    const uniqueName = volume && attachmentPluginOf(volume)?.uniqueName
    if (uniqueName !== undefined) actual.uncertain(uniqueName, spec.nodeName)
  }
}

/** It needs its volumes no longer: it has ended, or is being deleted and none of its containers runs. */
function isOver({ metadata, status }: Pod): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return true
  if (metadata.deletionTimestamp === undefined) return false
  const statuses = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ]
  return statuses.every(({ state }) => state?.running === undefined)
}
