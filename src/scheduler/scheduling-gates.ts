/** Plugins SchedulingGates (API concept: pod scheduling readiness) and DynamicResources, as far as they keep a pod from being looked at. */
import type { Pod } from '../api/generated/types.ts'
import type { PodInfo } from './pod-info.ts'
import type { Refuser } from './queueing-hints.ts'

/**
 * What keeps a pod out of the queue, by the plugin's name; undefined: nothing. `heedsGates`: whether the pod's profile does;
 * `lacksClaims`: claims for devices that it names are not there yet.
 */
export function createGates(
  heedsGates: (pod: Pod) => boolean,
  lacksClaims: (pod: Pod) => boolean,
): (info: PodInfo) => Refuser | undefined {
  return ({ pod }) => {
    if ((pod.spec?.schedulingGates?.length ?? 0) > 0 && heedsGates(pod)) return 'SchedulingGates'
    return lacksClaims(pod) ? 'DynamicResources' : undefined
  }
}
