/** The workloads of a cluster, and whether one of them runs: is anything to run, does it, and what do its pods say. */
import type { Container, Deployment, Lease, Pod, PodSpec } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatLabelSelector, labelSelectorOf } from '../../api/objects/label-selector.ts'
import type { GroupVersionResource } from '../../client/client.ts'
import { isReady, isTerminated } from '../../controllers/pods/pod.ts'
import { type FinalizerOwner, type Link, lastLink } from './finding.ts'
import {
  builtinRef,
  DAEMON_SETS,
  DEPLOYMENTS,
  itemsOf,
  kubectlName,
  LEASES,
  type Look,
  PODS,
  SERVICE_ACCOUNTS,
  STATEFUL_SETS,
  timeOf,
} from './look.ts'

export interface Workload {
  readonly gvr: GroupVersionResource
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly podLabels: Readonly<Record<string, string>>
  readonly account: string
  readonly images: readonly string[]
  /** The programs of its containers, without folders, and the containers' names. */
  readonly programs: readonly string[]
  /** The namespaces that it serves alone, by its flags or environment; absent: nothing there says so. */
  readonly serves?: { readonly namespaces: readonly string[]; readonly by: string }
  readonly desired: number
  readonly ready: number
  /** What selects its pods. */
  readonly pods: { readonly labelSelector: string } | { readonly fieldSelector: string }
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
}

const KINDS: readonly (readonly [GroupVersionResource, string])[] = [
  [DEPLOYMENTS, 'Deployment'],
  [STATEFUL_SETS, 'StatefulSet'],
  [DAEMON_SETS, 'DaemonSet'],
]

export interface Workloads {
  readonly all: readonly Workload[]
  /** What could not be listed. */
  readonly unseen: string
}

export async function readWorkloads({ reader }: Look): Promise<Workloads> {
  const reads = await Promise.all(KINDS.map(([gvr]) => reader.list(gvr)))
  const all = reads.flatMap((read, index) => {
    const [gvr, kind] = KINDS[index] as (typeof KINDS)[number]
    return itemsOf(read).map((object) => workloadOf(gvr, kind, object))
  })
  const failed = reads.find(({ state }) => state !== 'found')
  return { all, unseen: failed !== undefined && 'message' in failed ? failed.message : '' }
}

/** Controllers of Kubernetes whose pods count with them. */
const COUNTED = new Set(['ReplicaSet', 'StatefulSet', 'DaemonSet'])

/** Pods in these namespaces that run and belong to no workload of those kinds: static ones, those of a kind of its own, those made by hand. */
export async function readOtherPods({ reader }: Look, namespaces: readonly string[]): Promise<readonly Workload[]> {
  const reads = await Promise.all(namespaces.map((namespace) => reader.list<Pod>(PODS, { namespace })))
  return reads
    .flatMap(itemsOf)
    .filter(
      (pod) =>
        !isTerminated(pod) &&
        !pod.metadata.ownerReferences?.some(
          ({ apiVersion, kind }) => COUNTED.has(kind) && apiVersion.startsWith('apps/'),
        ),
    )
    .map((pod) => {
      const { metadata, spec } = pod
      return {
        gvr: PODS,
        kind: 'Pod',
        namespace: metadata.namespace ?? '',
        name: metadata.name ?? '',
        labels: metadata.labels ?? {},
        podLabels: metadata.labels ?? {},
        ...containersOf(spec, metadata.namespace),
        desired: 1,
        ready: isReady(pod) ? 1 : 0,
        pods: { fieldSelector: `metadata.name=${metadata.name}` },
        conditions: [],
      }
    })
}

/** The account, images and programs of a pod's specification. */
function containersOf(
  spec: PodSpec | undefined,
  namespace = '',
): Pick<Workload, 'account' | 'images' | 'programs' | 'serves'> {
  const containers = spec?.containers ?? []
  const told = containers.map((container) => servedNamespaces(container, namespace)).filter((one) => one !== undefined)
  // Containers that differ say nothing of the workload.
  const alike = new Set(told.map(({ namespaces }) => namespaces.toSorted().join())).size === 1
  const serves = alike && told[0]?.namespaces.length !== 0 ? told[0] : undefined
  return {
    account: spec?.serviceAccountName ?? 'default',
    images: containers.map(({ image }) => image ?? ''),
    programs: containers.flatMap(({ name, command }) => [name, (command?.[0] ?? '').split('/').at(-1) ?? '']),
    ...(serves === undefined ? {} : { serves }),
  }
}

/** By these operators are told the namespaces that they serve: by operator-sdk's habit, and that of others. Without a value it is all. */
const SERVES_VARIABLE =
  /^(?!(?:.*_)?(?:EXCLUDED?|IGNORED?|SKIP(?:PED)?)_)([A-Z]+_)*(WATCH(ED)?_NAMESPACES?|STRIMZI_NAMESPACE)$/
const SERVES_FLAG = /^--?(?:watch(?:ed)?-namespaces?|(?:target-)?namespaces)(?:=(.*))?$/
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Absent: the container says nothing; none: all of them, or what is known only where it runs. */
function servedNamespaces({ env, command, args }: Container, own: string): Workload['serves'] {
  const words = [...(command ?? []), ...(args ?? [])]
  const at = words.findIndex((word) => SERVES_FLAG.test(word))
  const flag = words[at]
  const next = words[at + 1]?.startsWith('-') === true ? undefined : words[at + 1]
  const variable = env?.find(({ name }) => SERVES_VARIABLE.test(name))
  const ofField = variable?.valueFrom?.fieldRef?.fieldPath === 'metadata.namespace' ? own : undefined
  if (flag === undefined && variable === undefined) return undefined
  const value = flag === undefined ? (variable?.value ?? ofField) : (SERVES_FLAG.exec(flag)?.[1] ?? next)
  const namespaces = (value ?? '').split(/[,;\s]+/).filter((one) => one !== '')
  const isKnown = namespaces.every((one) => one !== 'all' && DNS_LABEL.test(one))
  return { namespaces: isKnown ? namespaces : [], by: flag?.split('=')[0] ?? variable?.name ?? '' }
}

function workloadOf(gvr: GroupVersionResource, kind: string, object: KubeObject): Workload {
  // The three kinds are alike in what is read here.
  const { metadata, spec, status } = object as Deployment & {
    readonly status?: { readonly desiredNumberScheduled?: number; readonly numberReady?: number }
  }
  return {
    gvr,
    kind,
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    labels: metadata?.labels ?? {},
    podLabels: spec?.template?.metadata?.labels ?? {},
    ...containersOf(spec?.template?.spec, metadata?.namespace),
    desired: kind === 'DaemonSet' ? (status?.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1),
    ready: (kind === 'DaemonSet' ? status?.numberReady : status?.readyReplicas) ?? 0,
    pods: { labelSelector: formatLabelSelector(labelSelectorOf(spec?.selector)) },
    conditions: status?.conditions ?? [],
  }
}

export const controllerInWorkload = (workload: Workload, evidence: string): FinalizerOwner => ({
  name: `${kubectlName({ ...workload.gvr, name: workload.name })} in namespace ${workload.namespace}`,
  as: 'workload',
  workload: builtinRef(workload.gvr, workload.kind, workload.namespace, workload.name),
  account: { namespace: workload.namespace, name: workload.account },
  evidence,
})

/** Why it does not run or does not lead; undefined when nothing says so. `served`: the group that it serves, where that is no group of Kubernetes. */
export async function whyNotRunning(
  look: Look,
  workload: Workload,
  controller: FinalizerOwner,
  served = '',
): Promise<Link | undefined> {
  const stopped = (reason: string) => lastLink('nobody', { kind: 'controller-not-running', controller, reason })
  const { reader } = look
  const { namespace, account, ready } = workload
  if (workload.desired === 0 && ready === 0) {
    return stopped(workload.kind === 'DaemonSet' ? 'no node runs a pod of it' : 'it is scaled to 0 replicas')
  }
  const found = await reader.get(SERVICE_ACCOUNTS, namespace, account)
  if (found.state === 'missing') {
    return lastLink('nobody', {
      kind: 'needs-missing',
      controller: controller.name,
      what: `serviceaccounts/${account} in namespace ${namespace}`,
      named:
        ready > 0
          ? 'its pods run as that service account, and their tokens are no longer believed'
          : 'its pods run as that service account, and cannot be made',
    })
  }
  if (ready > 0) return notLeading(look, workload, controller, served)
  const pods = await reader.list<Pod>(PODS, { namespace, ...workload.pods })
  const failure = workload.conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  if (failure?.message !== undefined) return stopped(`its pods cannot be made: ${failure.message}`)
  const [pod] = itemsOf(pods)
  if (pod === undefined) return stopped('it has no pods')
  return stopped(`its pod ${pod.metadata?.name} is not ready: ${podProblem(pod)}`)
}

/** Whether nothing keeps its containers from running that is more than a start. */
export function isStartingUp({ status }: Pod): boolean {
  const waiting = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].some(
    ({ state }) => state?.waiting?.reason !== undefined && !STARTING.test(state.waiting.reason),
  )
  return !waiting && !status?.conditions?.some(({ type, status: is }) => type === 'PodScheduled' && is === 'False')
}

const STARTING = /^(ContainerCreating|PodInitializing)$/

/** What keeps a pod from being ready, in words. */
export function podProblem({ status }: Pod): string {
  for (const { state, lastState } of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { waiting } = state ?? {}
    const ended = (state?.terminated ?? lastState?.terminated)?.exitCode
    if (waiting?.reason !== undefined) {
      const last = ended === undefined ? '' : ` (it ended with exit code ${ended})`
      return `${waiting.reason}${waiting.message === undefined ? '' : `: ${waiting.message}`}${last}`
    }
    if (ended !== undefined) return `its container ended with exit code ${ended}`
  }
  const unmet = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')
  return unmet?.message ?? status?.message ?? `phase ${status?.phase ?? 'unknown'}`
}

/** A controller that runs waits for its lease while another holds it, or cannot renew it any more. */
async function notLeading(
  look: Look,
  workload: Workload,
  controller: FinalizerOwner,
  served: string,
): Promise<Link | undefined> {
  const leases = itemsOf(await look.reader.list<Lease>(LEASES, { namespace: workload.namespace }))
  // Its pods are named after it, and leaders after their pods.
  const held = leases.filter(({ spec }) => (spec?.holderIdentity ?? '').startsWith(`${workload.name}-`))
  // One that is named after it, or after the group that it serves, is its own, by whichever pod it was held last.
  const named = leases.filter(
    ({ metadata: { name = '' } }) => name.startsWith(workload.name) || (served !== '' && name.endsWith(`.${served}`)),
  )
  const own = held.length > 0 ? held : named
  if (own.length === 0) return undefined
  const due = ({ spec }: Lease) => timeOf(spec?.renewTime) + (spec?.leaseDurationSeconds ?? 15) * 1000
  const newest = own.reduce((best, one) => (due(one) > due(best) ? one : best))
  // Twice its duration: then another would have taken it.
  if (look.now <= due(newest) + Math.max(15, newest.spec?.leaseDurationSeconds ?? 15) * 1000) return undefined
  return lastLink('nobody', {
    kind: 'controller-not-leading',
    controller,
    lease: `${workload.namespace}/${newest.metadata?.name}`,
    renewed: newest.spec?.renewTime ?? '',
  })
}
