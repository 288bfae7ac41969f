/**
 * The VAC protection controller: a VolumeAttributesClass that is deleted stays while a claim or a volume has it, or is being given it
 * (KEP-3751). The controller manager starts it.
 */
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import { isNotFound } from '../../api/status.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { withFinalizer, withoutFinalizer } from './protection-finalizers.ts'

const classesResource = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattributesclasses' }
const claimsResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const volumesResource = { group: '', version: 'v1', resource: 'persistentvolumes' }
const finalizer = 'kubernetes.io/vac-protection'
const index = 'volumeAttributesClass'

const named = (...names: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(names.filter((name) => name !== undefined).filter((name) => name !== '')),
]

/** The classes that a claim wants, has, or is being given. */
export const classesOfClaim = ({ spec, status }: PersistentVolumeClaim): readonly string[] =>
  named(
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  )

export const classesOfVolume = ({ spec }: PersistentVolume): readonly string[] => named(spec?.volumeAttributesClassName)

export function createVacProtectionController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const classes = informers.informer<VolumeAttributesClass>(classesResource)
  const claims = informers.informer<PersistentVolumeClaim>(claimsResource)
  const volumes = informers.informer<PersistentVolume>(volumesResource)
  const queue = createWorkQueue<string>(runtime, 'vacprotection')
  const resource = client.resource<VolumeAttributesClass>(classesResource)

  async function sync(name: string): Promise<void> {
    const found = classes.store.get(name)
    if (found === undefined) return
    const held = hasFinalizer(found, finalizer)
    try {
      if (found.metadata.deletionTimestamp === undefined) {
        if (!held) await resource.update(withFinalizer(found, finalizer) as VolumeAttributesClass)
      } else if (held && !(await isUsed(name)))
        await resource.update(withoutFinalizer(found, finalizer) as VolumeAttributesClass)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** The informers may not have heard of a use yet: before a class goes, the API server is asked. */
  async function isUsed(name: string): Promise<boolean> {
    if (claims.store.byIndex(index, name).length > 0 || volumes.store.byIndex(index, name).length > 0) return true
    const [ofClaims, ofVolumes] = await Promise.all([
      client.resource<PersistentVolumeClaim>(claimsResource).list(),
      client.resource<PersistentVolume>(volumesResource).list(),
    ])
    return (
      ofClaims.items.some((claim) => classesOfClaim(claim).includes(name)) ||
      ofVolumes.items.some((volume) => classesOfVolume(volume).includes(name))
    )
  }

  /** What a claim or volume no longer names may go. */
  const lookAgain = (before: readonly string[], now: readonly string[]) => {
    for (const name of before) if (!now.includes(name)) queue.add(name)
  }

  return {
    name: 'volumeattributesclass-protection-controller',
    async start() {
      claims.addIndex(index, classesOfClaim)
      volumes.addIndex(index, classesOfVolume)
      const enqueue = ({ metadata }: VolumeAttributesClass) => queue.add(metadata.name ?? '')
      classes.addHandlers({ added: enqueue, updated: (_, one) => enqueue(one) })
      claims.addHandlers({
        updated: (old, claim) => lookAgain(classesOfClaim(old), classesOfClaim(claim)),
        deleted: (claim) => lookAgain(classesOfClaim(claim), []),
      })
      volumes.addHandlers({
        updated: (old, volume) => lookAgain(classesOfVolume(old), classesOfVolume(volume)),
        deleted: (volume) => lookAgain(classesOfVolume(volume), []),
      })
      await Promise.all([classes.whenSynced(signal), claims.whenSynced(signal), volumes.whenSynced(signal)])
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}
