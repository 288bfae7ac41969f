/** The replica set of a deployment's template: found and brought up to date, or created. */
import type { ReplicaSet } from '../../api/generated/types.ts'
import { addInt64, type Int64 } from '../../api/objects/integers.ts'
import { sameJson } from '../../api/same.ts'
import { isAlreadyExists, isNamespaceTerminating, StatusError } from '../../api/status.ts'
import { controllerOf, controllerReference } from '../pods/pod.ts'
import { templateHash } from '../revisions/pod-template-hash.ts'
import { newSetReplicas } from './max-surge-max-unavailable.ts'
import {
  findNewSet,
  maxRevision,
  newSetAnnotations,
  podTemplateHashLabel,
  revisionAnnotation,
  sameTemplate,
} from './revision-history.ts'
import { hasProgressDeadline, newCondition, workloadCondition } from './status.ts'
import { type DeploymentSync, takeCondition, writeStatus } from './sync.ts'

export interface Sets {
  readonly newSet: ReplicaSet | undefined
  readonly old: readonly ReplicaSet[]
}

/** The replica set of the deployment's template, brought up to date or (if asked) created, and all others. */
export async function newAndOld(sync: DeploymentSync, create: boolean): Promise<Sets> {
  const existing = findNewSet(sync.deployment, sync.known)
  const old = sync.known.filter((set) => set.metadata.uid !== existing?.metadata.uid)
  const revision = addInt64(maxRevision(old), 1)
  if (existing !== undefined) return { newSet: await bringUpToDate(sync, existing, revision), old }
  return { newSet: create ? await createSet(sync, old, revision) : undefined, old }
}

async function bringUpToDate(sync: DeploymentSync, set: ReplicaSet, revision: Int64): Promise<ReplicaSet> {
  const annotations = newSetAnnotations(sync.deployment, set, revision, true)
  const minReadySeconds: number = sync.deployment.spec?.minReadySeconds ?? 0
  if (!sameJson(annotations, set.metadata.annotations ?? {}) || (set.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
    const updated = await sync.setClient.update({
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec!, minReadySeconds },
    })
    sync.known = sync.known.map((other) => (other === set ? updated : other))
    return updated
  }
  let needsUpdate = takeRevision(sync, set.metadata.annotations?.[revisionAnnotation] ?? '')
  if (hasProgressDeadline(sync.deployment) && workloadCondition(sync.deployment.status, 'Progressing') === undefined) {
    const message = `Found new replica set "${set.metadata.name}"`
    takeCondition(
      sync,
      newCondition('Progressing', 'True', 'FoundNewReplicaSet', message, sync.parts.runtime.clock.now()),
    )
    needsUpdate = true
  }
  if (needsUpdate) await writeStatus(sync.parts, sync.deployment, sync.deployment.status ?? {})
  return set
}

function takeRevision(sync: DeploymentSync, revision: string): boolean {
  if (sync.deployment.metadata.annotations?.[revisionAnnotation] === revision) return false
  const annotations = { ...sync.deployment.metadata.annotations, [revisionAnnotation]: revision }
  sync.deployment = { ...sync.deployment, metadata: { ...sync.deployment.metadata, annotations } }
  return true
}

async function createSet(sync: DeploymentSync, old: readonly ReplicaSet[], revision: Int64): Promise<ReplicaSet> {
  const spec = sync.deployment.spec!
  const hash = templateHash(spec.template, sync.deployment.status?.collisionCount)
  const labels = { ...spec.template.metadata?.labels, [podTemplateHashLabel]: hash }
  const name = `${(sync.deployment.metadata.name ?? '').slice(0, 253 - hash.length - 1)}-${hash}`
  const draft: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: sync.deployment.metadata.namespace ?? '',
      labels,
      ownerReferences: [controllerReference(sync.deployment)],
    },
    spec: {
      replicas: 0,
      ...(spec.minReadySeconds ? { minReadySeconds: spec.minReadySeconds } : {}),
      selector: {
        ...spec.selector,
        matchLabels: { ...spec.selector.matchLabels, [podTemplateHashLabel]: hash },
      },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  }
  const replicas = newSetReplicas(sync.deployment, [...old, draft], draft)
  const annotations = newSetAnnotations(sync.deployment, draft, revision, false)
  let created: ReplicaSet
  let alreadyExists = false
  try {
    created = await sync.setClient.create({
      ...draft,
      metadata: { ...draft.metadata, annotations },
      spec: { ...draft.spec!, replicas },
    })
  } catch (error) {
    if (!isAlreadyExists(error)) return creationFailed(sync, name, error)
    const existing = sync.parts.setByKey(`${sync.deployment.metadata.namespace}/${name}`)
    if (existing === undefined) throw error
    const mine = controllerOf(existing)?.uid === sync.deployment.metadata.uid
    if (!mine || !sameTemplate(existing.spec?.template, spec.template)) {
      // Another template hashes to the same name: the next try counts a collision into the hash.
      const collisionCount = (sync.deployment.status?.collisionCount ?? 0) + 1
      await writeStatus(sync.parts, sync.deployment, { ...sync.deployment.status, collisionCount })
      sync.parts.log.info(2, 'Found a hash collision for deployment, bumping collisionCount', { collisionCount })
      throw error
    }
    created = existing
    alreadyExists = true
  }
  if (!alreadyExists && replicas > 0) {
    const message = `Scaled up replica set ${name} from 0 to ${replicas}`
    sync.parts.recorder.event(sync.deployment, 'Normal', 'ScalingReplicaSet', message)
  }
  let needsUpdate = takeRevision(sync, String(revision))
  if (!alreadyExists && hasProgressDeadline(sync.deployment)) {
    const message = `Created new replica set "${name}"`
    takeCondition(
      sync,
      newCondition('Progressing', 'True', 'NewReplicaSetCreated', message, sync.parts.runtime.clock.now()),
    )
    needsUpdate = true
  }
  sync.known = [...sync.known.filter((set) => set.metadata.uid !== created.metadata.uid), created]
  if (needsUpdate) await writeStatus(sync.parts, sync.deployment, sync.deployment.status ?? {})
  return created
}

async function creationFailed(sync: DeploymentSync, name: string, error: unknown): Promise<never> {
  if (isNamespaceTerminating(error)) throw error
  const reason = error instanceof StatusError ? error.message : String(error)
  const message = `Failed to create new replica set "${name}": ${reason}`
  if (hasProgressDeadline(sync.deployment)) {
    takeCondition(
      sync,
      newCondition('Progressing', 'False', 'ReplicaSetCreateError', message, sync.parts.runtime.clock.now()),
    )
    await writeStatus(sync.parts, sync.deployment, sync.deployment.status ?? {}).catch(() => {})
  }
  sync.parts.recorder.event(sync.deployment, 'Warning', 'ReplicaSetCreateError', message)
  throw error
}
