/** A node whose machine's shutdown is held up by way of its logind. */
import type { Runtime } from '../../base/runtime.ts'
import { connectLogind } from './logind.ts'
import type { ShutdownOptions } from './node-shutdown.ts'
import type { ShutdownGroup } from './shutdown-groups.ts'
import { shutdownRecord } from './shutdown-record.ts'

/**
 * Of a node with no groups nothing. `file`: where the times of the last shutdown are kept; `override`: another than a kubelet's own, which tells
 * logind how long it is to wait.
 */
export function shutdownByLogind(
  { machineClock }: Runtime,
  groups: readonly ShutdownGroup[] = [],
  file?: string,
  override?: string,
): { readonly shutdown?: ShutdownOptions } {
  if (groups.length === 0) return {}
  return {
    shutdown: {
      groups,
      connect: (handlers) =>
        connectLogind(handlers, { clock: machineClock, ...(override === undefined ? {} : { override }) }),
      ...(file === undefined ? {} : { record: shutdownRecord(file) }),
    },
  }
}
