/** One sync of a deployment: what to create, scale or clean up, and the status to write, by strategy. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { isAlreadyExists, isNotFound, StatusError } from '../../api/status.ts'
import type { Logger } from '../../base/log.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { ResourceClient } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import { controllerOf, controllerReference } from '../pods/pod.ts'
import { isNamespaceTerminating } from '../replicaset/shared.ts'
import { sameJson } from '../same.ts'
import { templateHash } from './hash.ts'
import {
  compareCreation,
  desiredAnnotation,
  isActiveSet,
  isRolling,
  isSaturated,
  maxUnavailable,
  newSetReplicas,
  proportionalSizes,
  replicasOf,
  statusSum,
  totalReplicas,
} from './replicas.ts'
import {
  findNewSet,
  hashLabel,
  maxRevision,
  newSetAnnotations,
  replicaAnnotations,
  revisionAnnotation,
  revisionOf,
  sameTemplate,
} from './revisions.ts'
import {
  calculateStatus,
  conditionOf,
  deadlineExceeded,
  hasProgressDeadline,
  isComplete,
  newCondition,
  rolloutStatus,
  setCondition,
  untilDeadline,
} from './status.ts'

export interface RolloutParts {
  readonly runtime: Runtime
  readonly deployments: ResourceClient
  readonly sets: ResourceClient
  readonly recorder: EventRecorder
  readonly log: Logger
  setByKey(key: string): KubeObject | undefined
  /** undefined: soon, rate limited. */
  requeue(deployment: KubeObject, ms: number | undefined): void
}

interface Sets {
  readonly newSet: KubeObject | undefined
  readonly old: readonly KubeObject[]
}

const unlimitedHistory = 2 ** 31 - 1

export function createRollout(parts: RolloutParts) {
  const { runtime, deployments, sets, recorder, log } = parts
  const now = () => runtime.clock.now()

  return {
    async observeOnly(deployment: KubeObject): Promise<void> {
      const generation = deployment.metadata.generation ?? 0
      if ((deployment['status']?.observedGeneration ?? 0) >= generation) return
      await writeStatus(deployment, { ...deployment['status'], observedGeneration: generation })
    },

    /** @throws on conflicts and failures: the deployment is to be synced again */
    async sync(
      stored: KubeObject,
      own: readonly KubeObject[],
      podsBySet: () => ReadonlyMap<string, readonly KubeObject[]>,
    ): Promise<void> {
      const rollout = createSync(stored, own)
      if (stored.metadata.deletionTimestamp !== undefined) return rollout.syncStatusOnly()
      await rollout.checkPaused()
      if (stored['spec'].paused === true) return rollout.scaleOnly()
      if (await rollout.isScaling()) return rollout.scaleOnly()
      return isRolling(stored) ? rollout.rolling() : rollout.recreate(podsBySet)
    },
  }

  function writeStatus(deployment: KubeObject, status: Fields): Promise<KubeObject> {
    const resource = deployments.namespace(deployment.metadata.namespace ?? '')
    return resource.update({ ...deployment, status }, { subresource: 'status' })
  }

  function createSync(stored: KubeObject, own: readonly KubeObject[]) {
    const setClient = sets.namespace(stored.metadata.namespace ?? '')
    // What this sync has decided about the deployment. Its resourceVersion stays the one it was read at, so that a second
    // write in one sync conflicts and the deployment is looked at afresh.
    let deployment = stored
    let known = own

    return { checkPaused, isScaling, scaleOnly, syncStatusOnly, rolling, recreate }

    async function checkPaused(): Promise<void> {
      if (!hasProgressDeadline(deployment)) return
      const condition = conditionOf(deployment['status'], 'Progressing')
      if (condition?.['reason'] === deadlineExceeded) return
      const paused = deployment['spec'].paused === true
      const shown = condition?.['reason'] === 'DeploymentPaused'
      if (paused === shown) return
      const [reason, message] = paused
        ? ['DeploymentPaused', 'Deployment is paused']
        : ['DeploymentResumed', 'Deployment is resumed']
      takeCondition(newCondition('Progressing', 'Unknown', reason as string, message as string, now()))
      deployment = await writeStatus(deployment, deployment['status'])
    }

    function takeCondition(condition: Fields) {
      const status: Fields = deployment['status'] ?? {}
      deployment = {
        ...deployment,
        status: { ...status, conditions: setCondition(status['conditions'] ?? [], condition) },
      }
    }

    async function isScaling(): Promise<boolean> {
      const { newSet, old } = await newAndOld(false)
      const desired = String(replicasOf(deployment))
      return everySet(newSet, old)
        .filter(isActiveSet)
        .some((set) => {
          const annotated = set.metadata.annotations?.[desiredAnnotation]
          return annotated !== undefined && annotated !== desired
        })
    }

    async function syncStatusOnly(): Promise<void> {
      const { newSet, old } = await newAndOld(false)
      await syncStatus(everySet(newSet, old), newSet)
    }

    async function scaleOnly(): Promise<void> {
      let { newSet, old } = await newAndOld(false)
      const scaled = await scale(newSet, old)
      newSet = replaced(newSet, scaled)
      old = old.map((set) => replaced(set, scaled) as KubeObject)
      if (deployment['spec'].paused === true) await cleanUp(old)
      await syncStatus(everySet(newSet, old), newSet)
    }

    async function rolling(): Promise<void> {
      const { newSet: found, old } = await newAndOld(true)
      const newSet = found as KubeObject
      const desired = replicasOf(deployment)
      if (replicasOf(newSet) !== desired) {
        const size = replicasOf(newSet) > desired ? desired : newSetReplicas(deployment, everySet(newSet, old), newSet)
        const scaled = await scaleTo(newSet, size)
        if (scaled !== undefined) return syncRollout(everySet(scaled, old), scaled)
      }
      const shrunk = await scaleDownOld(newSet, old)
      if (shrunk !== undefined) return syncRollout(everySet(newSet, shrunk), newSet)
      if (isComplete(deployment, deployment['status'] ?? {})) await cleanUp(old)
      await syncRollout(everySet(newSet, old), newSet)
    }

    async function recreate(podsBySet: () => ReadonlyMap<string, readonly KubeObject[]>): Promise<void> {
      let { newSet, old } = await newAndOld(false)
      const shrunk: KubeObject[] = []
      for (const set of old.filter(isActiveSet)) {
        const scaled = await scaleTo(set, 0)
        if (scaled !== undefined) shrunk.push(scaled)
      }
      if (shrunk.length > 0) {
        old = old.map((set) => replaced(set, shrunk) as KubeObject)
        return syncRollout(everySet(newSet, old), newSet)
      }
      if (oldPodsRunning(newSet, old, podsBySet())) return syncRollout(everySet(newSet, old), newSet)
      if (newSet === undefined) ({ newSet, old } = await newAndOld(true))
      if (newSet !== undefined) newSet = (await scaleTo(newSet, replicasOf(deployment))) ?? newSet
      if (isComplete(deployment, deployment['status'] ?? {})) await cleanUp(old)
      await syncRollout(everySet(newSet, old), newSet)
    }

    /** The replica set of the deployment's template, brought up to date or (if asked) created, and all others. */
    async function newAndOld(create: boolean): Promise<Sets> {
      const existing = findNewSet(deployment, known)
      const old = known.filter((set) => set.metadata.uid !== existing?.metadata.uid)
      const revision = maxRevision(old) + 1
      if (existing !== undefined) return { newSet: await bringUpToDate(existing, revision), old }
      return { newSet: create ? await createSet(old, revision) : undefined, old }
    }

    async function bringUpToDate(set: KubeObject, revision: number): Promise<KubeObject> {
      const annotations = newSetAnnotations(deployment, set, revision, true)
      const minReadySeconds: number = deployment['spec'].minReadySeconds ?? 0
      if (
        !sameJson(annotations, set.metadata.annotations ?? {}) ||
        (set['spec'].minReadySeconds ?? 0) !== minReadySeconds
      ) {
        const updated = await setClient.update({
          ...set,
          metadata: { ...set.metadata, annotations },
          spec: { ...set['spec'], minReadySeconds },
        })
        known = known.map((other) => (other === set ? updated : other))
        return updated
      }
      let needsUpdate = takeRevision(set.metadata.annotations?.[revisionAnnotation] ?? '')
      if (hasProgressDeadline(deployment) && conditionOf(deployment['status'], 'Progressing') === undefined) {
        const message = `Found new replica set "${set.metadata.name}"`
        takeCondition(newCondition('Progressing', 'True', 'FoundNewReplicaSet', message, now()))
        needsUpdate = true
      }
      if (needsUpdate) await writeStatus(deployment, deployment['status'])
      return set
    }

    function takeRevision(revision: string): boolean {
      if (deployment.metadata.annotations?.[revisionAnnotation] === revision) return false
      const annotations = { ...deployment.metadata.annotations, [revisionAnnotation]: revision }
      deployment = { ...deployment, metadata: { ...deployment.metadata, annotations } }
      return true
    }

    async function createSet(old: readonly KubeObject[], revision: number): Promise<KubeObject> {
      const spec: Fields = deployment['spec']
      const hash = templateHash(spec['template'], deployment['status']?.collisionCount)
      const labels = { ...spec['template'].metadata?.labels, [hashLabel]: hash }
      const name = `${(deployment.metadata.name ?? '').slice(0, 253 - hash.length - 1)}-${hash}`
      const draft: KubeObject = {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: {
          name,
          namespace: deployment.metadata.namespace ?? '',
          labels,
          ownerReferences: [controllerReference(deployment)],
        },
        spec: {
          replicas: 0,
          ...(spec['minReadySeconds'] ? { minReadySeconds: spec['minReadySeconds'] } : {}),
          selector: {
            ...spec['selector'],
            matchLabels: { ...spec['selector'].matchLabels, [hashLabel]: hash },
          },
          template: { ...spec['template'], metadata: { ...spec['template'].metadata, labels } },
        },
      }
      const replicas = newSetReplicas(deployment, [...old, draft], draft)
      const annotations = newSetAnnotations(deployment, draft, revision, false)
      let created: KubeObject
      let alreadyExists = false
      try {
        created = await setClient.create({
          ...draft,
          metadata: { ...draft.metadata, annotations },
          spec: { ...draft['spec'], replicas },
        })
      } catch (error) {
        if (!isAlreadyExists(error)) return creationFailed(name, error)
        const existing = parts.setByKey(`${deployment.metadata.namespace}/${name}`)
        if (existing === undefined) throw error
        const mine = controllerOf(existing)?.uid === deployment.metadata.uid
        if (!mine || !sameTemplate(existing['spec'].template, spec['template'])) {
          // Another template hashes to the same name: the next try counts a collision into the hash.
          const collisionCount = (deployment['status']?.collisionCount ?? 0) + 1
          await writeStatus(deployment, { ...deployment['status'], collisionCount })
          log.info(2, 'Found a hash collision for deployment, bumping collisionCount', { collisionCount })
          throw error
        }
        created = existing
        alreadyExists = true
      }
      if (!alreadyExists && replicas > 0) {
        const message = `Scaled up replica set ${name} from 0 to ${replicas}`
        recorder.event(deployment, 'Normal', 'ScalingReplicaSet', message)
      }
      let needsUpdate = takeRevision(String(revision))
      if (!alreadyExists && hasProgressDeadline(deployment)) {
        const message = `Created new replica set "${name}"`
        takeCondition(newCondition('Progressing', 'True', 'NewReplicaSetCreated', message, now()))
        needsUpdate = true
      }
      known = [...known.filter((set) => set.metadata.uid !== created.metadata.uid), created]
      if (needsUpdate) await writeStatus(deployment, deployment['status'] ?? {})
      return created
    }

    async function creationFailed(name: string, error: unknown): Promise<never> {
      if (isNamespaceTerminating(error)) throw error
      const reason = error instanceof StatusError ? error.message : String(error)
      const message = `Failed to create new replica set "${name}": ${reason}`
      if (hasProgressDeadline(deployment)) {
        takeCondition(newCondition('Progressing', 'False', 'ReplicaSetCreateError', message, now()))
        await writeStatus(deployment, deployment['status']).catch(() => {})
      }
      recorder.event(deployment, 'Warning', 'ReplicaSetCreateError', message)
      throw error
    }

    /** The updated set, or undefined when it had that size already. */
    async function scaleTo(set: KubeObject, size: number): Promise<KubeObject | undefined> {
      return replicasOf(set) === size ? undefined : resize(set, size)
    }

    async function resize(set: KubeObject, size: number): Promise<KubeObject | undefined> {
      const wanted = replicaAnnotations(deployment)
      const before = replicasOf(set)
      const annotations = { ...set.metadata.annotations, ...wanted }
      if (before === size && sameJson(annotations, set.metadata.annotations)) return undefined
      const updated = await setClient.update({
        ...set,
        metadata: { ...set.metadata, annotations },
        spec: { ...set['spec'], replicas: size },
      })
      if (before === size) return updated
      const way = before < size ? 'up' : 'down'
      const message = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${size}`
      recorder.event(deployment, 'Normal', 'ScalingReplicaSet', message)
      return updated
    }

    /** Sizes for a deployment whose replicas changed, or that is paused. Returns the sets that were written. */
    async function scale(newSet: KubeObject | undefined, old: readonly KubeObject[]): Promise<KubeObject[]> {
      const desired = replicasOf(deployment)
      const changed: KubeObject[] = []
      const keep = (set: KubeObject | undefined) => set !== undefined && changed.push(set)
      const single = activeOrLatest(newSet, old)
      if (single !== undefined) {
        keep(await scaleTo(single, desired))
        return changed
      }
      if (isSaturated(deployment, newSet)) {
        for (const set of old.filter(isActiveSet)) keep(await scaleTo(set, 0))
        return changed
      }
      if (!isRolling(deployment)) return changed
      const active = everySet(newSet, old).filter(isActiveSet)
      const sizes = proportionalSizes(deployment, active)
      for (const set of active) keep(await resize(set, sizes.get(set.metadata.name ?? '') ?? replicasOf(set)))
      return changed
    }

    /** The old sets after those that may go have been scaled down; undefined when nothing may. */
    async function scaleDownOld(
      newSet: KubeObject,
      old: readonly KubeObject[],
    ): Promise<readonly KubeObject[] | undefined> {
      if (totalReplicas(old.filter(isActiveSet)) === 0) return undefined
      const minAvailable = replicasOf(deployment) - maxUnavailable(deployment)
      const unavailableNew = replicasOf(newSet) - (newSet['status']?.availableReplicas ?? 0)
      const most = totalReplicas(everySet(newSet, old)) - minAvailable - unavailableNew
      if (most <= 0) return undefined
      let shrunk = false
      // What is not healthy goes first: it is no loss.
      let current = [...old].sort(compareCreation)
      let removed = 0
      for (const set of current.filter(isActiveSet)) {
        if (removed >= most) break
        const unhealthy = replicasOf(set) - (set['status']?.availableReplicas ?? 0)
        if (unhealthy <= 0) continue
        const count = Math.min(most - removed, unhealthy)
        const scaled = await scaleTo(set, replicasOf(set) - count)
        removed += count
        if (scaled === undefined) continue
        shrunk = true
        current = current.map((other) => (other === set ? scaled : other))
      }
      const spare = statusSum(everySet(newSet, current), 'availableReplicas') - minAvailable
      let given = 0
      for (const set of current.filter(isActiveSet)) {
        if (given >= spare) break
        const count = Math.min(replicasOf(set), spare - given)
        const scaled = await scaleTo(set, replicasOf(set) - count)
        given += count
        if (scaled === undefined) continue
        shrunk = true
        current = current.map((other) => (other === set ? scaled : other))
      }
      return shrunk ? current : undefined
    }

    /** Deletes the oldest revisions beyond revisionHistoryLimit; never one that still has or may still have pods. */
    async function cleanUp(old: readonly KubeObject[]): Promise<void> {
      const limit: number | undefined = deployment['spec'].revisionHistoryLimit
      if (limit === undefined || limit === unlimitedHistory) return
      const cleanable = old.filter((set) => set.metadata.deletionTimestamp === undefined)
      const surplus = cleanable.length - limit
      if (surplus <= 0) return
      cleanable.sort((a, b) => revisionOf(a) - revisionOf(b) || compareCreation(a, b))
      for (const set of cleanable.slice(0, surplus)) {
        const status: Fields = set['status'] ?? {}
        const settled = (set.metadata.generation ?? 0) <= (status['observedGeneration'] ?? 0)
        if ((status['replicas'] ?? 0) !== 0 || replicasOf(set) !== 0 || !settled) continue
        await setClient.delete(set.metadata.name ?? '').catch((error) => {
          if (!isNotFound(error)) throw error
        })
      }
    }

    async function syncStatus(all: readonly KubeObject[], newSet: KubeObject | undefined): Promise<void> {
      const status = calculateStatus(deployment, all, newSet, now())
      if (sameJson(status, deployment['status'])) return
      await writeStatus(deployment, status)
    }

    async function syncRollout(all: readonly KubeObject[], newSet: KubeObject | undefined): Promise<void> {
      const status = rolloutStatus(deployment, all, newSet, now())
      if (!sameJson(status, deployment['status'])) {
        await writeStatus(deployment, status)
        return
      }
      const left = untilDeadline(deployment, status, now())
      // A second more, since times have only seconds.
      if (left !== undefined) parts.requeue(deployment, left < 1000 ? undefined : left + 1000)
    }
  }
}

const everySet = (newSet: KubeObject | undefined, old: readonly KubeObject[]): readonly KubeObject[] =>
  newSet === undefined ? old : [...old, newSet]

function replaced(set: KubeObject | undefined, by: readonly KubeObject[]): KubeObject | undefined {
  return by.find((other) => other.metadata.uid === set?.metadata.uid) ?? set
}

/** The one set to scale when there is no rollout under way: the only active one, or the newest when none is. */
function activeOrLatest(newSet: KubeObject | undefined, old: readonly KubeObject[]): KubeObject | undefined {
  const newestFirst = [...old].sort((a, b) => compareCreation(b, a))
  const active = everySet(newSet, newestFirst).filter(isActiveSet)
  if (active.length === 0) return newSet ?? newestFirst[0]
  return active.length === 1 ? active[0] : undefined
}

function oldPodsRunning(
  newSet: KubeObject | undefined,
  old: readonly KubeObject[],
  podsBySet: ReadonlyMap<string, readonly KubeObject[]>,
): boolean {
  if (statusSum(old, 'replicas') > 0) return true
  for (const [uid, pods] of podsBySet) {
    if (uid === newSet?.metadata.uid) continue
    if (pods.some((pod) => pod['status']?.phase !== 'Failed' && pod['status']?.phase !== 'Succeeded')) return true
  }
  return false
}
