/** What audit tells of itself, under kube-apiserver's names; nothing where nobody reads it. */
import type { Counted } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Level } from './policy.ts'

export interface AuditMetrics {
  /** The policy has said at which level a request is audited. */
  judged(level: Level): void
  /** An event goes to the log. */
  told(): void
  /** An event could not be written. */
  failed(): void
}

export function auditMetrics({ metrics }: Pick<Runtime, 'metrics'>): AuditMetrics {
  if (metrics === undefined) return { judged() {}, told() {}, failed() {} }
  const levels = metrics.counter('apiserver_audit_level_total', 'Requests by the level they are audited at.', ['level'])
  const events = metrics.counter('apiserver_audit_event_total', 'Audit events sent to the log.').child()
  const errors = metrics.counter('apiserver_audit_error_total', 'Audit events that were not written.', ['plugin'])
  const byLevel = new Map<Level, Counted>()
  return {
    judged(level) {
      let counter = byLevel.get(level)
      if (counter === undefined) {
        counter = levels.child(level)
        byLevel.set(level, counter)
      }
      counter.add()
    },
    told: () => events.add(),
    failed: () => errors.child('log').add(),
  }
}
