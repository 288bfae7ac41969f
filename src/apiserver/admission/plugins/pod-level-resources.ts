/** Requests of a pod as a whole, after its containers' have changed (KEP-2837). */
import { applyDefaults } from '../../../api/defaults/defaults.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { StructSchema } from '../../../api/schema/schema.ts'
import { withSpec } from './pods.ts'

const NAMES = ['cpu', 'memory']

function withoutRequests(pod: KubeObject, names: readonly string[]): KubeObject {
  const requests = Object.fromEntries(
    Object.entries(pod['spec']?.resources?.requests ?? {}).filter(([name]) => !names.includes(name)),
  )
  return withSpec(pod, { resources: { ...pod['spec']?.resources, requests } })
}

/**
 * What the pod's own requests got from its containers' is counted again. A request that is not what defaulting would have
 * made of `before` is its author's, and stays.
 */
export function withPodLevelRequests(pod: KubeObject, before: KubeObject, schema: StructSchema): KubeObject {
  const requests: Fields | undefined = before['spec']?.resources?.requests
  if (!requests) return pod
  const made: Fields = applyDefaults(withoutRequests(before, NAMES), schema)['spec']?.resources?.requests ?? {}
  const derived = NAMES.filter((name) => made[name] !== undefined && made[name] === requests[name])
  return derived.length === 0 ? pod : applyDefaults(withoutRequests(pod, derived), schema)
}
