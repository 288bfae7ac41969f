/** Jobs at rest: they have come to an end, each pod is counted, and none is held for counting any more. */
import type { Fields, KubeObject } from '../../../../src/api/object.ts'
import { describe, isMarked } from '../laws/laws.ts'
import { isControlledBy } from '../ownership.ts'
import type { Truth } from '../truth.ts'

export const TRACKING = 'batch.kubernetes.io/job-tracking'

export const isTracked = (pod: KubeObject): boolean => pod.metadata.finalizers?.includes(TRACKING) ?? false

const ended = (job: KubeObject, type: string): boolean =>
  (job['status']?.conditions ?? []).some((one: Fields) => one['type'] === type && one['status'] === 'True')

export function checkJob(truth: Truth, failed: (problem: string) => void, job: KubeObject): void {
  const { spec, status = {} } = job
  const what = describe(job)
  const pods = truth.list('pods').filter((pod) => isControlledBy(pod, job))
  const complete = ended(job, 'Complete')
  if (!complete && !ended(job, 'Failed')) failed(`${what} has not come to an end: ${JSON.stringify(status)}`)
  if (complete && ended(job, 'Failed')) failed(`${what} is complete and has failed`)
  if (complete && (status.succeeded ?? 0) < spec.completions)
    failed(`${what} is complete with ${status.succeeded} of ${spec.completions}`)
  if (complete && (status.failed ?? 0) > spec.backoffLimit)
    failed(`${what} is complete after ${status.failed} failures`)
  const { succeeded = [], failed: lost = [] }: Record<string, readonly string[]> = status.uncountedTerminatedPods ?? {}
  if (succeeded.length + lost.length > 0) failed(`${what} has not counted ${[...succeeded, ...lost]}`)
  const active = pods.filter((pod) => !isMarked(pod) && !['Succeeded', 'Failed'].includes(pod['status'].phase)).length
  if ((status.active ?? 0) !== 0 || active !== 0)
    failed(`${what} has come to an end, tells of ${status.active ?? 0} active pods and has ${active}`)
}

/** A pod is held for counting only until it has ended, and while its job is there, and has not ended, to count it. */
export function checkTracking(truth: Truth, failed: (problem: string) => void, pod: KubeObject): void {
  if (!isTracked(pod)) return
  const job = truth.list('jobs').find((one) => isControlledBy(pod, one) && !isMarked(one))
  const counts = job !== undefined && !ended(job, 'Complete') && !ended(job, 'Failed')
  if (!counts || ['Succeeded', 'Failed'].includes(pod['status'].phase))
    failed(`${describe(pod)} is still held by ${TRACKING}`)
}
