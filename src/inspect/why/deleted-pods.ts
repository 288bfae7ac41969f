/** A pod that is being deleted: its grace period, its node, and what the kubelet says of ending it. */
import type { Lease, Node, Pod } from '../../api/generated/types.ts'
import type { KubeObject, SpecAndStatus } from '../../api/object.ts'
import { asObject, asText } from '../../api/unchecked.ts'
import { formatTime } from '../../base/clock.ts'
import { deletionLinks, refusalLinks } from './admission.ts'
import { asTold } from './as-told.ts'
import { componentLink } from './components.ts'
import { isKubernetes, warningsAbout } from './failures.ts'
import { type Cause, type Link, lastLink, type ObjectRef, verdictOf } from './finding.ts'
import { deletedAt, foundOf, kubectlName, LEASES, type Look, NODES, timeOf } from './look.ts'
import { controllerUsers, kubeletUsers, updateOf } from './rules.ts'

/** A node that is silent for longer is given up by Kubernetes. */
const SILENT_MS = 40_000
/** The kubelet may take so long after the grace period before it is worth a word. */
const LATE_MS = 30_000

/** A kubelet tries again every few minutes at the latest: after so long it has failed several times. Its Events last an hour. */
const HOPELESS_MS = 600_000

/** What holds a pod besides its finalizers. None when its containers have ended and it was let go. */
export async function podLinks(look: Look, ref: ObjectRef, pod: Pod): Promise<readonly Link[]> {
  const { metadata, spec, status } = pod
  const node = spec?.nodeName ?? ''
  const ends = timeOf(metadata.deletionTimestamp)
  const isLetGo = (metadata.deletionGracePeriodSeconds ?? 0) === 0 && (metadata.finalizers?.length ?? 0) > 0
  if (isLetGo && (node === '' || hasEnded(status))) return []
  const silent =
    node === ''
      ? await componentLink(look, 'kube-controller-manager', 'pod garbage collector', kubectlName(ref))
      : await podsOfSilentNode(look, node, kubectlName(ref))
  // A collector that is there deletes it in the kubelet's place.
  if (silent !== undefined)
    return [
      ...(verdictOf(silent) === 'slow'
        ? await deletionLinks(look, ref, pod, controllerUsers('pod-garbage-collector'))
        : []),
      silent,
    ]
  const refused = isLetGo ? [] : await refusedEnd(look, ref, pod)
  if (refused.length > 0) return refused
  // The kubelet lets it go as soon as its containers have ended, however long its grace period is.
  const ended = allEndedAt(status)
  const due = ended === undefined ? ends : Math.min(ends, Math.max(ended, deletedAt(metadata)))
  if (look.now < due) return [lastLink('will-end', { kind: 'grace-period', object: ref, node, ends: formatTime(ends) })]
  const failing = await kubeletFailure(look, ref, node, deletedAt(metadata))
  if (failing !== undefined) return [failing]
  if (isLetGo) return []
  const unwell = node === '' ? undefined : await unwellNode(look, node)
  if (unwell !== undefined) return [unwell]
  const late = Math.round((look.now - due) / 1000)
  const left = runningContainers(status)
  const isEarly = due < ends
  const note =
    look.now - due < LATE_MS
      ? `${isEarly ? 'its containers have' : 'the grace period has'} just ${isEarly ? 'ended' : 'passed'}`
      : isEarly
        ? `all containers ended ${late} s ago; no Event says why it is still there`
        : `the grace period passed ${late} s ago${runWords(status)}; no Event says why`
  if (look.now - due > HOPELESS_MS) {
    const what = left.length > 0 ? 'container' : 'other'
    return [lastLink('refused', { kind: 'kubelet-failing', node, what, reason: 'no Event', message: note }, true)]
  }
  return [lastLink('slow', { kind: 'kubelet-at-work', node, note }, look.now - due >= LATE_MS)]
}

/**
 * What refuses the kubelet's writes: it tells that the containers have ended in the pod's status, and then deletes the pod a last time,
 * without a grace period.
 */
async function refusedEnd(look: Look, ref: ObjectRef, pod: Pod): Promise<readonly Link[]> {
  const kubelet = kubeletUsers(pod.spec?.nodeName ?? '')
  const untold = await refusalLinks(look, updateOf(ref, pod, 'status', kubelet))
  return untold.length > 0 || !hasEnded(pod.status) ? untold : deletionLinks(look, ref, pod, kubelet)
}

type Status = Pod['status']

/** Of sidecars, of init containers and of those of `kubectl debug` too: a pod does not end before them. */
const statusesOf = (status: Status) => [
  ...(status?.containerStatuses ?? []),
  ...(status?.initContainerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
]

const runningContainers = (status: Status): string[] =>
  statusesOf(status)
    .filter(({ state }) => state?.running !== undefined)
    .map(({ name }) => `container ${name}`)

/** What is told of its containers: one that waits has not ended, and may never have run. */
function runWords(status: Status): string {
  const left = runningContainers(status)
  if (left.length > 0) return `, and ${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} still said to run`
  if (allEndedAt(status) !== undefined) return ', and all containers have ended'
  const hasRun = statusesOf(status).some(
    ({ state, lastState }) => (state?.terminated ?? lastState?.terminated) !== undefined,
  )
  return hasRun ? ', and no container is said to run' : ', and no container is said to have started'
}

/** When the last of its containers ended; undefined: one has not, or that is not told. */
function allEndedAt(status: Status): number | undefined {
  if ((status?.containerStatuses ?? []).length === 0) return undefined
  const ends = statusesOf(status).map(({ state }) => timeOf(state?.terminated?.finishedAt))
  return ends.some(Number.isNaN) ? undefined : Math.max(...ends)
}

const hasEnded = (status: Status): boolean =>
  runningContainers(status).length === 0 || status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** A node that says nothing, or is gone: only its kubelet can tell that a container has ended. */
export async function silentNode(look: Look, name: string, on: string): Promise<Link | undefined> {
  const { reader, now } = look
  const [read, leaseRead] = await Promise.all([
    reader.get(NODES, '', name),
    reader.get(LEASES, 'kube-node-lease', name),
  ])
  // Pods of a node that is no more are removed by force; without the collector they stay.
  if (read.state === 'missing')
    return (
      (await collected(look, on, `node ${name} does not exist`, 'it removes pods of nodes that are gone')) ??
      lastLink('nobody', { kind: 'missing-node', node: name })
    )
  if (read.state !== 'found') return undefined
  const node = read.value as Node
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  const lease = foundOf(leaseRead) as Lease | undefined
  const renewed = lease?.spec?.renewTime
  const isSilent = renewed !== undefined && now - timeOf(renewed) > SILENT_MS
  if (ready?.status === 'True' && !isSilent) return undefined
  if (ready === undefined && !isSilent && renewed !== undefined) return undefined
  // A node that is not ready but speaks ends its pods all the same.
  if (ready?.status === 'False' && !isSilent && renewed !== undefined) return undefined
  return lastLink('nobody', {
    kind: 'silent-node',
    node: name,
    since: (isSilent ? renewed : (ready?.lastHeartbeatTime ?? ready?.lastTransitionTime)) ?? '',
    message:
      ready?.status === 'True'
        ? 'its lease is no longer renewed'
        : `${ready?.reason ?? 'it has never reported'}: ${asTold(ready?.message ?? '')}`,
  })
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'

/** Of a node that is not ready and was tainted as out of service deleted pods are removed by force. */
async function podsOfSilentNode(look: Look, name: string, on: string): Promise<Link | undefined> {
  const silent = await silentNode(look, name, on)
  if (silent === undefined || !('cause' in silent) || silent.cause.kind !== 'silent-node') return silent
  const node = foundOf(await look.reader.get(NODES, '', name)) as Node | undefined
  if (node?.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) !== true) return silent
  const because = `node ${name} is silent and out of service`
  return (
    (await collected(look, on, because, 'it removes deleted pods of nodes that are not ready and out of service')) ??
    silent
  )
}

/** The pod garbage collector, where it is there. */
async function collected(look: Look, on: string, because: string, evidence: string): Promise<Link | undefined> {
  const collector = await componentLink(look, 'kube-controller-manager', 'pod garbage collector', on)
  if (!('verdict' in collector) || collector.verdict !== 'slow') return undefined
  const name = `pod garbage collector (${because})`
  return lastLink('slow', { kind: 'controller-at-work', controller: { name, as: 'component', evidence }, on })
}

/** Fields by which custom resources tell the node whose agent cares for them. */
const NODE_FIELDS = ['nodeName', 'nodeID', 'node', 'ownerID'] as const

/** A node that a custom resource is said to be on, and that is silent or gone: an agent there has to take it down. */
export async function agentLinks(look: Look, ref: ObjectRef, object: KubeObject): Promise<readonly Link[]> {
  if (isKubernetes(ref.group)) return []
  const { spec, status } = object as SpecAndStatus
  const named = NODE_FIELDS.flatMap((field) => [asText(asObject(status)[field]), asText(asObject(spec)[field])])
  const [name] = named.filter((one) => one !== '')
  if (name === undefined) return []
  const read = await look.reader.get(NODES, '', name)
  if (read.state !== 'found') return []
  const silent = await silentNode(look, name, kubectlName(ref))
  return silent !== undefined && 'verdict' in silent && silent.cause.kind === 'silent-node'
    ? [lastLink(silent.verdict, { ...silent.cause, what: kubectlName(ref) }, true)]
    : []
}

/** A node that speaks and says of itself that it is not ready: what it says, a container runtime that is down, keeps it from ending pods. */
async function unwellNode({ reader }: Look, name: string): Promise<Link | undefined> {
  const node = foundOf(await reader.get<Node>(NODES, '', name))
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'False') return undefined
  const { reason = '', lastTransitionTime: at } = ready
  const message = asTold(ready.message ?? '')
  const what = TROUBLES.find(([, pattern]) => pattern.test(message))?.[0] ?? 'other'
  const cause = {
    kind: 'kubelet-failing',
    node: name,
    what,
    reason,
    message,
    ...(at === undefined ? {} : { at }),
  } as const
  return lastLink('refused', cause, true)
}

type Trouble = (Cause & { kind: 'kubelet-failing' })['what']

/** What kubelets say when they cannot end a pod: the first pattern that fits tells which part fails. */
const TROUBLES: readonly (readonly [Trouble, RegExp])[] = [
  ['volume', /unmount|teardown|device is busy|target is busy|volume.*(still|in use)|FailedUnMount|FailedUnmapDevice/i],
  [
    'runtime',
    /shim|ttrpc|PLEG|containerd\.sock|connection error|runtime.*(not ready|is down|unavailable|not responding)|task .*not found|DeadlineExceeded.*(StopContainer|runtime service)/i,
  ],
  ['sandbox', /sandbox|cni|network plugin|teardown.*network|networkPlugin/i],
  ['container', /kill|stop.*container|unkillable|did not (exit|terminate)|is running after/i],
]

async function kubeletFailure(look: Look, ref: ObjectRef, node: string, since: number): Promise<Link | undefined> {
  const warnings = (await warningsAbout(look, ref)).filter(
    ({ at, reason, message }) =>
      !(timeOf(at) < since - 1000) && (ENDING.test(reason) || TROUBLES.some(([, pattern]) => pattern.test(message))),
  )
  const [warning] = warnings
  if (warning === undefined) return undefined
  const { reason, message, at } = warning
  const what = TROUBLES.find(([, pattern]) => pattern.test(`${reason} ${message}`))?.[0] ?? 'other'
  return lastLink('refused', { kind: 'kubelet-failing', node, what, reason, message, ...(at === '' ? {} : { at }) })
}

const ENDING =
  /^(FailedKillPod|FailedPreStopHook|ExceededGracePeriod|FailedUnMount|FailedUnmount|FailedKillPodSandbox|KillPodSandboxError|FailedSync)$/
