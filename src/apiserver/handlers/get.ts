/** GET of one object (or of its status, which is the same object). */
import type { ApiResponse } from '../../api/request.ts'
import { notFound, StatusError } from '../../api/status.ts'
import { groupResource, storageKey } from '../registry/registry.ts'
import type { ResourceRequest } from './context.ts'
import { negotiate } from './negotiate.ts'
import { respondStored } from './respond.ts'

export function handleGet(resource: ResourceRequest): ApiResponse | Promise<ApiResponse> {
  const { context, request, row, info, warnings } = resource
  const representation = negotiate(request, { list: false, protobuf: true, row })
  const version = request.query.size > 0 ? request.query.get('resourceVersion') : null
  if (version !== null) checkResourceVersion(version)
  const stored = context.registry.current(row, storageKey(row, info.namespace, info.name))
  if (stored === undefined) throw notFound(groupResource(row), info.name)
  return respondStored(context, request, row, stored, representation, warnings)
}

/** @throws StatusError 500 in Go's words, as Kubernetes answers a GET and a watch */
export function checkResourceVersion(text: string): number {
  if (text === '') return 0
  const problem = versionProblem(text)
  if (problem !== undefined) throw new StatusError(500, '', problem)
  return Number(text)
}

const LARGEST = 2n ** 64n - 1n

/** What is wrong with a resource version, or undefined: it is a number of 64 bits without a sign. */
export function versionProblem(text: string): string | undefined {
  const digits = /^\d+$/.test(text)
  if (digits && (text.length < 20 || BigInt(text) <= LARGEST)) return undefined
  const quoted = JSON.stringify(text)
  const why = digits ? 'value out of range' : 'invalid syntax'
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`
}
