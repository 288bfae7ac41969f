/** What becomes of a job that is due while others of its CronJob run still (API concept: concurrencyPolicy). */
import type { CronJobSpec } from '../../api/generated/types.ts'

/** `skip`: it is not made. `replace`: those that run are deleted first. */
export type DueBesideActive = 'start' | 'skip' | 'replace'

export function dueBesideActive(policy: CronJobSpec['concurrencyPolicy'], active: number): DueBesideActive {
  if (policy === 'Forbid') return active > 0 ? 'skip' : 'start'
  return policy === 'Replace' ? 'replace' : 'start'
}
