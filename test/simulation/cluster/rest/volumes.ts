/** Claims and volumes at rest: one claim for one volume, both sides agree, and nothing waits that could be bound. */
import type { KubeObject } from '../../../../src/api/object.ts'
import { describe } from '../laws/laws.ts'
import type { Truth } from '../truth.ts'

/** The class of this simulation's volumes; nobody provisions it. */
export const STORAGE_CLASS = 'none'

export function checkClaim(truth: Truth, failed: (problem: string) => void, claim: KubeObject): void {
  const what = describe(claim)
  const { phase } = claim['status'] ?? {}
  const name: string | undefined = claim['spec'].volumeName
  const volume = name === undefined ? undefined : truth.find({ resource: 'persistentvolumes', namespace: '', name })
  if (phase === 'Bound') {
    if (name === undefined || volume === undefined) {
      failed(`${what} is bound to nothing`)
      return
    }
    if (volume['spec'].claimRef?.uid !== claim.metadata.uid) failed(`${what} is bound to ${name}, which is another's`)
    if (volume['status']?.phase !== 'Bound') failed(`${what} is bound to ${name}, which is ${volume['status']?.phase}`)
    return
  }
  if (phase === 'Lost') {
    if (volume?.['spec'].claimRef?.uid === claim.metadata.uid) failed(`${what} is Lost, and its volume is there`)
    return
  }
  const fits = truth
    .list('persistentvolumes')
    .find((one) => claim['spec'].storageClassName === STORAGE_CLASS && one['status']?.phase === 'Available')
  if (name === undefined && fits !== undefined) failed(`${what} waits, and ${describe(fits)} is free`)
}

export function checkVolume(truth: Truth, failed: (problem: string) => void, volume: KubeObject): void {
  const what = describe(volume)
  const { claimRef } = volume['spec']
  const { phase } = volume['status'] ?? {}
  const claim = claimRef?.uid === undefined ? undefined : truth.ofUid(claimRef.uid)
  if (phase === 'Bound' && claim?.['spec'].volumeName !== volume.metadata.name)
    failed(`${what} is bound to ${claimRef?.name}, which does not know of it`)
  if (phase === 'Available' && claim !== undefined) failed(`${what} is Available and belongs to ${describe(claim)}`)
  if (phase === 'Released' && claim !== undefined) failed(`${what} is Released, and ${describe(claim)} is there`)
  if (phase !== 'Bound' && phase !== 'Available' && phase !== 'Released') failed(`${what} is ${phase}`)
}

/** Every ordinal's pod has its own claim, named after both. */
export function checkClaims(failed: (problem: string) => void, set: KubeObject, pods: readonly KubeObject[]): void {
  for (const { metadata } of set['spec'].volumeClaimTemplates ?? [])
    for (const pod of pods) {
      const claimName = `${metadata.name}-${pod.metadata.name}`
      const volumes: readonly { name: string; persistentVolumeClaim?: { claimName: string } }[] = pod['spec'].volumes
      const used = volumes.find(({ name }) => name === metadata.name)?.persistentVolumeClaim?.claimName
      if (used !== claimName) failed(`${describe(pod)} has the claim ${used} instead of ${claimName}`)
    }
}

export const usesUnboundClaim = (truth: Truth, pod: KubeObject): boolean =>
  (pod['spec'].volumes ?? []).some((volume: { persistentVolumeClaim?: { claimName: string } }) => {
    const name = volume.persistentVolumeClaim?.claimName
    if (name === undefined) return false
    const namespace = pod.metadata.namespace ?? ''
    const claim = truth.find({ resource: 'persistentvolumeclaims', namespace, name })
    return claim?.['status']?.phase !== 'Bound' || claim.metadata.deletionTimestamp !== undefined
  })
