/** What a job's podFailurePolicy says to a failed pod (KEP-3329). Pure. */
import type {
  Job,
  Pod,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
} from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'

export interface PolicyVerdict {
  readonly action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count'
  /** Whether the pod counts against a backoff limit. */
  readonly counts: boolean
  /** Why the job has failed, for FailJob. */
  readonly message?: string
}

/** The verdict of the first rule that matches; undefined when none does: the pod counts. */
export function policyVerdict(job: Job, pod: Pod): PolicyVerdict | undefined {
  const rules = job.spec?.podFailurePolicy?.rules ?? []
  for (const [at, rule] of rules.entries()) {
    const action: string = rule.action
    if (action === 'FailIndex' && job.spec?.backoffLimitPerIndex === undefined) continue
    const why = rule.onExitCodes
      ? exitCodeMatch(rule.onExitCodes, pod)
      : conditionMatch(rule.onPodConditions ?? [], pod)
    if (why === undefined) continue
    if (action === 'FailJob') return { action, counts: true, message: `${why} matching FailJob rule at index ${at}` }
    if (action === 'Ignore') return { action, counts: false }
    if (action === 'FailIndex' || action === 'Count') return { action, counts: true }
  }
  return undefined
}

/** Whether a failed pod counts against a backoff limit. */
export const countsAsFailed = (job: Job, pod: Pod): boolean => policyVerdict(job, pod)?.counts ?? true

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

function exitCodeMatch(
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
  pod: Pod,
): string | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  for (const { name, state } of [...containerStatuses, ...initContainerStatuses]) {
    const exitCode: number | undefined = state?.terminated?.exitCode
    if (!exitCode || (containerName !== undefined && containerName !== name)) continue
    const listed = (values as readonly number[]).includes(exitCode)
    if (operator === 'In' ? listed : !listed)
      return `Container ${name} for pod ${nameOf(pod)} failed with exit code ${exitCode}`
  }
  return undefined
}

function conditionMatch(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], pod: Pod): string | undefined {
  const conditions = pod.status?.conditions ?? []
  const found = conditions.find(({ type, status }) =>
    patterns.some((pattern) => pattern.type === type && (pattern.status ?? 'True') === status),
  )
  return found && `Pod ${nameOf(pod)} has condition ${found.type}`
}
