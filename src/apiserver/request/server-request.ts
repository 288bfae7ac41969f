/** A request on its way through the API server, and the filters that it passes. */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Served } from './served.ts'

/** Transports and clients know nothing of what it has beside: the fields are the API server's own. */
export interface ServerRequest extends ApiRequest {
  /** Names it in the audit log: as the answer's Audit-ID header does, where it came over a wire. */
  readonly auditId?: string
  /** Set by request info, the same object until the request is answered. */
  readonly served?: Served
}

/** Gives at once what is there at once (api's EagerHandler). */
export type ServerHandler = (request: ServerRequest) => ApiResponse | Promise<ApiResponse>
export type Filter = (next: ServerHandler) => ServerHandler

/** What `done` or `failed` makes of the answer to `request`: now if it is there now, else when it comes. */
export function whenAnswered<T>(
  next: ServerHandler,
  request: ServerRequest,
  done: (response: ApiResponse) => T | Promise<T>,
  failed: (error: unknown) => T | Promise<T>,
): T | Promise<T> {
  let response: ApiResponse | Promise<ApiResponse>
  try {
    response = next(request)
  } catch (error) {
    return failed(error)
  }
  return response instanceof Promise ? response.then(done, failed) : done(response)
}
