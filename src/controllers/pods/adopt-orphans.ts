/** Which pods are a controller's own: it adopts orphans that its selector matches, and releases its own that it does not. */
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { ResourceClient } from '../../client/client.ts'
import { controllerOf, controllerReference } from './pod.ts'

export interface ClaimOptions {
  readonly controller: KubeObject
  /** The client for objects of this kind in the controller's namespace. */
  readonly objects: ResourceClient
  matches(object: KubeObject): boolean
  /** The controller as it is now, asked once and only before an adoption. */
  liveController(): Promise<KubeObject>
  /** What an adopted object gets besides, and one that is released gives up. */
  readonly finalizers?: readonly string[]
}

/**
 * Those of `candidates` that are the controller's after adopting and releasing.
 * @throws the first failure, after all candidates were tried
 */
export async function claim(candidates: readonly KubeObject[], options: ClaimOptions): Promise<KubeObject[]> {
  const { controller, objects } = options
  const uid = controller.metadata.uid ?? ''
  const claimed: KubeObject[] = []
  const failures: unknown[] = []
  let mayAdopt: Promise<void> | undefined
  for (const object of candidates) {
    const owner = controllerOf(object)
    if (owner !== undefined && owner.uid !== uid) continue
    const matches = options.matches(object)
    if (owner !== undefined && matches) {
      claimed.push(object)
      continue
    }
    if (controller.metadata.deletionTimestamp !== undefined) continue
    try {
      if (owner !== undefined) await release(object)
      else if (matches && object.metadata.deletionTimestamp === undefined) {
        mayAdopt ??= checkLive()
        await mayAdopt
        const adopted = await adopt(object)
        if (adopted !== undefined) claimed.push(adopted)
      }
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return claimed

  async function checkLive(): Promise<void> {
    const live = await options.liveController()
    const name = `${controller.metadata.namespace}/${controller.metadata.name}`
    if (live.metadata.uid !== uid)
      throw new Error(`original ${controller.kind} ${name} is gone: got uid ${live.metadata.uid}, wanted ${uid}`)
    if (live.metadata.deletionTimestamp !== undefined)
      throw new Error(`${name} has just been deleted at ${live.metadata.deletionTimestamp}`)
  }

  /** As it is afterwards, with its new owner and finalizers; undefined when it is gone. */
  async function adopt(object: KubeObject): Promise<KubeObject | undefined> {
    const finalizers = options.finalizers === undefined ? {} : { finalizers: options.finalizers }
    const ownerReferences = [{ ...controllerReference(controller) }]
    const body = { metadata: { ownerReferences, uid: object.metadata.uid, ...finalizers } }
    try {
      return await objects.patch(object.metadata.name ?? '', 'strategic', body)
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return undefined
      throw error
    }
  }

  async function release(object: KubeObject): Promise<void> {
    const finalizers =
      options.finalizers === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': options.finalizers }
    const body = {
      metadata: { uid: object.metadata.uid, ownerReferences: [{ $patch: 'delete', uid }], ...finalizers },
    }
    try {
      await objects.patch(object.metadata.name ?? '', 'strategic', body)
    } catch (error) {
      // Gone, or another object of its name, or without the reference: it is not ours in any case.
      if (error instanceof StatusError && (error.code === 404 || error.code === 422)) return
      throw error
    }
  }
}
