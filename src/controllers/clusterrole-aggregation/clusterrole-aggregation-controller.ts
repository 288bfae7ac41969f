/**
 * The cluster role aggregation controller: a ClusterRole with an aggregationRule holds the rules of all ClusterRoles that its
 * selectors match, among them `admin`, `edit` and `view`. The controller manager starts it.
 */
import type { ClusterRole, PolicyRule } from '../../api/generated/types.ts'
import type { JsonObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const clusterRoles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const fieldManager = 'clusterrole-aggregation-controller'
const workers = 5

export function createClusterRoleAggregationController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const roles = informers.informer<ClusterRole>(clusterRoles)
  const queue = createWorkQueue<string>(runtime, 'ClusterRoleAggregator')
  const isAggregated = (role: ClusterRole) => role.aggregationRule !== undefined
  // A role that changes may belong to, or have belonged to, any of them.
  const enqueueAll = () => {
    for (const role of roles.store.list()) if (isAggregated(role)) queue.add(objectKey(role))
  }

  async function sync(key: string): Promise<void> {
    const role = roles.store.get(key)
    if (role === undefined || !isAggregated(role)) return
    const rules = aggregatedRules(role, roles.store.list())
    if (sameJson(rules, role.rules ?? [])) return
    const name = role.metadata.name ?? ''
    const body = applied(role, rules)
    await client.resource(clusterRoles).patch(name, 'apply', body, { fieldManager, force: true })
  }

  return {
    name: fieldManager,
    async start() {
      roles.addHandlers({ added: enqueueAll, updated: enqueueAll, deleted: enqueueAll })
      await roles.whenSynced(signal)
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

/** Selector by selector, the rules of the roles it matches in the order of their names; each rule once. */
export function aggregatedRules(role: ClusterRole, all: readonly ClusterRole[]): readonly PolicyRule[] {
  const rules: PolicyRule[] = []
  const byName = all
    .filter((other) => other.metadata.name !== role.metadata.name)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  for (const labelSelector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = labelSelectorOf(labelSelector)
    for (const other of byName) {
      if (!selector.matches(other.metadata.labels)) continue
      for (const rule of other.rules ?? []) {
        if (!rules.some((known) => sameJson(known, rule))) rules.push(rule)
      }
    }
  }
  return rules
}

/** What is applied to the role: without rules none are named, since the manager of an empty list would own it. */
export function applied({ apiVersion, kind, metadata }: ClusterRole, rules: readonly PolicyRule[]): JsonObject {
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name ?? '' },
    ...(rules.length > 0 ? { rules: rules as never } : {}),
  }
}
