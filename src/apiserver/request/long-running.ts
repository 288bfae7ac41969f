/** Requests that Kubernetes calls long-running: no time limit, and no seat among requests in flight. */
import type { RequestInfo } from '../../api/request.ts'

/** Verbs and subresources that live as long as their client wants. */
const LONG_VERBS = new Set(['watch', 'proxy'])
const LONG_SUBRESOURCES = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

/** The paths of skiff's own controls (clock, snapshots, forks), whose requests have no time limit. */
export const isControl = (path: string): boolean => path.startsWith('/skiff.dev/')

export function isLongRunning(info: RequestInfo | undefined): boolean {
  if (info === undefined) return false
  return LONG_VERBS.has(info.verb) || LONG_SUBRESOURCES.has(info.subresource) || isControl(info.path)
}
