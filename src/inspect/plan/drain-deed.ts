/** What `kubectl drain` does: the node is cordoned, and its pods are evicted, again and again where a budget refuses. */

import type { Node, Pod } from '../../api/generated/types.ts'
import { isMirrorPod } from '../../api/objects/mirror-pods.ts'
import { isNotFound, StatusError } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import { NODES, PODS } from '../why/look.ts'
import type { Deed, Doing } from './deed.ts'

/** Named after kubectl's flags. */
export interface DrainRequest {
  readonly node: string
  readonly ignoreDaemonsets?: boolean
  readonly deleteEmptydirData?: boolean
  readonly force?: boolean
  /** Delete instead of evict: budgets are not asked. */
  readonly disableEviction?: boolean
  readonly gracePeriodSeconds?: number
  readonly podSelector?: string
}

const AGAIN_MS = 5000
/** A budget that has refused for so long without anything happening refuses for good. */
const HOPELESS_MS = 900_000

export function drainDeed(request: DrainRequest): Deed {
  const what = `drain node/${request.node}`
  return { what, stages: [{ what, run: (doing) => drain(doing, request) }] }
}

async function drain(doing: Doing, request: DrainRequest): Promise<void> {
  const { client, refused } = doing
  const nodes = client.resource<Node>(NODES)
  doing.asks({ verb: 'patch', group: '', resource: 'nodes', namespace: '', name: request.node })
  try {
    await nodes.patch(request.node, 'strategic', { spec: { unschedulable: true } })
  } catch (error) {
    refused({ what: `nodes/${request.node}`, message: messageOf(error) })
    return
  }
  const { podSelector } = request
  const { items } = await client.resource<Pod>(PODS).list({
    fieldSelector: `spec.nodeName=${request.node}`,
    ...(podSelector === undefined ? {} : { labelSelector: podSelector }),
  })
  const judged = items.map((pod) => ({ pod, judgement: judge(pod, request) }))
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
function judge(pod: Pod, request: DrainRequest): string {
  const { metadata, spec, status } = pod
  const controller = metadata.ownerReferences?.find(({ controller: is }) => is === true)
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed'
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
  let left = pods
  for (let waitedMs = 0; left.length > 0; ) {
    const answers = await Promise.all(left.map(async (pod) => ({ pod, message: await take(doing, pod, request) })))
    const again = answers.filter(({ message }) => message !== undefined)
    if (again.length === 0) return
    const isNews = again.length < left.length || (await doing.progress())
    waitedMs = isNews ? 0 : waitedMs + AGAIN_MS
    if (waitedMs >= HOPELESS_MS) {
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
    refused({ what: `pods/${name} in namespace ${namespace}`, message: messageOf(error) })
    return undefined
  }
}
