/** A delete's preconditions (API concept: DeleteOptions): the uid and the resourceVersion that the object must still have. */
import type { KubeObject } from '../../api/object.ts'
import { conflict } from '../../api/status.ts'
import type { DeleteOptions } from './strategy.ts'

/** @throws StatusError 409 naming both values; the kind stands where the resource stands elsewhere, as in Kubernetes */
export function checkPreconditions(
  kind: { readonly group: string; readonly kind: string },
  object: KubeObject,
  preconditions: DeleteOptions['preconditions'],
): void {
  if (preconditions === undefined) return
  const { uid, resourceVersion } = preconditions
  const at = { group: kind.group, resource: kind.kind }
  const name = object.metadata.name ?? ''
  if (uid !== undefined && uid !== object.metadata.uid)
    throw conflict(
      at,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    )
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
    throw conflict(
      at,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion ?? ''}). The object might have been modified`,
    )
}

/** The same of a kind whose deletion begins with a step of its own. @throws StatusError 409 */
export function checkOwnPreconditions(
  resource: { readonly group: string; readonly resource: string },
  object: KubeObject,
  preconditions: DeleteOptions['preconditions'],
  words: string,
): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const { name = '', uid: has = '', resourceVersion: at = '' } = object.metadata
  if (uid !== undefined && uid !== has)
    throw conflict(resource, name, `${words}: UID in precondition: ${uid}, UID in object meta: ${has}`)
  if (resourceVersion !== undefined && resourceVersion !== at)
    throw conflict(
      resource,
      name,
      `${words}: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${at}`,
    )
}
