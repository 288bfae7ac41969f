/** The pods of a node as their kubelet knows them: each with the newest status, told to the API server or not; and what becomes of them. */
import type { PodStatus } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { namespaceOf, type Pod, uidOf } from '../pod.ts'

/** `DELETED`: the name, namespace and uid alone. */
export interface PodEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly pod: Pod
}

export interface PodViews {
  list(): readonly Pod[]
  get(uid: string): Pod | undefined
  /** What becomes of the pods of `list`, in the order in which it happens, until the answer is called. Another is added once this kubelet has a status for it. */
  watch(take: (event: PodEvent) => void): () => void
  /** The pod or its status may be another. */
  changed(uid: string): void
}

export interface PodViewsOptions {
  readonly pods: { get(uid: string): Pod | undefined; list(): Iterable<Pod> }
  /** Undefined: as the API server has it. */
  readonly status: (uid: string) => PodStatus | undefined
}

interface Seen {
  /** Its own status is that of the API server. */
  readonly pod: Pod
  readonly status: PodStatus | undefined
}

const isEqual = (a: object | undefined, b: object | undefined) => a === b || sameJson(a ?? null, b ?? null)
/** Its own status is not what is told. */
const isSame = (a: Seen, b: Seen) =>
  isEqual(a.pod.metadata, b.pod.metadata) && isEqual(a.pod.spec, b.pod.spec) && isEqual(a.status, b.status)

export function createPodViews({ pods, status: statusOf }: PodViewsOptions): PodViews {
  /** Each with what it knows, by uid: one that came later was told of a pod that another still waits for. */
  const watchers = new Map<(event: PodEvent) => void, Map<string, Seen>>()

  const look = (pod: Pod): Seen => ({ pod, status: statusOf(uidOf(pod)) ?? pod.status })
  const view = ({ pod, status }: Seen): Pod => (status === undefined ? pod : { ...pod, status })

  return {
    list: () => [...pods.list()].map((pod) => view(look(pod))),
    get(uid) {
      const pod = pods.get(uid)
      return pod && view(look(pod))
    },
    watch(take) {
      watchers.set(take, new Map([...pods.list()].map((pod) => [uidOf(pod), look(pod)])))
      return () => void watchers.delete(take)
    },
    changed(uid) {
      const pod = pods.get(uid)
      if (watchers.size === 0) return
      const now = pod && look(pod)
      const hasStatus = statusOf(uid) !== undefined
      for (const [take, seen] of watchers) {
        const before = seen.get(uid)
        if (now === undefined) {
          seen.delete(uid)
          if (before !== undefined) take({ type: 'DELETED', pod: nameAlone(before.pod) })
        } else if (before === undefined ? hasStatus : !isSame(before, now)) {
          seen.set(uid, now)
          take({ type: before === undefined ? 'ADDED' : 'MODIFIED', pod: view(now) })
        }
      }
    },
  }
}

function nameAlone(pod: Pod): Pod {
  const { kind, apiVersion, metadata } = pod
  return { kind, apiVersion, metadata: { name: metadata.name ?? '', namespace: namespaceOf(pod), uid: uidOf(pod) } }
}
