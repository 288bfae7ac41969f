/** How long a kubelet's work on control groups takes, by what is done: of pods that begin, go on, and are gone. */
import type { Runtime } from '../../base/runtime.ts'
import type { Cgroups } from '../machine/cgroups.ts'
import { uidOf } from '../pod.ts'
import { SECONDS } from '../work-metrics.ts'

export function countedCgroups({ clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>, cgroups: Cgroups): Cgroups {
  if (metrics === undefined) return cgroups
  const name = 'kubelet_cgroup_manager_duration_seconds'
  const took = metrics.histogram(name, 'Seconds that work on control groups took.', ['operation_type'], SECONDS)
  const timed = (operation: string, work: () => void) => {
    const began = clock.monotonic()
    try {
      work()
    } finally {
      took.child(operation).observe((clock.monotonic() - began) / 1000)
    }
  }
  /** Pods whose groups were there or made before. */
  const made = new Set(cgroups.known())
  return {
    ...cgroups,
    make(pod, hasOwnCpus) {
      timed(made.has(uidOf(pod)) ? 'update' : 'create', () => cgroups.make(pod, hasOwnCpus))
      made.add(uidOf(pod))
    },
    remove(uid) {
      timed('destroy', () => cgroups.remove(uid))
      made.delete(uid)
    },
  }
}
