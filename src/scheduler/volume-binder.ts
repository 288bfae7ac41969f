/**
 * Gives pods their volumes: remembers which volume was promised to which claim, and before a pod is bound writes it down and waits until the
 * volume controller (or a provisioner outside) has done its part.
 */
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../api/generated/types.ts'
import { selectedNode, withClaim, withSelectedNode } from '../api/objects/volume-binding.ts'
import { sleep } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { InformerFactory } from '../client/informer.ts'
import { objectKey } from '../client/store.ts'
import { type ClusterEvent, tellOf } from './cluster-events.ts'
import { createStorageCapacity } from './storage-capacity.ts'
import { isFullyBound, type VolumePlan, type VolumeView } from './volume-binding-and-first-consumer.ts'

const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes' }
const CLASSES = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' }
const LOOK_MS = 1000

export interface VolumeBinder {
  readonly view: VolumeView
  /** From now on no other pod is offered what the plan takes. */
  reserve(plan: VolumePlan, node: string): void
  /** Ends the reservation: what was bound is in the API by now, and what was not is offered to other pods again. */
  release(plan: VolumePlan): void
  /**
   * Resolves when all claims of the plan are bound: looked at each second, as Kubernetes does, and first a second after what it takes is
   * written. @throws what a user can be told, after `longestMs`, and when the scheduler ends
   */
  bind(plan: VolumePlan, node: string, isWanted: () => boolean, longestMs: number): Promise<void>
  whenSynced(signal: AbortSignal): Promise<void>
}

/** `happened` is told of each change of a claim, a volume or a class; with `signal` nothing is waited for any more. */
export function createVolumeBinder(
  runtime: Runtime,
  client: Client,
  informers: InformerFactory,
  happened: (event: ClusterEvent) => void,
  signal: AbortSignal,
): VolumeBinder {
  const claims = informers.informer<PersistentVolumeClaim>(CLAIMS)
  const volumes = informers.informer<PersistentVolume>(VOLUMES)
  const classes = informers.informer<StorageClass>(CLASSES)
  const promisedVolumes = new Map<string, PersistentVolume>()
  const promisedClaims = new Map<string, PersistentVolumeClaim>()
  const kinds = [
    [claims, 'PersistentVolumeClaim'],
    [volumes, 'PersistentVolume'],
  ] as const
  for (const [informer, kind] of kinds) informer.addHandlers(tellOf(kind, happened))
  const capacity = createStorageCapacity(informers, happened)
  classes.addHandlers(tellOf('storage.k8s.io/StorageClass', happened))

  const claimOf = (claim: PersistentVolumeClaim) => claims.store.get(objectKey(claim))

  async function write(plan: VolumePlan, node: string): Promise<void> {
    for (const { volume, claim } of plan.bindings) {
      const bound = withClaim(volume, claim)
      if (bound !== volume) await client.resource(VOLUMES).update(bound)
    }
    for (const claim of plan.provisions) {
      if (claim.metadata.annotations?.[selectedNode] === node) continue
      const chosen = withSelectedNode(claim, node)
      await client
        .resource(CLAIMS)
        .namespace(claim.metadata.namespace ?? '')
        .update(chosen)
    }
  }

  /** Whether it has come about; throws when it will not any more. `seen`: provisions whose annotation has come back. */
  function isDone(plan: VolumePlan, node: string, seen: Set<string>): boolean {
    let done = true
    for (const { claim } of plan.bindings) {
      const now = claimOf(claim)
      if (now === undefined) throw new Error(`PVC ${JSON.stringify(claim.metadata.name)} not found`)
      if (!isFullyBound(now)) done = false
    }
    for (const claim of plan.provisions) {
      const now = claimOf(claim)
      const name = claim.metadata.name ?? ''
      if (now === undefined) throw new Error(`PVC ${JSON.stringify(name)} not found`)
      if (isFullyBound(now)) continue
      done = false
      const chosen: string | undefined = now.metadata.annotations?.[selectedNode]
      // The informer may still show the claim as it was before it was written.
      if (chosen === node) seen.add(name)
      else if (seen.has(name)) throw new Error(`provisioning failed for PVC ${JSON.stringify(name)}`)
    }
    return done
  }

  return {
    view: {
      claim: (key) => promisedClaims.get(key) ?? claims.store.get(key),
      volume: (name) => promisedVolumes.get(name) ?? volumes.store.get(name),
      volumes: () =>
        promisedVolumes.size === 0
          ? volumes.store.list()
          : volumes.store.list().map((volume) => promisedVolumes.get(volume.metadata.name ?? '') ?? volume),
      storageClass: (name) => classes.store.get(name),
      roomFor: capacity.roomFor,
    },
    reserve({ bindings, provisions }, node) {
      for (const { volume, claim } of bindings)
        promisedVolumes.set(volume.metadata.name ?? '', withClaim(volume, claim))
      for (const claim of provisions) promisedClaims.set(objectKey(claim), withSelectedNode(claim, node))
    },
    release({ bindings, provisions }) {
      for (const { volume } of bindings) promisedVolumes.delete(volume.metadata.name ?? '')
      for (const claim of provisions) promisedClaims.delete(objectKey(claim))
    },
    async bind(plan, node, isWanted, longestMs) {
      await write(plan, node)
      const seen = new Set<string>()
      const end = runtime.clock.monotonic() + longestMs
      for (let left = longestMs; left > 0; left = end - runtime.clock.monotonic()) {
        await sleep(runtime.clock, Math.min(LOOK_MS, left), signal)
        if (!isWanted()) throw new Error('pod does not exist any more')
        if (isDone(plan, node, seen)) return
      }
      throw new Error('context deadline exceeded')
    },
    async whenSynced(signal) {
      await Promise.all([claims, volumes, classes, capacity].map((informer) => informer.whenSynced(signal)))
    },
  }
}
