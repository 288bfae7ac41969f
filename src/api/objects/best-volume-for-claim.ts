/** Which volumes can serve a claim, and which serves it best (API concept: persistent volumes, binding). Pure. */
import type {
  Node,
  NodeSelector,
  NodeSelectorTerm,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
} from '../generated/types.ts'
import { compareQuantities } from '../values/quantity.ts'
import { labelSelectorOf } from './label-selector.ts'
import { nodeTermMatches } from './node-affinity.ts'

const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** '' for none. */
export const classOf = ({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''
const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec?.volumeMode ?? 'Filesystem'
const capacityOf = ({ spec }: PersistentVolume): string => spec?.capacity?.['storage'] ?? '0'
const requestOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.['storage'] ?? '0'
export const claimRefOf = ({ spec }: PersistentVolume): ObjectReference | undefined => spec?.claimRef

/** The volume is, or is reserved to be, this claim's. */
export function isFor(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { namespace, name, uid } = claimRefOf(volume) ?? {}
  return namespace === claim.metadata.namespace && name === claim.metadata.name && (!uid || uid === claim.metadata.uid)
}

/** Why the volume that a claim names cannot be its own, in Kubernetes' words; undefined when it can. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  const { name, deletionTimestamp } = volume.metadata
  if (deletionTimestamp !== undefined) return `the volume is marked for deletion ${JSON.stringify(name)}`
  if (compareQuantities(capacityOf(volume), requestOf(claim)) < 0) return 'requested PV is too small'
  if (classOf(volume) !== classOf(claim)) return 'storageClassName does not match'
  if (attributesClassOf(volume) !== attributesClassOf(claim)) return 'volumeAttributesClassName does not match'
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode'
  if (!hasModes(volume, claim)) return 'incompatible accessMode'
  return undefined
}

const attributesClassOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec?.volumeAttributesClassName ?? ''

function hasModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered: readonly string[] = volume.spec!.accessModes ?? []
  return (claim.spec!.accessModes ?? []).every((mode) => offered.includes(mode))
}

/** Whether pods on this node may use the volume. */
export function reachesNode(volume: PersistentVolume, node: Node): boolean {
  const required: NodeSelector | undefined = volume.spec!.nodeAffinity?.required
  const terms: readonly NodeSelectorTerm[] = required?.nodeSelectorTerms ?? []
  return required === undefined || terms.some((term) => nodeTermMatches(term, node))
}

/** By what the claim asks for, the least first. */
export const byRequest = (a: PersistentVolumeClaim, b: PersistentVolumeClaim): number =>
  compareQuantities(requestOf(a), requestOf(b))

/**
 * The smallest available volume that serves the claim; before all others one that is reserved for it. With a node, one that
 * pods there may use.
 */
export function bestMatch(
  volumes: Iterable<PersistentVolume>,
  claim: PersistentVolumeClaim,
  node?: Node,
): PersistentVolume | undefined {
  const { selector } = claim.spec ?? {}
  let best: PersistentVolume | undefined
  for (const volume of volumes) {
    if (mismatch(volume, claim) !== undefined) continue
    if (node !== undefined && !reachesNode(volume, node)) continue
    if (claimRefOf(volume) !== undefined) {
      if (isFor(volume, claim)) return volume
      continue
    }
    if (volume.status?.phase !== 'Available') continue
    if (selector !== undefined && !labelSelectorOf(selector).matches(volume.metadata.labels)) continue
    if (best === undefined || isBetter(volume, best)) best = volume
  }
  return best
}

function isBetter(volume: PersistentVolume, than: PersistentVolume): boolean {
  const size = compareQuantities(capacityOf(volume), capacityOf(than))
  return size < 0 || (size === 0 && (volume.metadata.name ?? '') < (than.metadata.name ?? ''))
}
