/** How many CPUs a container is given for itself: whole ones, of a pod that is Guaranteed by what its containers ask for. */
import { qosClass } from '../../api/objects/qos.ts'
import { quantityMilliValue } from '../../api/values/quantity.ts'
import { type Container, initContainersOf, isSidecar, type Pod, specOf } from '../pod.ts'

/** What a pod asks for as a whole is not given to its containers one by one. */
export function hasPodLevelResources(pod: Pod): boolean {
  const { requests = {}, limits = {} } = specOf(pod).resources ?? {}
  return Object.keys(requests).length + Object.keys(limits).length > 0
}

export function exclusiveCpus(pod: Pod, { resources }: Container): number {
  if (qosClass(specOf(pod)) !== 'Guaranteed' || hasPodLevelResources(pod)) return 0
  const milli = Number(quantityMilliValue(resources?.requests?.['cpu'] ?? resources?.limits?.['cpu'] ?? '0'))
  return milli % 1000 === 0 ? milli / 1000 : 0
}

/** At its highest: init containers come before the others, and sidecars stay beside all that follow. */
export function highestSum(pod: Pod, amountOf: (container: Container) => number): number {
  let sidecars = 0
  let highest = 0
  for (const container of initContainersOf(pod)) {
    const own = amountOf(container)
    highest = Math.max(highest, sidecars + own)
    if (isSidecar(container)) sidecars += own
  }
  return Math.max(highest, sidecars + specOf(pod).containers.reduce((sum, one) => sum + amountOf(one), 0))
}
