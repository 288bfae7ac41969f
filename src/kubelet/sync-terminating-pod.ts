/** syncTerminatingPod: tells that the pod ends, kills it, and makes sure that nothing of it runs any more. */

import { messageOf } from '../base/errors.ts'
import { type Pod, uidOf } from './pod.ts'
import { SyncError } from './sync-error.ts'
import { makeStatus, type SyncParts } from './sync-pod.ts'

/** @throws SyncError when a container still runs, or a driver does not take its devices back */
export async function syncTerminatingPod(parts: SyncParts, pod: Pod, graceSeconds: number | undefined): Promise<void> {
  const { cache, pleg, statuses, probes, killer, deviceClaims, deadlines } = parts
  const uid = uidOf(pod)
  statuses.set(pod, makeStatus(parts, pod, false))
  probes.stopLivenessAndStartup(uid)
  // A runtime that does not answer is asked to kill what it told of last, and it is told that this failed.
  const status = await pleg.relistPod(uid).catch(() => cache.get(uid))
  await killer.killPod(pod, status, graceSeconds)
  probes.forget(uid)
  const { containers } = await pleg.relistPod(uid)
  const running = containers.filter(({ state }) => state === 'running').map(({ metadata }) => metadata.name)
  if (running.length > 0) throw new SyncError(`containers still run: ${running.join(', ')}`)
  // Before it is told that the pod has ended: its claims may be given to another one then.
  await deviceClaims.unprepare(uid).catch((error: unknown) => {
    throw new SyncError(`devices are not taken back: ${messageOf(error)}`, undefined, { cause: error })
  })
  // The status is told by syncTerminatedPod, which follows; a kubelet makes one here too, and each tells of a deadline that has passed.
  deadlines.tellPassed(pod, statuses.get(uid) ?? {})
}
