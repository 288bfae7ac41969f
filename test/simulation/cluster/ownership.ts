import type { KubeObject } from '../../../src/api/object.ts'

/** The object's controller is this very one. */
export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  object.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === owner.metadata.uid) ??
  false
