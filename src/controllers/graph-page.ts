/** The garbage collector's graph as DOT, for the controller manager's own port. */
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import type { GarbageCollector } from './garbage-collector/garbage-collector.ts'

export const GRAPH_PATH = '/debug/controllers/garbagecollector/graph'

/** Answers no other path, and none while no garbage collector runs. */
export function graphPage(
  garbageCollector: () => Pick<GarbageCollector, 'dot'> | undefined,
): (request: ApiRequest) => ApiResponse | undefined {
  return ({ method, path, query }) => {
    const running = path === GRAPH_PATH ? garbageCollector() : undefined
    if (running === undefined) return undefined
    if (method !== 'GET') throw new StatusError(405, 'MethodNotAllowed', 'only GET is answered here')
    const uids = query.getAll('uid')
    const dot = running.dot(uids.length > 0 ? uids : undefined)
    return { kind: 'bytes', status: 200, contentType: 'text/vnd.graphviz', bytes: [new TextEncoder().encode(dot)] }
  }
}
