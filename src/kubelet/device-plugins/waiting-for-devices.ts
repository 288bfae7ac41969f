/** Pods that a node takes and that begin once the plugins have given them their devices. */

import { type Pod, uidOf } from '../pod.ts'
import type { AdmissionRefusal } from '../pod-admission.ts'
import type { DevicePlugins } from './device-plugins.ts'

export interface WaitingForDevices {
  has(uid: string): boolean
  /** Begins the pod, at once where it asks for no devices. */
  begin(pod: Pod): void
  forget(uid: string): void
}

export interface WaitingForDevicesOptions {
  /** Absent on a node without plugins. */
  readonly devices: Pick<DevicePlugins, 'isReserved' | 'allocate'> | undefined
  /** As it is now, if it is still there. */
  readonly pod: (uid: string) => Pod | undefined
  readonly signal: AbortSignal
  readonly start: (pod: Pod) => void
  readonly reject: (pod: Pod, refusal: AdmissionRefusal) => void
}

export function createWaitingForDevices({
  devices,
  pod: podOf,
  signal,
  start,
  reject,
}: WaitingForDevicesOptions): WaitingForDevices {
  const waiting = new Set<string>()
  return {
    has: (uid) => waiting.has(uid),
    begin(pod) {
      const uid = uidOf(pod)
      if (devices?.isReserved(uid) !== true) return start(pod)
      waiting.add(uid)
      void devices.allocate(pod).then((refused) => {
        const now = podOf(uid)
        if (!waiting.delete(uid) || now === undefined || signal.aborted) return
        if (refused === undefined) start(now)
        else reject(now, refused)
      })
    },
    forget: (uid) => void waiting.delete(uid),
  }
}
