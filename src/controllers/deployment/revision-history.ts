/** Revisions of a deployment: which replica set is which, and the annotations that remember it. */
import type { Deployment, PodTemplateSpec, ReplicaSet } from '../../api/generated/types.ts'
import { compareInt64, type Int64, maxInt64, parseInt64 } from '../../api/objects/integers.ts'
import { sameJson } from '../../api/same.ts'
import { compareCreation, desiredAnnotation, maxAnnotation, maxSurge, replicasOf } from './max-surge-max-unavailable.ts'

export const revisionAnnotation = 'deployment.kubernetes.io/revision'
const historyAnnotation = 'deployment.kubernetes.io/revision-history'
export const podTemplateHashLabel = 'pod-template-hash'
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

/** 0 where none is annotated, undefined where the annotation is no 64-bit integer. */
const revisionOf = (set: ReplicaSet): Int64 | undefined =>
  parseInt64(set.metadata.annotations?.[revisionAnnotation] ?? '0')

/** Lower revisions first; sets whose revision cannot be read are as old as they are. */
export function compareRevision(a: ReplicaSet, b: ReplicaSet): number {
  const [first, second] = [revisionOf(a), revisionOf(b)]
  const byRevision = first === undefined || second === undefined ? 0 : compareInt64(first, second)
  return byRevision || compareCreation(a, b)
}

/** The oldest replica set that has the deployment's template; there may be more after a clash of clocks. */
export function findNewSet(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const template = deployment.spec?.template
  return [...sets].sort(compareCreation).find((set) => sameTemplate(set.spec?.template, template))
}

export function sameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return sameJson(withoutHash(a), withoutHash(b))
}

function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec | undefined {
  const { [podTemplateHashLabel]: hash, ...labels } = template?.metadata?.labels ?? {}
  if (hash === undefined) return template
  return { ...template, metadata: { ...template?.metadata, labels } }
}

export const maxRevision = (sets: readonly ReplicaSet[]): Int64 =>
  sets.reduce((most: Int64, set) => maxInt64(most, revisionOf(set) ?? 0), 0)

/**
 * The annotations of the new replica set under this revision; the same object when nothing changes, and when the revision
 * that it has cannot be read.
 */
export function newSetAnnotations(
  deployment: Deployment,
  set: ReplicaSet,
  revision: Int64,
  exists: boolean,
): Readonly<Record<string, string>> {
  const old = set.metadata.annotations ?? {}
  const annotations: Record<string, string> = { ...old }
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!ownAnnotations.has(name)) annotations[name] = value
  }
  const oldRevision = old[revisionAnnotation]
  const oldNumber = parseInt64(oldRevision || '0')
  if (oldNumber === undefined) return old
  if (oldNumber < revision) {
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

export function replicaAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  const desired = replicasOf(deployment)
  return { [desiredAnnotation]: String(desired), [maxAnnotation]: String(desired + maxSurge(deployment)) }
}
