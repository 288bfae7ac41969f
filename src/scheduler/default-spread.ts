/**
 * The default constraints of plugin PodTopologySpread: a pod without constraints of its own is spread over nodes and zones beside the
 * pods of its Services and its workload (KEP-1258).
 */
import type {
  LabelSelector,
  LabelSelectorRequirement,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
} from '../api/generated/types.ts'
import { type CompiledSelector, labelSelectorOf } from '../api/objects/label-selector.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import { createLruMap } from '../base/lru.ts'
import type { InformerFactory } from '../client/informer.ts'
import { indexNamespace, namespaceIndex } from '../client/store.ts'
import type { NodeInfo } from './node-info.ts'
import { createNodeMemory } from './node-memory.ts'
import type { PodInfo } from './pod-info.ts'

/** The pods that a pod belongs to. */
export interface SpreadSelector {
  readonly selector: CompiledSelector
  countOn(node: NodeInfo): number
}

export interface BelongsTogether {
  /** Undefined for a pod that belongs to no others. */
  selectorOf(info: PodInfo): SpreadSelector | undefined
  whenSynced(signal: AbortSignal): Promise<void>
}

/** What is remembered for each of this many is a number a node. */
const SELECTORS = 64

const apps = (resource: string) => ({ group: 'apps', version: 'v1', resource })
const core = (resource: string) => ({ group: '', version: 'v1', resource })

export function createBelongsTogether(informers: InformerFactory): BelongsTogether {
  const services = informers.informer<Service>(core('services'))
  const controllers = informers.informer<ReplicationController>(core('replicationcontrollers'))
  const replicaSets = informers.informer<ReplicaSet>(apps('replicasets'))
  const statefulSets = informers.informer<StatefulSet>(apps('statefulsets'))
  const selectors = createLruMap<string, SpreadSelector>(SELECTORS)
  services.addIndex(namespaceIndex, indexNamespace)

  /** The selector of the workload that owns the pod. */
  function ownSelector({ pod }: PodInfo): LabelSelector | undefined {
    const owner = pod.metadata.ownerReferences?.find((reference) => reference.controller)
    if (owner === undefined) return undefined
    const key = `${pod.metadata.namespace}/${owner.name}`
    if (owner.apiVersion === 'v1' && owner.kind === 'ReplicationController') {
      const labels = controllers.store.get(key)?.spec?.selector
      return labels && { matchLabels: labels }
    }
    if (owner.apiVersion !== 'apps/v1') return undefined
    if (owner.kind === 'ReplicaSet') return replicaSets.store.get(key)?.spec?.selector
    return owner.kind === 'StatefulSet' ? statefulSets.store.get(key)?.spec?.selector : undefined
  }

  return {
    selectorOf(info) {
      const { namespace = '', labels = {} } = info.pod.metadata
      const own = ownSelector(info)
      const matchLabels: Record<string, string> = { ...own?.matchLabels }
      for (const { spec } of services.store.byIndex(namespaceIndex, namespace)) {
        const wanted = Object.entries(spec?.selector ?? {})
        if (wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value))
          for (const [name, value] of wanted) matchLabels[name] = value
      }
      const matchExpressions: readonly LabelSelectorRequirement[] = own?.matchExpressions ?? []
      if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return undefined
      const sorted = Object.fromEntries(Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1)))
      const text = JSON.stringify([namespace, sorted, matchExpressions])
      return getOrInsertComputed(selectors, text, () =>
        countedSelector(labelSelectorOf({ matchLabels: sorted, matchExpressions }), namespace),
      )
    },
    async whenSynced(signal) {
      await Promise.all(
        [services, controllers, replicaSets, statefulSets].map((informer) => informer.whenSynced(signal)),
      )
    },
  }
}

/** Counts the pods of a node once for each change of it. */
export function countedSelector(selector: CompiledSelector, namespace: string): SpreadSelector {
  const counts = createNodeMemory<number>()
  return {
    selector,
    countOn(node) {
      const known = counts.get(node)
      if (known !== undefined) return known
      let count = 0
      for (const { pod } of node.pods.values()) {
        const { metadata } = pod
        if (
          metadata.namespace === namespace &&
          metadata.deletionTimestamp === undefined &&
          selector.matches(metadata.labels)
        )
          count++
      }
      counts.set(node, count)
      return count
    },
  }
}
