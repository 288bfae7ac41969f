/**
 * Where a pod can have its volumes (plugin VolumeBinding): what is bound must be reachable from the node, what waits for its
 * first consumer must find a volume there, or a provisioner that makes it. Pure.
 */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { bestMatch, byRequest, classOf, reachesNode } from '../api/objects/best-volume-for-claim.ts'
import { isBindCompleted, selectedNode } from '../api/objects/volume-binding.ts'
import { NO_ROOM } from './storage-capacity.ts'

/** What is known of claims and volumes, with what was promised to pods that are about to be bound. */
export interface VolumeView {
  claim(key: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  volumes(): readonly PersistentVolume[]
  storageClass(name: string): StorageClass | undefined
  /** A volume of the class can be made for the node. */
  hasRoom(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node): boolean
}

/** A pod's claims. */
export interface PodVolumes {
  readonly bound: readonly PersistentVolumeClaim[]
  readonly waiting: readonly PersistentVolumeClaim[]
}

/** What is to be done before the pod may be bound to a node. */
export interface VolumePlan {
  readonly bindings: readonly { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }[]
  readonly provisions: readonly PersistentVolumeClaim[]
}

export const nothingToDo: VolumePlan = { bindings: [], provisions: [] }

/** Why plugin VolumeZone refuses a node. */
export const NO_ZONE = 'node(s) had no available volume zone'

const quoted = (text: string) => JSON.stringify(text)

export const isFullyBound = (claim: PersistentVolumeClaim): boolean =>
  Boolean(claim.spec?.volumeName) && isBindCompleted(claim)

/** Why the pod can have its claims on no node, and the plugin that says so. */
export interface ClaimRefusal {
  readonly plugin: 'VolumeRestrictions' | 'VolumeBinding'
  readonly reason: string
}

/** The claims that the pod needs; undefined for none. */
export function volumesOf(pod: Pod, view: VolumeView): PodVolumes | ClaimRefusal | undefined {
  const bound: PersistentVolumeClaim[] = []
  const waiting: PersistentVolumeClaim[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const ephemeral = volume.ephemeral !== undefined
    const name = ephemeral ? `${pod.metadata.name}-${volume.name}` : volume.persistentVolumeClaim?.claimName
    if (name === undefined) continue
    const claim = view.claim(`${pod.metadata.namespace}/${name}`)
    const refusal = refusalOf(pod, name, claim, ephemeral)
    // A claim that is not there is missed first by the plugin that looks at its access modes.
    if (refusal !== undefined) return { plugin: claim ? 'VolumeBinding' : 'VolumeRestrictions', reason: refusal }
    if (claim === undefined) continue
    if (isFullyBound(claim)) bound.push(claim)
    else if (waitsForConsumer(claim, view)) waiting.push(claim)
    else return { plugin: 'VolumeBinding', reason: 'pod has unbound immediate PersistentVolumeClaims' }
  }
  return bound.length === 0 && waiting.length === 0 ? undefined : { bound, waiting: waiting.sort(byRequest) }
}

function refusalOf(pod: Pod, name: string, claim: PersistentVolumeClaim | undefined, ephemeral: boolean) {
  if (claim === undefined)
    return ephemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted(name)}`
      : `persistentvolumeclaim ${quoted(name)} not found`
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim ${quoted(name)} bound to non-existent persistentvolume ${quoted(claim.spec?.volumeName ?? '')}`
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim ${quoted(name)} is being deleted`
  if (ephemeral && !isOwnedBy(claim, pod)) {
    const { namespace, name: podName } = pod.metadata
    return `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`
  }
  return undefined
}

const isOwnedBy = (claim: PersistentVolumeClaim, pod: Pod): boolean =>
  claim.metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === pod.metadata.uid) === true

function waitsForConsumer(claim: PersistentVolumeClaim, view: VolumeView): boolean {
  if (claim.spec?.volumeName) return false
  return view.storageClass(classOf(claim))?.volumeBindingMode === 'WaitForFirstConsumer'
}

/** What is to be done for the pod to have its volumes on this node; the reasons why that is impossible. */
export function planFor(
  { bound, waiting }: PodVolumes,
  node: Node,
  view: VolumeView,
  looksAtZones = true,
): VolumePlan | readonly string[] {
  const reasons = new Set<string>()
  for (const claim of bound) {
    const volume = view.volume(claim.spec?.volumeName ?? '')
    if (volume === undefined) reasons.add('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')
    else if (!reachesNode(volume, node)) reasons.add("node(s) didn't match PersistentVolume's node affinity")
    else if (looksAtZones && !isInZone(volume, node)) reasons.add(NO_ZONE)
  }
  const bindings: { volume: PersistentVolume; claim: PersistentVolumeClaim }[] = []
  const provisions: PersistentVolumeClaim[] = []
  for (const claim of waiting) {
    const chosen: string | undefined = claim.metadata.annotations?.[selectedNode]
    const free = view.volumes().filter((volume) => bindings.every((binding) => binding.volume !== volume))
    const volume = chosen === undefined ? bestMatch(free, claim, node) : undefined
    if (volume !== undefined) bindings.push({ volume, claim })
    else if ((chosen === undefined || chosen === node.metadata.name) && isProvidedOn(claim, node, view)) {
      const storageClass = view.storageClass(classOf(claim))
      if (storageClass !== undefined && view.hasRoom(claim, storageClass, node)) provisions.push(claim)
      else reasons.add(NO_ROOM)
    } else reasons.add("node(s) didn't find available persistent volumes to bind")
  }
  return reasons.size > 0 ? [...reasons] : { bindings, provisions }
}

/** Volumes say by labels in which zone and region they are; several are joined by `__`. */
function isInZone(volume: PersistentVolume, node: Node): boolean {
  const labels = Object.entries(volume.metadata.labels ?? {})
  return labels.every(([name, value]) => {
    if (!zoneLabels.has(name)) return true
    const own = node.metadata.labels?.[name]
    return own === undefined ? !hasZone(node) : value.split('__').includes(own)
  })
}
/** Labels of nodes and volumes that name a zone or a region. */
export const zoneLabels: ReadonlySet<string> = new Set(
  ['zone', 'region'].flatMap((part) => [`topology.kubernetes.io/${part}`, `failure-domain.beta.kubernetes.io/${part}`]),
)
const hasZone = ({ metadata }: KubeObject): boolean =>
  Object.keys(metadata.labels ?? {}).some((name) => zoneLabels.has(name))

/** A provisioner makes volumes of the claim's class for this node. */
function isProvidedOn(claim: PersistentVolumeClaim, node: Node, view: VolumeView): boolean {
  const storageClass = view.storageClass(classOf(claim))
  const provisioner: string = storageClass?.provisioner ?? ''
  if (provisioner === '' || provisioner === 'kubernetes.io/no-provisioner') return false
  const topologies = storageClass?.allowedTopologies ?? []
  const labels = node.metadata.labels ?? {}
  return (
    topologies.length === 0 ||
    topologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) =>
        (values as readonly (string | undefined)[]).includes(labels[key]),
      ),
    )
  )
}

/** `namespace/name` of the claims that one pod of the cluster alone may use. */
export const exclusiveClaims = ({ bound, waiting }: PodVolumes): readonly string[] =>
  [...bound, ...waiting]
    .filter(({ spec }) => spec?.accessModes?.includes('ReadWriteOncePod'))
    .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
