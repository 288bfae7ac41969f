/** How often a configuration file was read again, under the names kube-apiserver uses. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { identityName } from '../apiserver/loops/identity.ts'
import type { Runtime } from '../base/runtime.ts'

/** Told of each reading: whether what was found is used. */
export function reloadMetrics(
  { metrics, clock }: Runtime,
  what: 'authentication' | 'authorization' | 'encryption',
): (used: boolean) => void {
  if (metrics === undefined) return () => {}
  const prefix = `apiserver_${what}_config_controller_automatic_reload`
  const labels = ['apiserver_id_hash', 'status']
  const total = metrics.counter(`${prefix}s_total`, `Readings of a changed ${what} configuration by status.`, labels)
  const last = metrics.gauge(`${prefix}_last_timestamp_seconds`, 'When that was last, by status.', labels)
  const id = idHash()
  return (used) => {
    const status = used ? 'success' : 'failure'
    total.child(id, status).add()
    last.child(id, status).set(clock.now() / 1000)
  }
}

/** Tells by its hash which text is the configuration in use. */
export function configurationInUse({ metrics }: Runtime, what: 'encryption', text: () => string): void {
  const id = idHash()
  metrics?.sampled(
    `apiserver_${what}_config_controller_last_config_info`,
    `The ${what} configuration in use, by its hash.`,
    ['apiserver_id_hash', 'hash'],
    () => [[1, id, sha256(text())]],
  )
}

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
/** What this server is called in metrics. */
export const idHash = (): string => sha256(identityName(hostname()))
