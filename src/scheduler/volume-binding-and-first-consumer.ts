/**
 * Where a pod can have its volumes (plugin VolumeBinding): what is bound must be reachable from the node, what waits for its
 * first consumer must find a volume there, or a provisioner that makes it. Pure.
 */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { bestMatch, byRequest, classOf, reachesNode } from '../api/objects/best-volume-for-claim.ts'
import { isBindCompleted, selectedNode } from '../api/objects/volume-binding.ts'
import { NO_ROOM, type VolumeRoom } from './storage-capacity.ts'

/** What is known of claims and volumes, with what was promised to pods that are about to be bound. */
export interface VolumeView {
  claim(key: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  volumes(): readonly PersistentVolume[]
  storageClass(name: string): StorageClass | undefined
  /** Where a volume of the class can be made for the node. */
  roomFor(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node): VolumeRoom | undefined
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
  /** What there is of the classes of `provisions` at the node, where that is told. */
  readonly capacities?: ReadonlyMap<string, string>
}

export const nothingToDo: VolumePlan = { bindings: [], provisions: [] }

const quoted = (text: string) => JSON.stringify(text)

export const isFullyBound = (claim: PersistentVolumeClaim): boolean =>
  Boolean(claim.spec?.volumeName) && isBindCompleted(claim)

/** Why the pod can have its claims on no node, and the plugin that says so. */
export interface ClaimRefusal {
  readonly plugin: ClaimPlugin
  readonly reason: string
}

/** Plugins that look at a pod's claims before any node. */
const CLAIM_PLUGINS = ['VolumeRestrictions', 'VolumeBinding', 'VolumeZone'] as const
type ClaimPlugin = (typeof CLAIM_PLUGINS)[number]

/** The claims that the pod needs; undefined for none. `plugins`: those that have a say. */
export function volumesOf(
  pod: Pod,
  view: VolumeView,
  plugins: readonly string[] = CLAIM_PLUGINS,
): PodVolumes | ClaimRefusal | undefined {
  const has = (plugin: ClaimPlugin) => plugins.includes(plugin)
  const bound: PersistentVolumeClaim[] = []
  const waiting: PersistentVolumeClaim[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const ephemeral = volume.ephemeral !== undefined
    const name = ephemeral ? `${pod.metadata.name}-${volume.name}` : volume.persistentVolumeClaim?.claimName
    if (name === undefined) continue
    const claim = view.claim(`${pod.metadata.namespace}/${name}`)
    if (claim === undefined) {
      // It is missed first by the plugin that looks at its access modes.
      const plugin = CLAIM_PLUGINS.find(has)
      if (plugin !== undefined) return { plugin, reason: whyMissing(name, ephemeral) }
      continue
    }
    const refusal = has('VolumeBinding') ? refusalOf(pod, name, claim, ephemeral) : undefined
    if (refusal !== undefined) return { plugin: 'VolumeBinding', reason: refusal }
    if (isFullyBound(claim)) bound.push(claim)
    else if (waitsForConsumer(claim, view)) waiting.push(claim)
    else if (has('VolumeBinding'))
      return { plugin: 'VolumeBinding', reason: 'pod has unbound immediate PersistentVolumeClaims' }
    else if (has('VolumeZone') && !claim.spec?.volumeName)
      return { plugin: 'VolumeZone', reason: whyZoneless(claim, view) }
  }
  return bound.length === 0 && waiting.length === 0 ? undefined : { bound, waiting: waiting.sort(byRequest) }
}

const whyMissing = (name: string, ephemeral: boolean): string =>
  ephemeral
    ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted(name)}`
    : `persistentvolumeclaim ${quoted(name)} not found`

/** Its volume is not known, so neither is where that is. */
function whyZoneless(claim: PersistentVolumeClaim, view: VolumeView): string {
  const storageClass = classOf(claim)
  if (storageClass === '') return 'PersistentVolumeClaim had no pv name and storageClass name'
  return view.storageClass(storageClass) === undefined
    ? `storageclass.storage.k8s.io ${quoted(storageClass)} not found`
    : 'PersistentVolume had no name'
}

function refusalOf(pod: Pod, name: string, claim: PersistentVolumeClaim, ephemeral: boolean) {
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
export function planFor({ bound, waiting }: PodVolumes, node: Node, view: VolumeView): VolumePlan | readonly string[] {
  const reasons = new Set<string>()
  for (const claim of bound) {
    const volume = view.volume(claim.spec?.volumeName ?? '')
    if (volume === undefined) reasons.add('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')
    else if (!reachesNode(volume, node)) reasons.add("node(s) didn't match PersistentVolume's node affinity")
  }
  const bindings: { volume: PersistentVolume; claim: PersistentVolumeClaim }[] = []
  const provisions: PersistentVolumeClaim[] = []
  const capacities = new Map<string, string>()
  for (const claim of waiting) {
    const chosen: string | undefined = claim.metadata.annotations?.[selectedNode]
    const free = view.volumes().filter((volume) => bindings.every((binding) => binding.volume !== volume))
    const volume = chosen === undefined ? bestMatch(free, claim, node) : undefined
    if (volume !== undefined) bindings.push({ volume, claim })
    else if ((chosen === undefined || chosen === node.metadata.name) && isProvidedOn(claim, node, view)) {
      const storageClass = view.storageClass(classOf(claim))
      const room = storageClass && view.roomFor(claim, storageClass, node)
      if (room === undefined) reasons.add(NO_ROOM)
      else provisions.push(claim)
      if (room?.capacity !== undefined) capacities.set(classOf(claim), room.capacity)
    } else reasons.add("node(s) didn't find available persistent volumes to bind")
  }
  if (reasons.size > 0) return [...reasons]
  return { bindings, provisions, ...(capacities.size > 0 ? { capacities } : {}) }
}

/** No volume of the pod's is known to be in another zone or region than the node (plugin VolumeZone). */
export const isInZones = ({ bound }: PodVolumes, node: Node, view: VolumeView): boolean =>
  bound.every((claim) => {
    const volume = view.volume(claim.spec?.volumeName ?? '')
    return volume === undefined || isInZone(volume, node)
  })

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
