/** Nodes that are drained: which pods keep a drain waiting, by their budgets or because they do not end. */

import type { Node, Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import type { Fields, KubeObject, SpecAndStatus } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { isMirrorPod } from '../../api/objects/mirror-pods.ts'
import { asObject, asText } from '../../api/unchecked.ts'
import { isReady, isTerminated } from '../../controllers/pods/pod.ts'
import { refusalLinks } from './admission.ts'
import { silentNode } from './deleted-pods.ts'
import { type Link, lastLink, type ObjectRef, waitingLink } from './finding.ts'
import { BUDGETS, builtinRef, itemsOf, kubectlName, type Look, MOST_ALIKE, NODES, PODS, unseenLink } from './look.ts'
import { evictionOf } from './rules.ts'
import { attachmentsOfNode } from './storage.ts'
import type { Examine } from './what-holds-an-object.ts'

/** Of a node: its pods that do not end, and those that no eviction may take. */
export async function drainLinks(look: Look, node: string, examine: Examine): Promise<readonly Link[]> {
  const pods = await look.reader.list<Pod>(PODS, { fieldSelector: `spec.nodeName=${node}` })
  if (pods.state !== 'found') return [unseenLink(`pods of node ${node}`, pods)]
  const drained = pods.value.filter((pod) => !isTerminated(pod) && !isLeftByDrains(pod))
  const ending = drained.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
  const resource = look.kinds.ofResource('', 'pods')
  const links: Link[] = []
  if (resource !== undefined)
    links.push(...(await Promise.all(ending.slice(0, MOST_ALIKE).map((pod) => examine(look, resource, pod)))))
  for (const pod of drained.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
    const budget = await budgetLink(look, pod)
    if (budget !== undefined) links.push(budget)
    links.push(...(await refusalLinks(look, evictionOf(podRef(pod)))), ...toldToStay(pod))
  }
  return links
}

/** `karpenter.sh/do-not-disrupt: true`, `cluster-autoscaler.kubernetes.io/safe-to-evict: false`: what drains by itself waits for such a pod. */
function toldToStay(pod: Pod): readonly Link[] {
  const annotation = Object.entries(pod.metadata.annotations ?? {}).find(
    ([key, value]) =>
      (/[./](do-not-disrupt|do-not-evict)$/.test(key) && value === 'true') ||
      (/[./]safe-to-evict$/.test(key) && value === 'false'),
  )?.[0]
  if (annotation === undefined) return []
  const how = `its annotation ${annotation} tells drains to leave it`
  return [lastLink('will-end', { kind: 'in-use', by: podRef(pod), how, isDeleted: false }, true)]
}

/** Pods of DaemonSets and static pods stay through a drain. */
const isLeftByDrains = (pod: Pod) =>
  isMirrorPod(pod) ||
  pod.metadata.ownerReferences?.some(({ kind, controller }) => kind === 'DaemonSet' && controller === true) === true

const podRef = ({ metadata: { namespace = '', name = '', uid } }: Pod) => builtinRef(PODS, 'Pod', namespace, name, uid)

/** The budget that refuses this pod's eviction now. */
export async function budgetLink(look: Look, pod: Pod): Promise<Link | undefined> {
  const namespace = pod.metadata.namespace ?? ''
  const budgets = itemsOf(await look.reader.list<PodDisruptionBudget>(BUDGETS, { namespace })).filter(({ spec }) =>
    labelSelectorOf(spec?.selector as Fields | undefined).matches(pod.metadata.labels),
  )
  const ref = podRef(pod)
  const node = pod.spec?.nodeName ?? ''
  const refused = (budget: PodDisruptionBudget, message: string) =>
    lastLink('refused', {
      kind: 'budget',
      budget: builtinRef(BUDGETS, 'PodDisruptionBudget', namespace, budget.metadata.name ?? ''),
      pod: ref,
      node,
      message,
    })
  const [budget, second] = budgets
  if (budget === undefined) return undefined
  if (second !== undefined)
    return refused(
      budget,
      `more than one budget selects the pod (${budget.metadata.name}, ${second.metadata.name}), which evictions do not support`,
    )
  const failed = budget.status?.conditions?.find(
    ({ type, status }) => type === 'DisruptionAllowed' && status === 'False',
  )
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {}
  const policy = budget.spec?.unhealthyPodEvictionPolicy
  // A pod that is not ready may go, always or while enough others are well.
  if (!isReady(pod) && (policy === 'AlwaysAllow' || (currentHealthy >= desiredHealthy && desiredHealthy > 0)))
    return undefined
  if (disruptionsAllowed > 0) return undefined
  // Where its controller cannot count at all, the numbers tell nothing.
  if (failed?.reason === 'SyncFailed') return refused(budget, `it allows no disruption: ${failed.message}`)
  return refused(
    budget,
    `it allows no disruption: ${currentHealthy} of ${expectedPods} pods are healthy, and it wants ${desiredHealthy}`,
  )
}

/** Of something that drains a node and then ends it: a Machine, a NodeClaim, a Node of Karpenter. */
export async function machineLinks(
  look: Look,
  ref: ObjectRef,
  object: SpecAndStatus,
  examine: Examine,
): Promise<readonly Link[]> {
  const status = asObject(object.status)
  const named =
    ref.resource === 'nodes' && ref.group === ''
      ? ref.name
      : asText(asObject(status['nodeRef'])['name']) || asText(status['nodeName'])
  if (named === '') return []
  const drained = await drainLinks(look, named, examine)
  // What ends the machine waits for the drain, and then until its volumes are detached.
  const links = drained.length > 0 ? [...drained] : [...(await attachmentsOfNode(look, named, examine))]
  const node = await look.reader.get(NODES, '', named)
  if (node.state === 'missing') return []
  const silent = links.length === 0 ? undefined : await silentNode(look, named, kubectlName(ref))
  if (silent !== undefined) links.push(silent)
  if (links.length === 0) return []
  const cause = { kind: 'drain', node: named, note: `${ref.kind} ${ref.name} ends after its node is drained` } as const
  return [waitingLink(cause, links, () => lastLink('slow', cause, true))]
}

/** What is not being deleted but waits for a drain: a node that is cordoned, a pod on one, a budget of such pods. */
export async function liveDrainLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  if (ref.group === '' && ref.resource === 'nodes') {
    const { spec } = object as Node
    if (spec?.unschedulable !== true) return []
    // kubectl does not heed what tells those that drain by themselves to leave a pod.
    return (await drainLinks(look, ref.name, examine)).filter(({ cause }) => cause.kind !== 'in-use')
  }
  if (ref.group === '' && ref.resource === 'pods') {
    const pod = object as Pod
    return (await isCordoned(look, pod)) && !isLeftByDrains(pod) ? list(await budgetLink(look, pod)) : []
  }
  if (ref.group === BUDGETS.group && ref.resource === BUDGETS.resource) {
    const { spec, metadata } = object as PodDisruptionBudget
    const selector = labelSelectorOf(spec?.selector as Fields | undefined)
    const pods = itemsOf(await look.reader.list<Pod>(PODS, { namespace: metadata.namespace ?? '' }))
    for (const pod of pods.filter(
      (one) => selector.matches(one.metadata.labels) && !isTerminated(one) && !isLeftByDrains(one),
    )) {
      if (!(await isCordoned(look, pod))) continue
      const link = await budgetLink(look, pod)
      if (link !== undefined) return [link]
    }
  }
  return []
}

const list = (link: Link | undefined): readonly Link[] => (link === undefined ? [] : [link])

async function isCordoned(look: Look, { spec }: Pod): Promise<boolean> {
  if (spec?.nodeName === undefined || spec.nodeName === '') return false
  const read = await look.reader.get(NODES, '', spec.nodeName)
  return read.state === 'found' && (read.value as Node).spec?.unschedulable === true
}
