/**
 * What the API server asks of itself: through its own handler as `system:apiserver`, so that it is judged, audited and watched
 * as every client's.
 */
import type { KubeObject } from '../api/object.ts'
import type { Handler, UserInfo } from '../api/request.ts'

export const API_SERVER: UserInfo = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

const APPLY = { contentType: 'application/apply-patch+yaml' }
const MERGE = { contentType: 'application/merge-patch+json' }

/**
 * Sends a request with an object, or none, as its body; gives the object that is answered, if one is.
 *
 * @throws StatusError as the handler does
 */
export type Loopback = (
  method: string,
  path: string,
  object?: KubeObject,
  /** The manager of the fields, where it is not the server. A patch with one is an apply, and conflicts do not hinder it; one without is merged. */
  manager?: string,
) => Promise<KubeObject | undefined>

/** `signal` ends what is under way. */
export const loopbackOf =
  (handler: Handler, signal: AbortSignal = new AbortController().signal): Loopback =>
  async (method, path, object, manager) => {
    const applies = method === 'PATCH' && manager !== undefined
    const type = applies ? APPLY : method === 'PATCH' ? MERGE : {}
    const options = {
      ...(manager === undefined ? {} : { fieldManager: manager }),
      ...(applies ? { force: 'true' } : {}),
    }
    const response = await handler({
      method,
      path,
      query: new URLSearchParams(options),
      headers: { 'user-agent': 'kube-apiserver' },
      ...(object === undefined ? {} : { body: { kind: 'object', object, ...type } }),
      user: API_SERVER,
      signal,
    })
    return response.kind === 'object' ? response.object : undefined
  }
