/**
 * The persistent volume binder: gives claims their volumes, notices when either has gone, and lets go of volumes whose policy
 * says so. The controller manager starts it. It makes no volumes: that is for provisioners outside.
 */
import type {
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  Pod,
  StorageClass,
} from '../../api/generated/types.ts'
import { bestMatch, claimRefOf, classOf, isFor, mismatch } from '../../api/objects/best-volume-for-claim.ts'
import { defaultStorageClassOf, namesClass, withClass } from '../../api/objects/default-class.ts'
import {
  claimWithDriver,
  isInTree,
  migratedTo,
  volumeWithDriver,
  withDeletionProtection,
  withoutDeletionProtection,
} from '../../api/objects/in-tree-volumes.ts'
import { claimIndex, claimsOf } from '../../api/objects/pod-claims.ts'
import {
  claimStatus,
  isBindCompleted,
  selectedNode,
  withClaim,
  withoutClaim,
  withProvisioner,
  withVolume,
} from '../../api/objects/volume-binding.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isTerminated, podsResource } from '../pods/pod.ts'
import { reclaimOf } from './reclaim-policy.ts'
import { boundVolumeMetrics } from './volume-metrics.ts'

const claimsResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const volumesResource = { group: '', version: 'v1', resource: 'persistentvolumes' }
const classesResource = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' }
/** As often everything is looked at again. */
const resyncMs = 15_000
const lostVolume = 'Bound claim has lost its PersistentVolume. Data on the volume is lost!'
const lostReference = 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!'
const misbound = 'Two claims are bound to the same volume, this one is bound incorrectly'
const nothingThere = 'no persistent volumes available for this claim and no storage class is set'

const unprovisionable = (provisioner: string): string =>
  provisioner === 'kubernetes.io/nfs'
    ? 'no provisionable volume plugin matched'
    : `no volume plugin matched name: ${provisioner}`

export function createPvBinderController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const claims = informers.informer<PersistentVolumeClaim>(claimsResource)
  const volumes = informers.informer<PersistentVolume>(volumesResource)
  const classes = informers.informer<StorageClass>(classesResource)
  const pods = informers.informer<Pod>(podsResource)
  const claimQueue = createWorkQueue<string>(runtime, 'claims')
  const volumeQueue = createWorkQueue<string>(runtime, 'volumes')
  const ownWrites = createOwnWrites()
  const recorder = createEventRecorder(runtime, client, { component: 'persistentvolume-controller' })
  const volumeClient = client.resource<PersistentVolume>(volumesResource)
  const claimClient = ({ metadata }: PersistentVolumeClaim) =>
    client.resource<PersistentVolumeClaim>(claimsResource).namespace(metadata.namespace ?? '')
  const volumeKey = (name: string) => `volume ${name}`
  const claimKey = (claim: PersistentVolumeClaim) => `claim ${objectKey(claim)}`

  const retroactive = (name: string, help: string) =>
    runtime.metrics?.counter(`retroactive_storageclass_${name}`, help).child()
  const givenClasses = retroactive('total', 'Claims that were given the class which became the default after them.')
  const classFailures = retroactive('errors_total', 'Claims that could not be given such a class.')

  /** Claims whose provisioner has just been asked, with their version since then. */
  const asking = new Map<string, string | undefined>()

  async function writeVolume(
    volume: PersistentVolume,
    next: PersistentVolume,
    subresource?: 'status',
  ): Promise<PersistentVolume> {
    if (next === volume) return volume
    const written = await volumeClient.update(next, subresource === undefined ? {} : { subresource })
    ownWrites.wrote(volumeKey(written.metadata.name ?? ''), written)
    return written
  }
  async function writeClaim(
    claim: PersistentVolumeClaim,
    next: PersistentVolumeClaim,
    subresource?: 'status',
  ): Promise<PersistentVolumeClaim> {
    if (next === claim) return claim
    const written = await claimClient(claim).update(next, subresource === undefined ? {} : { subresource })
    ownWrites.wrote(claimKey(written), written)
    return written
  }
  async function setPhase(volume: PersistentVolume, phase: string): Promise<PersistentVolume> {
    if (volume.status?.phase === phase) return volume
    return writeVolume(volume, { ...volume, status: { ...volume.status, phase } }, 'status')
  }
  async function fail(volume: PersistentVolume, reason: string, message: string): Promise<void> {
    if (volume.status?.phase === 'Failed') return
    await writeVolume(volume, { ...volume, status: { ...volume.status, phase: 'Failed', message } }, 'status')
    recorder.event(volume, 'Warning', reason, message)
  }
  async function setClaimStatus(claim: PersistentVolumeClaim, status: PersistentVolumeClaimStatus): Promise<boolean> {
    if (sameJson(status, claim.status)) return false
    await writeClaim(claim, { ...claim, status }, 'status')
    return true
  }

  async function bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const bound = await setPhase(await writeVolume(volume, withClaim(volume, claim)), 'Bound')
    const named = await writeClaim(claim, withVolume(claim, bound))
    await setClaimStatus(named, claimStatus(named, 'Bound', bound))
  }

  async function syncClaim(key: string): Promise<void> {
    const known = claims.store.get(key)
    if (known === undefined) {
      asking.delete(key)
      return ownWrites.forget(`claim ${key}`)
    }
    if (ownWrites.isBehind(claimKey(known), known)) return
    const claim = await writeClaim(known, claimWithDriver(known))
    if (isBindCompleted(claim)) return syncBound(claim)
    return claim.spec?.volumeName ? syncNamed(claim) : syncUnbound(claim)
  }

  function volumeOf(name: string): PersistentVolume | undefined {
    return volumes.store.get(name)
  }

  async function syncUnbound(unbound: PersistentVolumeClaim): Promise<void> {
    let claim = unbound
    const known = volumes.store.list().filter((volume) => {
      return !ownWrites.isBehind(volumeKey(volume.metadata.name ?? ''), volume)
    })
    let className = classOf(claim)
    const waits = classes.store.get(className)?.volumeBindingMode === 'WaitForFirstConsumer'
    // The scheduler has chosen: from here on it is like any other claim.
    const delayed = waits && claim.metadata.annotations?.[selectedNode] === undefined
    const reserved = known.filter((volume) => claimRefOf(volume) !== undefined)
    const volume = bestMatch(delayed ? reserved : known, claim)
    if (volume !== undefined) return bind(volume, claim)
    // One became the default after the claim was made.
    const byDefault = namesClass(claim) ? undefined : defaultStorageClassOf(classes.store.list())
    if (byDefault !== undefined) {
      givenClasses?.add()
      claim = await writeClaim(claim, withClass(claim, byDefault)).catch((error) => {
        classFailures?.add()
        throw error
      })
      className = classOf(claim)
      if (byDefault.volumeBindingMode === 'WaitForFirstConsumer') return
    }
    if (delayed) tellWaiting(claim)
    else if (className === '') recorder.event(claim, 'Normal', 'FailedBinding', nothingThere)
    // Its status is the provisioner's matter then.
    else return askProvisioner(claim, className)
    await setClaimStatus(claim, claimStatus(claim, 'Pending'))
  }

  function tellWaiting(claim: PersistentVolumeClaim): void {
    const waiting = pods.store
      .byIndex(claimIndex, objectKey(claim))
      .filter((pod) => !pod.spec?.nodeName && !isTerminated(pod))
    const names = waiting.map(({ metadata }) => metadata.name)
    if (names.length === 0)
      recorder.event(claim, 'Normal', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding')
    else
      recorder.event(
        claim,
        'Normal',
        'WaitForPodScheduled',
        `waiting for pod${names.length > 1 ? 's' : ''} ${names.join(',')} to be scheduled`,
      )
  }

  /** Sets the annotations by which an external provisioner knows that it is to make a volume for the claim. */
  async function askProvisioner(claim: PersistentVolumeClaim, className: string): Promise<void> {
    const named: string | undefined = classes.store.get(className)?.provisioner
    if (named === undefined) {
      const message = `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`
      recorder.event(claim, 'Warning', 'ProvisioningFailed', message)
      return
    }
    const provisioner = migratedTo(named) ?? named
    if (isInTree(provisioner)) {
      recorder.event(claim, 'Warning', 'ProvisioningFailed', unprovisionable(provisioner))
      return
    }
    const key = objectKey(claim)
    // That the provisioner is named on it is no reason to ask once more.
    if (asking.get(key) === claim.metadata.resourceVersion) {
      asking.delete(key)
      return
    }
    const asked = await writeClaim(claim, withProvisioner(claim, provisioner))
    if (asked !== claim) asking.set(key, asked.metadata.resourceVersion)
    const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`
    recorder.event(claim, 'Normal', 'ExternalProvisioning', message)
  }

  /** A claim whose spec.volumeName its user has set. */
  async function syncNamed(claim: PersistentVolumeClaim): Promise<void> {
    const name = claim.spec?.volumeName ?? ''
    const volume = volumeOf(name)
    const quoted = JSON.stringify(name)
    if (volume !== undefined && ownWrites.isBehind(volumeKey(name), volume)) return
    if (volume !== undefined && claimRefOf(volume) === undefined) {
      const why = mismatch(volume, claim)
      if (why === undefined) return bind(volume, claim)
      recorder.event(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume ${quoted}: ${why}`)
    } else if (volume !== undefined && isFor(volume, claim)) return bind(volume, claim)
    else if (volume !== undefined)
      recorder.event(claim, 'Warning', 'FailedBinding', `volume ${quoted} already bound to a different claim.`)
    await setClaimStatus(claim, claimStatus(claim, 'Pending'))
  }

  async function syncBound(claim: PersistentVolumeClaim): Promise<void> {
    const name: string | undefined = claim.spec?.volumeName
    if (!name) return lose(claim, 'ClaimLost', lostReference)
    const volume = volumeOf(name)
    if (volume === undefined) return lose(claim, 'ClaimLost', lostVolume)
    if (ownWrites.isBehind(volumeKey(name), volume)) return
    if (claimRefOf(volume) === undefined || isFor(volume, claim)) return bind(volume, claim)
    return lose(claim, 'ClaimMisbound', misbound)
  }

  async function lose(claim: PersistentVolumeClaim, reason: string, message: string): Promise<void> {
    const told = await setClaimStatus(claim, claimStatus(claim, 'Lost'))
    if (told) recorder.event(claim, 'Warning', reason, message)
  }

  async function syncVolume(name: string): Promise<void> {
    const known = volumeOf(name)
    if (known === undefined) return ownWrites.forget(volumeKey(name))
    if (ownWrites.isBehind(volumeKey(name), known)) return
    const ended = ['Released', 'Failed'].includes(known.status?.phase ?? '')
    const driven = volumeWithDriver(known)
    // What is being deleted by another turn is held no more.
    const isGoing = ended && reclaimOf(driven).action === 'delete'
    const volume = await writeVolume(known, isGoing ? driven : withDeletionProtection(driven))
    const reference = claimRefOf(volume)
    if (reference === undefined || !reference.uid) {
      await setPhase(volume, 'Available')
      return
    }
    const claim = await claimOf(reference, ended)
    if (claim === undefined) {
      await reclaim(ended ? volume : await setPhase(volume, 'Released'))
    } else if (!claim.spec?.volumeName) claimQueue.add(objectKey(claim))
    else if (claim.spec?.volumeName === name) await setPhase(volume, 'Bound')
    else if (!ended) await setPhase(await writeVolume(volume, withoutClaim(volume)), 'Available')
  }

  /** The claim referred to, as long as it is the same object; `isGone`: it was found gone before. */
  async function claimOf(
    { namespace = '', name = '', uid }: ObjectReference,
    isGone: boolean,
  ): Promise<PersistentVolumeClaim | undefined> {
    const known = claims.store.get(`${namespace}/${name}`)
    if (known?.metadata.uid === uid) return known
    if (isGone) return undefined
    // The informer may not have heard of it yet.
    const live = await client
      .resource<PersistentVolumeClaim>(claimsResource)
      .namespace(namespace)
      .get(name)
      .catch((error) => {
        if (isNotFound(error)) return undefined
        throw error
      })
    return live?.metadata.uid === uid ? live : undefined
  }

  /** Only directories can be deleted without a driver, and only temporary ones. */
  async function reclaim(volume: PersistentVolume): Promise<void> {
    const reclaim = reclaimOf(volume)
    if (reclaim.action === 'fail') return fail(volume, reclaim.reason, reclaim.message)
    if (reclaim.action === 'none') return
    try {
      const { name = '', uid } = volume.metadata
      // Another turn may have deleted it, which the informer has not heard of yet.
      const live = await volumeClient.get(name)
      if (live.metadata.deletionTimestamp !== undefined || live.metadata.uid !== uid) return
      await writeVolume(live, withoutDeletionProtection(live))
      await volumeClient.delete(name)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  return {
    name: 'persistent-volume-binder',
    async start() {
      pods.addIndex(claimIndex, claimsOf)
      const enqueueClaim = (claim: PersistentVolumeClaim) => claimQueue.add(objectKey(claim))
      const enqueueVolume = (volume: PersistentVolume) => volumeQueue.add(objectKey(volume))
      const claimGone = (claim: PersistentVolumeClaim) => {
        enqueueClaim(claim)
        if (claim.spec?.volumeName) volumeQueue.add(claim.spec?.volumeName)
      }
      const volumeGone = (volume: PersistentVolume) => {
        enqueueVolume(volume)
        const { namespace, name } = claimRefOf(volume) ?? {}
        if (name !== undefined) claimQueue.add(`${namespace}/${name}`)
      }
      claims.addHandlers(
        { added: enqueueClaim, updated: (_, claim) => enqueueClaim(claim), deleted: claimGone },
        { resyncMs },
      )
      volumes.addHandlers(
        { added: enqueueVolume, updated: (_, volume) => enqueueVolume(volume), deleted: volumeGone },
        { resyncMs },
      )
      await Promise.all([claims, volumes, classes, pods].map((informer) => informer.whenSynced(signal)))
      boundVolumeMetrics(runtime, { volumes: volumes.store, claims: claims.store }, signal)
      runWorkers(runtime, claimQueue, 1, syncClaim, signal)
      runWorkers(runtime, volumeQueue, 1, syncVolume, signal)
    },
  }
}
