/** What a controller of sets of pods (DaemonSet, StatefulSet) listens to: its sets, and their pods. */
import type { DaemonSet, Pod, StatefulSet } from '../../api/generated/types.ts'
import type { Informer } from '../../client/informer.ts'
import { indexNamespace, namespaceIndex, objectKey } from '../../client/store.ts'
import type { WorkQueue } from '../../client/work-queue.ts'
import type { Expectations } from './expectations.ts'
import { minReadySecondsOf } from './min-ready-seconds.ts'
import { podHandlers } from './owned-pods.ts'
import { ownerIndex, ownerIndexName } from './pod.ts'

type SetOfPods = DaemonSet | StatefulSet

export interface SetsOfPods {
  readonly kind: string
  readonly sets: Informer<SetOfPods>
  readonly pods: Informer<Pod>
  readonly queue: WorkQueue<string>
  readonly expectations: Expectations
  selects(set: SetOfPods, pod: Pod): boolean
}

/** Each change of a set or of its pods queues the set; what was expected of it and has come is taken note of. */
export function watchSetsOfPods({ kind, sets, pods, queue, expectations, selects }: SetsOfPods): void {
  const enqueue = (set: SetOfPods) => queue.add(objectKey(set))
  pods.addIndex(ownerIndexName, ownerIndex)
  sets.addIndex(namespaceIndex, indexNamespace)
  sets.addHandlers({
    added: enqueue,
    updated(old, set) {
      if (old.metadata.uid !== set.metadata.uid) expectations.forget(old)
      enqueue(set)
    },
    deleted(set) {
      expectations.forget(set)
      enqueue(set)
    },
  })
  pods.addHandlers(
    podHandlers({
      kind,
      store: sets.store,
      selects,
      changed: enqueue,
      created: (set) => expectations.creationObserved(set),
      goes: (set, pod) => expectations.deletionObserved(set, objectKey(pod)),
      becameReady(set) {
        const seconds = minReadySecondsOf(set)
        if (seconds > 0) queue.addAfter(objectKey(set), (seconds + 1) * 1000)
      },
    }),
  )
}
