/** Revisions of a deployment: which replica set is which, and the annotations that remember it. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { sameJson } from '../same.ts'
import { compareCreation, desiredAnnotation, maxAnnotation, maxSurge, replicasOf } from './replicas.ts'

export const revisionAnnotation = 'deployment.kubernetes.io/revision'
const historyAnnotation = 'deployment.kubernetes.io/revision-history'
export const hashLabel = 'pod-template-hash'
/** Annotations that a replica set has of its own and never from its deployment. */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  'deprecated.deployment.rollback.to',
])
const historyLength = 2000

export const revisionOf = (set: KubeObject): number => Number(set.metadata.annotations?.[revisionAnnotation] ?? 0) || 0

/** The oldest replica set that has the deployment's template; there may be more after a clash of clocks. */
export function findNewSet(deployment: KubeObject, sets: readonly KubeObject[]): KubeObject | undefined {
  const template: Fields = deployment['spec'].template
  return [...sets].sort(compareCreation).find((set) => sameTemplate(set['spec'].template, template))
}

export function sameTemplate(a: Fields, b: Fields): boolean {
  return sameJson(withoutHash(a), withoutHash(b))
}

function withoutHash(template: Fields): Fields {
  const { [hashLabel]: hash, ...labels } = template['metadata']?.labels ?? {}
  if (hash === undefined) return template
  return { ...template, metadata: { ...template['metadata'], labels } }
}

export const maxRevision = (sets: readonly KubeObject[]): number =>
  sets.reduce((most, set) => Math.max(most, revisionOf(set)), 0)

/** The annotations of the new replica set under this revision; the same object when nothing changes. */
export function newSetAnnotations(
  deployment: KubeObject,
  set: KubeObject,
  revision: number,
  exists: boolean,
): Readonly<Record<string, string>> {
  const old = set.metadata.annotations ?? {}
  const annotations: Record<string, string> = { ...old }
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!ownAnnotations.has(name)) annotations[name] = value
  }
  const oldRevision = old[revisionAnnotation]
  if (oldRevision === undefined || Number(oldRevision) < revision) {
    annotations[revisionAnnotation] = String(revision)
    // A replica set that becomes the newest again was rolled back to: it remembers the revisions it was.
    if (oldRevision !== undefined) annotations[historyAnnotation] = history(old[historyAnnotation], oldRevision)
  }
  if (!exists) Object.assign(annotations, replicaAnnotations(deployment))
  return sameJson(annotations, old) ? old : annotations
}

function history(known: string | undefined, revision: string): string {
  const revisions = known ? known.split(',') : []
  while (revisions.length > 0 && revisions.join(',').length + revision.length + 1 > historyLength) revisions.shift()
  return [...revisions, revision].join(',')
}

export function replicaAnnotations(deployment: KubeObject): Readonly<Record<string, string>> {
  const desired = replicasOf(deployment)
  return { [desiredAnnotation]: String(desired), [maxAnnotation]: String(desired + maxSurge(deployment)) }
}
