/** How many pods of a DaemonSet's rolling update may be there too many, and how many missing. Pure. */
import type { DaemonSet, RollingUpdateDaemonSet } from '../../api/generated/types.ts'
import { scaled } from '../int-or-percent.ts'

export interface Limits {
  readonly surge: number
  readonly unavailable: number
}

/** maxSurge and maxUnavailable as numbers of the desired nodes. Where both come to zero, maxUnavailable is one: otherwise no update would go on. */
export function limitsOf(set: DaemonSet, desired: number): Limits {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return { surge: 0, unavailable: 0 }
  const rolling: RollingUpdateDaemonSet = rollingUpdate ?? {}
  const surge = scaled(rolling.maxSurge, desired)
  const unavailable = scaled(rolling.maxUnavailable ?? 1, desired)
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}
