/** Events of how the node is, in the words of the kubelet: at its start, and when that changes. */
import type { Node, NodeStatus } from '../api/generated/types.ts'
import type { NodeEvents } from './node-events.ts'

/** The API server has taken a status. `before`: what it had until then; undefined where there was no Node. */
export type StatusTold = (before: Node | undefined, now: Node) => void

const PRESSURES: readonly (readonly [type: string, under: string, relieved: string])[] = [
  ['MemoryPressure', 'NodeHasInsufficientMemory', 'NodeHasSufficientMemory'],
  ['DiskPressure', 'NodeHasDiskPressure', 'NodeHasNoDiskPressure'],
  ['PIDPressure', 'NodeHasInsufficientPID', 'NodeHasSufficientPID'],
]

const statusOf = (status: NodeStatus | undefined, type: string): string | undefined =>
  status?.conditions?.find((one) => one.type === type)?.status

export function createConditionEvents(events: NodeEvents, nodeName: string): StatusTold {
  let isFirst = true
  let wasSchedulable: boolean | undefined
  return (before, now) => {
    const tell = (reason: string) => events.normal(reason, `Node ${nodeName} status is now: ${reason}`, now)
    for (const [type, under, relieved] of PRESSURES) {
      const status = statusOf(now.status, type)
      if (isFirst || status !== statusOf(before?.status, type)) tell(status === 'True' ? under : relieved)
    }
    const ready = statusOf(now.status, 'Ready')
    if (ready !== statusOf(before?.status, 'Ready')) tell(ready === 'True' ? 'NodeReady' : 'NodeNotReady')
    const isSchedulable = now.spec?.unschedulable !== true
    if (wasSchedulable !== undefined && isSchedulable !== wasSchedulable)
      tell(isSchedulable ? 'NodeSchedulable' : 'NodeNotSchedulable')
    wasSchedulable = isSchedulable
    const booted = before?.status?.nodeInfo?.bootID ?? ''
    const bootId = now.status?.nodeInfo?.bootID ?? ''
    if (isFirst && booted !== '' && booted !== bootId)
      events.warning('Rebooted', `Node ${nodeName} has been rebooted, boot id: ${bootId}`, now)
    isFirst = false
  }
}
