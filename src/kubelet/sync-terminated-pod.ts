/** syncTerminatedPod: the pod's final status, and the end of what was held for it. */
import { type Pod, uidOf } from './pod.ts'
import { makeStatus, type SyncParts } from './sync-pod.ts'

export async function syncTerminatedPod(parts: SyncParts, pod: Pod): Promise<void> {
  const { statuses, volumes, references, machine, volumeWork } = parts
  statuses.set(pod, makeStatus(parts, pod, true))
  const writing = volumes.end(uidOf(pod))
  if (writing !== undefined) await writing
  volumes.forget(uidOf(pod))
  references.ended(pod)
  const release = async () => machine?.release(uidOf(pod))
  await (volumeWork === undefined ? release() : volumeWork.unmounting(uidOf(pod), release))
  statuses.terminate(pod)
}
