/** One write against the quotas of its namespace: what they would hold after it, or why it may not be. Pure. */
import type { ResourceQuota } from '../../../../api/generated/types.ts'
import type { KubeObject } from '../../../../api/object.ts'
import { inScope } from '../../../../api/objects/quota-scopes.ts'
import { type Evaluator, evaluatorOf, type QuotaUsage } from '../../../../api/objects/quota-usage.ts'
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../../../api/values/quantity.ts'
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
  return less(now, before)
}

/** Whether the plugin has anything to say about the write. */
export const isQuotaCounted = (attributes: AdmissionAttributes): boolean => {
  const { endpoint, operation, subresource } = attributes
  const { row } = endpoint
  return evaluatorOf(row).handles(operation, subresource) || changesScope(attributes)
}

const changesScope = ({ endpoint: { row }, operation, subresource, object, oldObject }: AdmissionAttributes): boolean =>
  operation === 'UPDATE' &&
  subresource === '' &&
  object !== undefined &&
  oldObject !== undefined &&
  evaluatorOf(row).changesScope?.(object, oldObject) === true

export interface Charged {
  readonly before: ResourceQuota
  readonly quota: ResourceQuota
  /** What the write uses of it. */
  readonly usage: QuotaUsage
}

/**
 * The quotas that the write uses something of, beside what it was charged already.
 *
 * @throws StatusError 403 in Kubernetes' words
 */
export function charge(quotas: readonly ResourceQuota[], attributes: AdmissionAttributes): readonly Charged[] {
  const evaluator = evaluatorOf(attributes.endpoint.row)
  const object = attributes.object as KubeObject
  const interesting: { readonly quota: ResourceQuota; readonly resources: readonly string[] }[] = []
  const moved = changesScope(attributes)
  for (const quota of quotas) {
    // What it counted before it counts still.
    if (moved && inScope(quota, attributes.oldObject as KubeObject, attributes.endpoint.row.resource)) continue
    const hard: QuotaUsage = quota.status?.hard ?? {}
    const resources = Object.keys(hard).filter((name) => evaluator.isAbout(name))
    if (resources.length === 0 || !inScope(quota, object, attributes.endpoint.row.resource)) continue
    const missing = evaluator.missing?.(resources, object)
    if (missing !== undefined) throw refused(attributes, `failed quota: ${quota.metadata.name}: ${missing}`)
    if (resources.some((name) => !Object.hasOwn(quota.status?.used ?? {}, name)))
      throw refused(
        attributes,
        `status unknown for quota: ${quota.metadata.name}, resources: ${resources.sort().join(',')}`,
      )
    interesting.push({ quota, resources })
  }
  if (interesting.length === 0) return []
  const delta = moved ? evaluator.usage(object) : deltaOf(evaluator, attributes)
  return interesting.flatMap(({ quota }) => {
    const usage = less(delta, attributes.charges?.get(quota.metadata.uid) ?? {})
    return chargeOne(quota, usage, attributes) ?? []
  })
}

/** What is left of it, where anything is. */
function less(usage: QuotaUsage, charged: QuotaUsage): QuotaUsage {
  const left = Object.entries(usage).map(([name, amount]) => [name, subtract(amount, charged[name] ?? '0')] as const)
  return Object.fromEntries(left.filter(([, amount]) => parseQuantity(amount).nanos > 0n))
}

function chargeOne(quota: ResourceQuota, delta: QuotaUsage, attributes: AdmissionAttributes): Charged | undefined {
  const hard: QuotaUsage = quota.status?.hard ?? {}
  const used: QuotaUsage = quota.status?.used ?? {}
  const requested = Object.fromEntries(Object.entries(delta).filter(([name]) => Object.hasOwn(hard, name)))
  const names = Object.keys(requested)
  if (names.length === 0) return undefined
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
  return { before: quota, quota: { ...quota, status: { ...quota.status, used: next } }, usage: requested }
}
