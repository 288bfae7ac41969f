/**
 * How many pods a controller of any kind wants, by its scale subresource: of custom resources, and of whatever else the
 * disruption controller has no informer for.
 */
import type { Scale } from '../../api/generated/types.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import { findByKind } from '../../client/discovery.ts'
import { createKnownKinds, scalePath } from '../known-kinds.ts'

export interface OwnerScale {
  readonly uid: string | undefined
  readonly replicas: number
}

interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}

/** Of a Status, what matters here. */
interface Failure {
  readonly message?: string
  readonly details?: { readonly name?: string }
}

/** It is not known how many pods there should be. */
export class ScaleError extends Error {}

/**
 * Undefined: there is no such object (any more).
 * @throws ScaleError in Kubernetes' words: no resource has that kind, it has no scale, or its scale cannot be read
 */
export type ScaleOfOwner = (namespace: string, reference: OwnerReference) => Promise<OwnerScale | undefined>

export function createScaleOfOwner(
  runtime: Pick<Runtime, 'clock'>,
  client: Pick<Client, 'discover' | 'raw'>,
): ScaleOfOwner {
  const kinds = createKnownKinds(runtime, client)
  return async (namespace, { apiVersion, kind, name }) => {
    const resource = await kinds.find(({ everyVersion }) => findByKind(everyVersion, apiVersion, kind))
    if (resource === undefined)
      throw new ScaleError(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
    const { status, body } = await client.raw('GET', scalePath(resource, namespace, name))
    if (status === 404 && !namesAnObject(body)) {
      const named = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
      throw new ScaleError(`${named} does not implement the scale subresource`)
    }
    if (status === 404) return undefined
    if (status >= 400) throw new ScaleError((JSON.parse(body) as Failure).message ?? '')
    const scale: Scale = JSON.parse(body)
    return { uid: scale.metadata?.uid, replicas: scale.spec?.replicas ?? 0 }
  }
}

/** A missing object is told by its name; a path that is not served is not, and perhaps not even as a Status. */
function namesAnObject(body: string): boolean {
  try {
    const { details }: Failure = JSON.parse(body)
    return details?.name !== undefined
  } catch {
    return false
  }
}
