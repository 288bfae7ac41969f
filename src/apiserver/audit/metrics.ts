/** What audit tells of itself, under kube-apiserver's names; nothing where no metrics are kept. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { Counted } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { AuditLevel } from './policy.ts'

export interface AuditMetrics {
  /** The policy has said at which level a request is audited. */
  judged(level: AuditLevel): void
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
  const byLevel = new Map<AuditLevel, Counted>()
  return {
    judged(level) {
      const counter = getOrInsertComputed(byLevel, level, () => levels.child(level))
      counter.add()
    },
    told: () => events.add(),
    failed: () => errors.child('log').add(),
  }
}
