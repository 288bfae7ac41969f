/**
 * What `kubectl drain` does: the nodes are cordoned, and then, one node after the other, its pods are evicted, again and again where a
 * budget refuses.
 */
import type { Node, Pod } from '../../api/generated/types.ts'
import { parseLabelSelector } from '../../api/objects/label-selector.ts'
import { isMirrorPod } from '../../api/objects/mirror-pods.ts'
import { isNotFound, StatusError } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import { unreadBecause } from '../twin/partly-read.ts'
import type { ReadCluster } from '../twin/read-cluster.ts'
import { listedItems } from '../twin/twin.ts'
import { NODES, PODS } from '../why/look.ts'
import type { Deed, DeedStage, Doing } from './deed.ts'
import { refusedUnread } from './delete-deed.ts'

/** Named after kubectl's flags. */
export interface DrainRequest {
  /** Names; or those that the labels of a selector choose. */
  readonly nodes: readonly string[] | { readonly selector: string }
  readonly ignoreDaemonsets?: boolean
  readonly deleteEmptydirData?: boolean
  readonly force?: boolean
  /** Delete instead of evict: budgets are not asked. */
  readonly disableEviction?: boolean
  readonly gracePeriodSeconds?: number
  readonly podSelector?: string
  /** Pods that have been marked for longer are not waited for. */
  readonly skipWaitForDeleteTimeoutSeconds?: number
  /** After so long it gives up: what a budget refuses then is not asked for again. Default: never. */
  readonly timeoutMs?: number
}

const AGAIN_MS = 5000
/** A budget that has refused for so long without anything happening refuses for good. */
const HOPELESS_MS = 900_000

/** So long without a pod that could be evicted refuses for good, whatever else happens in the cluster meanwhile. */
const MOST_WAIT_MS = 2 * HOPELESS_MS

export function drainDeed(read: ReadCluster, request: DrainRequest): Deed {
  const unread = unreadBecause(read, NODES) ?? unreadBecause(read, PODS)
  const there = listedItems<Node>(read, '', 'nodes').map(({ metadata }) => metadata)
  const nodes = 'selector' in request.nodes ? chosen(there, request.nodes.selector) : request.nodes
  const what = `drain ${nodes.map((node) => `node/${node}`).join(', ')}`
  const missing = nodes.filter((node) => !there.some(({ name }) => name === node))
  const first: DeedStage = {
    what: nodes.length === 1 ? what : `cordon ${nodes.map((node) => `node/${node}`).join(', ')}`,
    async run(doing) {
      if (unread !== undefined) {
        const named = 'selector' in request.nodes ? ['*'] : request.nodes
        for (const node of named) doing.refused({ what: `nodes/${node}`, ...refusedUnread(unread) })
        return
      }
      // kubectl looks all of them up before it begins.
      for (const node of missing)
        doing.refused({ what: `nodes/${node}`, message: `nodes "${node}" not found`, isMissing: true })
      if (missing.length > 0) return
      for (const node of nodes) await cordon(doing, node)
      const [only, ...more] = nodes
      if (only !== undefined && more.length === 0) await drain(doing, only, request)
    },
  }
  const each = nodes.map(
    (node): DeedStage => ({ what: `drain node/${node}`, run: (doing) => drain(doing, node, request) }),
  )
  return { what, stages: [first, ...(nodes.length > 1 && missing.length === 0 && unread === undefined ? each : [])] }
}

function chosen(nodes: readonly Node['metadata'][], selector: string): readonly string[] {
  const labels = parseLabelSelector(selector)
  return nodes.flatMap(({ name = '', labels: own }) => (labels.matches(own) ? [name] : []))
}

async function cordon({ client, refused, asks }: Doing, node: string): Promise<void> {
  asks({ verb: 'patch', group: '', resource: 'nodes', namespace: '', name: node })
  try {
    await client.resource<Node>(NODES).patch(node, 'strategic', { spec: { unschedulable: true } })
  } catch (error) {
    refused({ what: `nodes/${node}`, message: messageOf(error) })
  }
}

async function drain(doing: Doing, node: string, request: DrainRequest): Promise<void> {
  const { client, refused } = doing
  const { podSelector } = request
  const { items } = await client.resource<Pod>(PODS).list({
    fieldSelector: `spec.nodeName=${node}`,
    ...(podSelector === undefined ? {} : { labelSelector: podSelector }),
  })
  const now = doing.clock.now.getTime()
  const judged = items.map((pod) => ({ pod, judgement: judge(pod, request, now) }))
  const problems = judged.filter(({ judgement }) => judgement !== 'goes' && judgement !== 'is left')
  for (const { pod, judgement } of problems)
    refused({ what: `pods/${pod.metadata.name} in namespace ${pod.metadata.namespace}`, message: judgement })
  // kubectl drains nothing where it may not take everything.
  if (problems.length === 0)
    await takeAll(
      doing,
      judged.filter(({ judgement }) => judgement === 'goes').map(({ pod }) => pod),
      request,
    )
}

/** `goes`, `is left`, or why kubectl would not begin. */
function judge(pod: Pod, request: DrainRequest, now: number): string {
  const { metadata, spec, status } = pod
  const controller = metadata.ownerReferences?.find(({ controller: is }) => is === true)
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  const { skipWaitForDeleteTimeoutSeconds: patience = 0 } = request
  const marked = metadata.deletionTimestamp
  if (patience > 0 && marked !== undefined && now - Date.parse(marked) > patience * 1000) return 'is left'
  if (isMirrorPod(pod)) return 'is left'
  if (controller?.kind === 'DaemonSet' && !hasEnded)
    return request.ignoreDaemonsets === true ? 'is left' : 'a DaemonSet manages it: --ignore-daemonsets leaves it'
  if (!hasEnded && request.deleteEmptydirData !== true && spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined))
    return 'it has local storage: --delete-emptydir-data deletes that'
  if (controller === undefined && !hasEnded && request.force !== true)
    return 'no controller would make it again: --force deletes it'
  return 'goes'
}

async function takeAll(doing: Doing, pods: readonly Pod[], request: DrainRequest): Promise<void> {
  const { timeoutMs = Number.POSITIVE_INFINITY } = request
  const beganMs = doing.clock.now.getTime()
  let left = pods
  let evictedMs = beganMs
  for (let waitedMs = 0; left.length > 0; ) {
    // They are asked for at once, and come in any order.
    const answers = await Promise.all(
      doing.inAnyOrder(left).map(async (pod) => ({ pod, message: await take(doing, pod, request) })),
    )
    const again = answers.filter(({ message }) => message !== undefined)
    if (again.length === 0) return
    const isNews = again.length < left.length || (await doing.progress())
    waitedMs = isNews ? 0 : waitedMs + AGAIN_MS
    const now = doing.clock.now.getTime()
    if (again.length < left.length) evictedMs = now
    if (waitedMs >= HOPELESS_MS || now - evictedMs >= MOST_WAIT_MS || now + AGAIN_MS - beganMs > timeoutMs) {
      for (const { pod, message = '' } of again)
        doing.refused({ what: `pods/${pod.metadata.name} in namespace ${pod.metadata.namespace}`, message })
      return
    }
    left = again.map(({ pod }) => pod)
    await doing.clock.advance(AGAIN_MS)
  }
}

/** undefined: it goes, or has gone. Otherwise why it does not yet. */
async function take(
  { client, refused, named, asks }: Doing,
  pod: Pod,
  request: DrainRequest,
): Promise<string | undefined> {
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const { gracePeriodSeconds, disableEviction } = request
  const deleteOptions = {
    preconditions: { uid },
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  }
  const pods = client.resource(PODS).namespace(namespace)
  asks(
    disableEviction === true
      ? { verb: 'delete', group: '', resource: 'pods', namespace, name }
      : { verb: 'create', group: '', resource: 'pods', subresource: 'eviction', namespace, name },
  )
  try {
    if (disableEviction === true) await pods.delete(name, deleteOptions)
    else {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions }
      await pods.create(eviction, { subresource: 'eviction', name })
    }
    named(uid)
    return undefined
  } catch (error) {
    if (isNotFound(error) || (error instanceof StatusError && error.code === 409)) return undefined
    if (error instanceof StatusError && error.code === 429) return messageOf(error)
    // Nothing can be made in a namespace that goes, not even an eviction: its pods are waited for.
    if (isOfEndingNamespace(error)) {
      if (pod.metadata.deletionTimestamp === undefined) return messageOf(error)
      named(uid)
      return undefined
    }
    refused({ what: `pods/${name} in namespace ${namespace}`, message: messageOf(error) })
    return undefined
  }
}

const isOfEndingNamespace = (error: unknown): boolean =>
  error instanceof StatusError &&
  error.code === 403 &&
  error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
