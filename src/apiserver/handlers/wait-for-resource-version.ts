/** The versions that reads ask for: which text is one, and what happens when it lies ahead of the cluster. */
import { StatusError } from '../../api/status.ts'
import type { ResourceCache } from '../cache/resource-cache.ts'
import type { ResourceRequest } from './context.ts'

/** How long a read waits for a version that has not come yet. */
const FUTURE_WAIT_MS = 3000

const LARGEST = 2n ** 64n - 1n

/** @throws StatusError 500 in Go's words, as Kubernetes answers a GET and a watch */
export function checkResourceVersion(text: string): number {
  if (text === '') return 0
  const problem = versionProblem(text)
  if (problem !== undefined) throw new StatusError(500, '', problem)
  return Number(text)
}

/** What is wrong with a resource version, or undefined: it is a number of 64 bits without a sign. */
export function versionProblem(text: string): string | undefined {
  const digits = /^\d+$/.test(text)
  if (digits && (text.length < 20 || BigInt(text) <= LARGEST)) return undefined
  const quoted = JSON.stringify(text)
  const why = digits ? 'value out of range' : 'invalid syntax'
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`
}

/**
 * Where a read that may show any version from `least` on is to show an older one (docs/faults.md): which. What the server has
 * compacted is not shown again.
 */
export function staleRevision(
  { context, request }: ResourceRequest,
  cache: ResourceCache,
  least: number,
): number | undefined {
  const writes = request.served?.staleBy ?? 0
  if (writes === 0) return undefined
  const revision = cache.revisionBefore(writes)
  return revision === undefined || revision < context.registry.storage.compactedRevision
    ? undefined
    : Math.max(revision, least)
}

/** @throws StatusError 504 when the version does not come */
export async function untilReached({ context, request }: ResourceRequest, revision: number): Promise<void> {
  const { caches } = context
  // Another server of the cluster may have given it.
  if (revision > caches.revision) await caches.fresh(request.signal)
  if (await caches.reached(revision, FUTURE_WAIT_MS, request.signal)) return
  throw tooLarge(revision, caches.revision)
}

export function tooLarge(revision: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${revision}, current: ${current}`
  return new StatusError(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}
