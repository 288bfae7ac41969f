/** Plugin TaintToleration: taints that keep a pod off a node, and those that would rather not have it. */
import { toleratesTaint } from '../api/objects/taints.ts'
import type { NodeFilter } from './filters.ts'
import { type NodeInfo, taintsOf } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import { hard } from './refusal.ts'
import type { Score } from './scores.ts'

export const tolerations = (info: PodInfo) => info.pod.spec?.tolerations ?? []

export const hasUntoleratedTaint = (info: PodInfo, node: NodeInfo): boolean =>
  taintsOf(node).some(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' && !tolerations(info).some((toleration) => toleratesTaint(toleration, taint)),
  )

export const taintToleration: NodeFilter = (info, node) =>
  hasUntoleratedTaint(info, node) ? hard('node(s) had untolerated taint(s)') : undefined

export function preferNoTaints(info: PodInfo): Score {
  const tolerations = info.pod.spec?.tolerations ?? []
  return {
    plugin: 'TaintToleration',
    normalize: 'reversed',
    isOfShape: true,
    raw: (node) =>
      taintsOf(node).filter(
        (taint) =>
          taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
      ).length,
  }
}
