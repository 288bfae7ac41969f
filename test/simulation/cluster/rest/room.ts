/** Whether a pod that was not scheduled has a reason to wait: no node has room, not even where pods of lower priority stand. */
import type { KubeObject } from '../../../../src/api/object.ts'
import type { Truth } from '../truth.ts'

export function hasRoom(truth: Truth, pod: KubeObject): boolean {
  const all = truth.list('pods')
  return truth.list('nodes').some((node) => {
    const there = all.filter(
      (other) =>
        other['spec'].nodeName === node.metadata.name &&
        !['Succeeded', 'Failed'].includes(other['status'].phase) &&
        priorityOf(other) >= priorityOf(pod),
    )
    const taken = there.reduce((sum, other) => sum + cpuOf(other), 0)
    return taken + cpuOf(pod) <= Number(node['status'].allocatable.cpu)
  })
}

const priorityOf = (pod: KubeObject): number => pod['spec'].priority ?? 0

/** Whole CPUs: this simulation asks for no parts of one. */
const cpuOf = (pod: KubeObject): number =>
  (pod['spec'].containers as readonly { resources?: { requests?: { cpu?: string } } }[]).reduce(
    (sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0),
    0,
  )
