/** What a quota's namespace uses of what the quota limits. Pure. */
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  Pod,
  PodSpec,
  ResourceQuota,
} from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { inScope } from '../../api/objects/quota-scopes.ts'
import { evaluatorOf, type QuotaUsage } from '../../api/objects/quota-usage.ts'
import { sameJson } from '../../api/same.ts'
import type { GroupResource } from '../../api/status.ts'
import { addQuantities, compareQuantities } from '../../api/values/quantity.ts'

export interface CountedObjects {
  readonly resource: GroupResource
  /** All of the quota's namespace. */
  readonly objects: readonly KubeObject[]
}

const hardOf = (quota: ResourceQuota): QuotaUsage => quota.spec?.hard ?? {}

/** Whether objects of this resource can use anything that the quota limits. */
export function limits(quota: ResourceQuota, resource: GroupResource): boolean {
  const evaluator = evaluatorOf(resource)
  return Object.keys(hardOf(quota)).some((name) => evaluator.isAbout(name))
}

/** What is used of each limited name that one of the resources is about; nothing is told of the others. */
export function usageOf(quota: ResourceQuota, counted: readonly CountedObjects[], nowMs: number): QuotaUsage {
  const hard = Object.keys(hardOf(quota))
  const total: Record<string, string> = {}
  for (const { resource, objects } of counted) {
    const evaluator = evaluatorOf(resource)
    const names = hard.filter((name) => evaluator.isAbout(name))
    if (names.length === 0) continue
    for (const name of names) total[name] ??= '0'
    for (const object of objects) {
      if (!inScope(quota, object, resource.resource)) continue
      const usage = evaluator.usage(object, nowMs)
      for (const name of names) {
        const amount = Object.hasOwn(usage, name) ? usage[name] : undefined
        if (amount !== undefined) total[name] = addQuantities(total[name] as string, amount)
      }
    }
  }
  return total
}

/** The status with this usage; undefined when it says so already. What could not be counted stays as it was. */
export function quotaStatus(
  quota: ResourceQuota,
  usage: QuotaUsage,
): { hard: QuotaUsage; used: QuotaUsage } | undefined {
  const hard = hardOf(quota)
  const { hard: oldHard, used: oldUsed } = quota.status ?? {}
  const known: QuotaUsage = { ...oldUsed, ...usage }
  const used = Object.fromEntries(Object.entries(known).filter(([name]) => Object.hasOwn(hard, name)))
  return sameJson(hard, oldHard) && sameJson(used, oldUsed) ? undefined : { hard, used }
}

export function isLower(used: QuotaUsage, before: QuotaUsage): boolean {
  return Object.entries(used).some(
    ([name, amount]) => Object.hasOwn(before, name) && compareQuantities(amount, before[name] as string) < 0,
  )
}

/** Whether what the object uses, or of which quotas, may be another than before. Only pods and claims have a phase or statuses that count. */
export function usesOtherwise(resource: GroupResource, old: Pod, object: Pod, nowMs: number): boolean {
  const isGoingAsBefore = old.metadata.deletionGracePeriodSeconds === object.metadata.deletionGracePeriodSeconds
  const isSameStatus = old.status?.phase === object.status?.phase && !runsOtherwise(old, object)
  if (old.spec === object.spec && isSameStatus && isGoingAsBefore) return false
  const evaluator = evaluatorOf(resource)
  if (!evaluator.looksInside) return false
  return (
    scopedSpec(old) !== scopedSpec(object) || !sameJson(evaluator.usage(old, nowMs), evaluator.usage(object, nowMs))
  )
}

/** A container runs with other resources: its resize is done. */
function runsOtherwise({ status: before }: Pod, { status }: Pod): boolean {
  const known = before?.containerStatuses ?? []
  return (status?.containerStatuses ?? []).some(({ resources }, i) => {
    const last = known[i]
    return last !== undefined && last.resources !== resources && !sameJson(last.resources, resources)
  })
}

/** The fields by which an update can take an object into a scope or out of it. */
function scopedSpec({ spec }: Pod | PersistentVolumeClaim): string {
  const { activeDeadlineSeconds, volumeAttributesClassName }: Partial<PodSpec & PersistentVolumeClaimSpec> = spec ?? {}
  return JSON.stringify([activeDeadlineSeconds, volumeAttributesClassName])
}
