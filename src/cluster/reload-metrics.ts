/** How often a configuration file was read again, under the names kube-apiserver uses. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { identityName } from '../apiserver/loops/identity.ts'
import type { Runtime } from '../base/runtime.ts'

/** Told of each reading: whether what was found is used. */
export function reloadMetrics(
  { metrics, clock }: Runtime,
  what: 'authentication' | 'authorization',
): (used: boolean) => void {
  if (metrics === undefined) return () => {}
  const prefix = `apiserver_${what}_config_controller_automatic_reload`
  const labels = ['apiserver_id_hash', 'status']
  const total = metrics.counter(`${prefix}s_total`, `Readings of a changed ${what} configuration by status.`, labels)
  const last = metrics.gauge(`${prefix}_last_timestamp_seconds`, 'When that was last, by status.', labels)
  const id = `sha256:${createHash('sha256').update(identityName(hostname())).digest('hex')}`
  return (used) => {
    const status = used ? 'success' : 'failure'
    total.child(id, status).add()
    last.child(id, status).set(clock.now() / 1000)
  }
}
