/** One write against the quotas of its namespace: what they would hold after it, or why it may not be. Pure. */
import type { ResourceQuota } from '../../../../api/generated/types.ts'
import type { KubeObject } from '../../../../api/object.ts'
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../../../api/objects/quantity.ts'
import { inScope } from '../../../../api/objects/quota-scopes.ts'
import { type Evaluator, evaluatorOf, type QuotaUsage } from '../../../../api/objects/quota-usage.ts'
import type { AdmissionAttributes } from '../../plugin.ts'
import { refused } from '../pods.ts'

/** `a=1,b=2`, sorted. */
const print = (usage: QuotaUsage): string =>
  Object.keys(usage)
    .sort()
    .map((name) => `${name}=${formatQuantity(parseQuantity(usage[name] as string))}`)
    .join(',')

function subtract(a: string, b: string): string {
  const left = parseQuantity(a)
  return formatQuantity({ nanos: left.nanos - parseQuantity(b).nanos, format: left.format })
}

/** What the write adds to what is used. What it gives back is the quota controller's to see. */
function deltaOf(evaluator: Evaluator, { operation, object, oldObject }: AdmissionAttributes): QuotaUsage {
  const now = evaluator.usage(object as KubeObject)
  const before = operation === 'UPDATE' && oldObject !== undefined ? evaluator.usage(oldObject) : {}
  const delta: Record<string, string> = {}
  for (const name of new Set([...Object.keys(now), ...Object.keys(before)])) {
    const amount = subtract(now[name] ?? '0', before[name] ?? '0')
    if (parseQuantity(amount).nanos > 0n) delta[name] = amount
  }
  return delta
}

/** Whether the plugin has anything to say about the write. */
export const isQuotaCounted = ({ row, operation, subresource }: AdmissionAttributes): boolean =>
  evaluatorOf(row).handles(operation, subresource)

/**
 * The quotas with what the write uses of them; those it does not touch keep their identity.
 *
 * @throws StatusError 403 in Kubernetes' words
 */
export function charge(quotas: readonly ResourceQuota[], attributes: AdmissionAttributes): readonly ResourceQuota[] {
  const evaluator = evaluatorOf(attributes.row)
  const object = attributes.object as KubeObject
  const interesting: { readonly quota: ResourceQuota; readonly resources: readonly string[] }[] = []
  for (const quota of quotas) {
    const hard: QuotaUsage = quota.status?.hard ?? {}
    const resources = Object.keys(hard).filter((name) => evaluator.isAbout(name))
    if (resources.length === 0 || !inScope(quota, object, attributes.row.resource)) continue
    const unknown = resources.filter((name) => !Object.hasOwn(quota.status?.used ?? {}, name))
    if (unknown.length > 0)
      throw refused(
        attributes,
        `status unknown for quota: ${quota.metadata.name}, resources: ${unknown.sort().join(',')}`,
      )
    const missing = evaluator.missing?.(resources, object)
    if (missing !== undefined) throw refused(attributes, `failed quota: ${quota.metadata.name}: ${missing}`)
    interesting.push({ quota, resources })
  }
  if (interesting.length === 0) return quotas
  const delta = deltaOf(evaluator, attributes)
  if (Object.keys(delta).length === 0) return quotas
  const charged = new Map<ResourceQuota, ResourceQuota>()
  for (const { quota } of interesting) {
    const next = chargeOne(quota, delta, attributes)
    if (next !== quota) charged.set(quota, next)
  }
  return charged.size === 0 ? quotas : quotas.map((quota) => charged.get(quota) ?? quota)
}

function chargeOne(quota: ResourceQuota, delta: QuotaUsage, attributes: AdmissionAttributes): ResourceQuota {
  const hard: QuotaUsage = quota.status?.hard ?? {}
  const used: QuotaUsage = quota.status?.used ?? {}
  const requested = Object.fromEntries(Object.entries(delta).filter(([name]) => Object.hasOwn(hard, name)))
  const names = Object.keys(requested)
  if (names.length === 0) return quota
  const next: Record<string, string> = { ...used }
  for (const name of names) next[name] = addQuantities(used[name] ?? '0', requested[name] as string)
  const exceeded = names.filter((name) => compareQuantities(next[name] as string, hard[name] as string) > 0)
  if (exceeded.length > 0) {
    const only = (usage: QuotaUsage): QuotaUsage =>
      Object.fromEntries(exceeded.map((name) => [name, usage[name] ?? '0']))
    throw refused(
      attributes,
      `exceeded quota: ${quota.metadata.name}, requested: ${print(only(requested))}, used: ${print(only(used))}, limited: ${print(only(hard))}`,
    )
  }
  return { ...quota, status: { ...quota.status, used: next } }
}
