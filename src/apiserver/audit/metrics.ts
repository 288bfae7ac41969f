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
  /** An event was lost, by the one that is named. */
  failed(plugin: string): void
  /** A request was refused since its event was lost. */
  refused(): void
}

export function auditMetrics({ metrics }: Pick<Runtime, 'metrics'>): AuditMetrics {
  if (metrics === undefined) return { judged() {}, told() {}, failed() {}, refused() {} }
  const levels = metrics.counter('apiserver_audit_level_total', 'Requests by the level they are audited at.', ['level'])
  const events = metrics.counter('apiserver_audit_event_total', 'Audit events sent to the log.').child()
  const errors = metrics.counter('apiserver_audit_error_total', 'Audit events that were not written.', ['plugin'])
  const rejected = metrics
    .counter('apiserver_audit_requests_rejected_total', 'Requests refused since their audit event was lost.')
    .child()
  const byLevel = new Map<AuditLevel, Counted>()
  return {
    judged(level) {
      const counter = getOrInsertComputed(byLevel, level, () => levels.child(level))
      counter.add()
    },
    told: () => events.add(),
    failed: (plugin) => errors.child(plugin).add(),
    refused: () => rejected.add(),
  }
}
