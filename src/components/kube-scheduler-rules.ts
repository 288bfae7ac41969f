/** What kube-scheduler refuses of its command line as a whole, before it reads a file: in its words and in its order. */
import { flagsAsked, refuseAll } from './asked-flags.ts'
import {
  frontProxyProblems,
  judgeBeginning,
  metricsProblems,
  securePortProblems,
  versionProblems,
} from './common-rules.ts'
import type { FlagValues } from './flags.ts'
import { KUBE_SCHEDULER_FLAGS } from './kube-scheduler-flags.ts'

/** @throws FlagError with everything that is wrong */
export function judgeSchedulerLine(values: FlagValues): void {
  const asked = flagsAsked(KUBE_SCHEDULER_FLAGS, values)
  judgeBeginning(asked)
  refuseAll([
    ...versionProblems(asked),
    ...securePortProblems(asked),
    ...frontProxyProblems(asked),
    ...metricsProblems(asked),
  ])
}

/** The lock is made last of all, where no file says which it is. */
export function lockProblem(lock: string): string | undefined {
  const about = "couldn't create resource lock: "
  if (lock === 'leases') return undefined
  if (lock === 'endpoints' || lock === 'configmaps' || lock === 'endpointsleases')
    return `${about}${lock} lock is removed, migrate to leases`
  if (lock === 'configmapsleases') return `${about}${lock} lock is removed, migrated to leases`
  return `${about}Invalid lock-type ${lock}`
}
