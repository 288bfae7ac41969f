/**
 * Enforces NetworkPolicies between the pods of a real node and everything else, where the pods' network is the cluster's own. Each pod has a
 * link of its own to the machine, so that what two pods of this node send one another passes the same rules. A change of a pod costs its
 * own chain and the policies that it concerns.
 */
import type { NetworkPolicy, Pod } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { sameJson } from '../api/same.ts'
import type { IPFamily } from '../api/values/ip.ts'
import { command } from '../base/command.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createInformerFactory } from '../client/informer.ts'
import { indexNamespace, namespaceIndex, objectKey } from '../client/store.ts'
import { firstOf } from './families.ts'
import { keepTable } from './keep-table.ts'
import {
  type ClusterServer,
  createPolicyTable,
  isPeer,
  type PolicyPod,
  podRules,
  policyRules,
  policySelects,
  type ReadPolicy,
  readPolicy,
  type Surroundings,
} from './network-policy-rules.ts'

export interface PolicyOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  /** Of the tables, one of each family. */
  readonly tableName: string
  readonly families: readonly IPFamily[]
  /** The API server and the DNS, where they are on another machine: pods may always ask them. */
  readonly servers?: readonly ClusterServer[]
  readonly signal: AbortSignal
  /** Runs nft. Default: this machine's. */
  readonly run?: typeof command
}

const PODS = { group: '', version: 'v1', resource: 'pods' }
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const POLICIES = { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' }

/** Resolves once the tables hold what there is; gives what resolves when nothing is under way any more. @throws Error */
export async function startNetworkPolicies(options: PolicyOptions): Promise<{ stopped(): Promise<void> }> {
  const { runtime, client, nodeName, tableName, signal } = options
  const factory = createInformerFactory(runtime, client, signal)
  const pods = factory.informer<Pod>(PODS)
  const namespaces = factory.informer<KubeObject>(NAMESPACES, { metadataOnly: true })
  const policies = factory.informer<NetworkPolicy>(POLICIES)
  pods.addIndex(namespaceIndex, indexNamespace)

  const read = new Map<string, ReadPolicy>()
  const labelsOf = (namespace: string) => {
    const found = namespaces.store.get(namespace)
    return found === undefined ? undefined : (found.metadata.labels ?? {})
  }
  const enforcers = options.families.map((family) => createEnforcer(family))

  /** What one family's table holds, and what of it is due. */
  function createEnforcer(family: IPFamily) {
    const table = createPolicyTable(tableName, family, options.servers)
    const duePods = new Set<string>()
    const duePolicies = new Set<string>()
    const viewOf = (pod: Pod | undefined) => (pod === undefined ? undefined : policyPod(pod, nodeName, family))
    const around: Surroundings = {
      family,
      labelsOf,
      namespaces: () => namespaces.store.keys(),
      podsIn: (namespace) => pods.store.byIndex(namespaceIndex, namespace).flatMap((pod) => viewOf(pod) ?? []),
    }
    const isDue = () => duePods.size + duePolicies.size > 0
    const kept = keepTable({
      ...{ runtime, table, tableName, family, signal, isDue, what: 'NetworkPolicies', run: options.run ?? command },
      async work(tell) {
        for (const key of duePolicies) {
          const policy = read.get(key)
          table.set(`policy ${key}`, policy === undefined ? undefined : policyRules(policy, around))
        }
        for (const key of duePods) {
          const pod = viewOf(pods.store.get(key))
          const own = [...read.values()].filter(({ namespace }) => namespace === pod?.namespace)
          table.set(`pod ${key}`, pod?.isLocal ? podRules(pod, own, family) : undefined)
        }
        duePolicies.clear()
        duePods.clear()
        await tell()
      },
    })

    return {
      podChanged(key: string, old: Pod | undefined, pod: Pod | undefined): void {
        const [before, now] = [viewOf(old), viewOf(pod)]
        if (sameJson(before, now)) return
        duePods.add(key)
        for (const policy of read.values())
          if ([before, now].some((one) => one !== undefined && concerns(policy, one))) duePolicies.add(policy.key)
        kept.changed()
      },
      policyChanged(key: string, before: ReadPolicy | undefined, now: ReadPolicy | undefined): void {
        duePolicies.add(key)
        const concerned = now ?? before
        for (const pod of concerned === undefined ? [] : pods.store.byIndex(namespaceIndex, concerned.namespace)) {
          const view = viewOf(pod)
          if (view?.isLocal && [before, now].some((one) => one !== undefined && policySelects(one, view)))
            duePods.add(objectKey(pod))
        }
        kept.changed()
      },
      namespacesChanged(): void {
        for (const { key, allowed } of read.values())
          if (allowed.some((one) => one.pods.some((peer) => peer.namespaces !== undefined))) duePolicies.add(key)
        if (isDue()) kept.changed()
      },
      start: kept.start,
      stopped: kept.stopped,
    }
  }

  const concerns = (policy: ReadPolicy, pod: PolicyPod) => policySelects(policy, pod) || isPeer(policy, pod, labelsOf)

  function policyChanged(key: string, policy: NetworkPolicy | undefined): void {
    const before = read.get(key)
    const now = policy === undefined ? undefined : readPolicy(policy)
    if (now === undefined) read.delete(key)
    else read.set(key, now)
    for (const enforcer of enforcers) enforcer.policyChanged(key, before, now)
  }

  function podChanged(key: string, before: Pod | undefined, now: Pod | undefined): void {
    for (const enforcer of enforcers) enforcer.podChanged(key, before, now)
  }

  function namespaceChanged(): void {
    for (const enforcer of enforcers) enforcer.namespacesChanged()
  }

  policies.addHandlers({
    added: (policy) => policyChanged(objectKey(policy), policy),
    updated: (_, policy) => policyChanged(objectKey(policy), policy),
    deleted: (policy) => policyChanged(objectKey(policy), undefined),
  })
  pods.addHandlers({
    added: (pod) => podChanged(objectKey(pod), undefined, pod),
    updated: (old, pod) => podChanged(objectKey(pod), old, pod),
    deleted: (pod) => podChanged(objectKey(pod), pod, undefined),
  })
  namespaces.addHandlers({
    added: namespaceChanged,
    updated(old, now) {
      if (!sameJson(old.metadata.labels, now.metadata.labels)) namespaceChanged()
    },
    deleted: namespaceChanged,
  })
  factory.start()
  await factory.whenSynced(signal)
  for (const enforcer of enforcers) await enforcer.start()
  return {
    async stopped() {
      await Promise.all(enforcers.map((enforcer) => enforcer.stopped()))
    },
  }
}

const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed']

/** Undefined: it has no address of its own of that family, or none any more. */
function policyPod({ metadata, spec, status }: Pod, nodeName: string, family: IPFamily): PolicyPod | undefined {
  const { namespace = '', name } = metadata
  const told = status?.podIPs?.flatMap(({ ip }) => ip ?? []) ?? [status?.podIP ?? '']
  const address = firstOf(told, family)
  if (address === undefined || spec?.hostNetwork === true || ENDED.includes(status?.phase)) return undefined
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  return {
    key: `${namespace}/${name}`,
    namespace,
    labels: metadata.labels ?? {},
    address,
    isLocal: spec?.nodeName === nodeName,
    namedPorts: containers.flatMap(({ ports = [] }) =>
      ports.flatMap((port) =>
        port.name === undefined ? [] : { name: port.name, protocol: port.protocol ?? 'TCP', port: port.containerPort },
      ),
    ),
  }
}
