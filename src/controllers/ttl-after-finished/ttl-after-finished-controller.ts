/** The TTL-after-finished controller: deletes jobs ttlSecondsAfterFinished after their end. The controller manager starts it. */
import type { Job } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { exponentialBuckets } from '../../base/metrics.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { jobsResource, trueCondition } from '../job/job.ts'

const workers = 5

export function createTtlAfterFinishedController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const jobs = informers.informer<Job>(jobsResource)
  const queue = createWorkQueue<string>(runtime, 'ttl_jobs_to_delete')
  const lateness = runtime.metrics
    ?.histogram(
      'ttl_after_finished_controller_job_deletion_duration_seconds',
      'Seconds from when the time of a job was over until it was deleted.',
      [],
      exponentialBuckets(0.1, 2, 14),
    )
    .child()
  const leftMs = (job: Job): number | undefined => {
    const end = expiryOf(job)
    return end === undefined ? undefined : end - runtime.clock.now()
  }
  const enqueue = (job: Job) => {
    const left = leftMs(job)
    if (left !== undefined && job.metadata.deletionTimestamp === undefined) queue.addAfter(objectKey(job), left)
  }

  async function sync(key: string): Promise<void> {
    const cached = jobs.store.get(key)
    if (cached === undefined || !isDue(cached)) return
    const { namespace, name } = splitKey(key)
    const resource = client.resource<Job>(jobsResource).namespace(namespace)
    try {
      // The time may have been changed a moment ago.
      const job = await resource.get(name)
      if (!isDue(job)) return
      const { uid = '' } = job.metadata
      await resource.delete(name, { propagationPolicy: 'Foreground', preconditions: { uid } })
      lateness?.observe(-(leftMs(job) ?? 0) / 1000)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  function isDue(job: Job): boolean {
    const left = leftMs(job)
    if (left === undefined || job.metadata.deletionTimestamp !== undefined) return false
    if (left > 0) queue.addAfter(objectKey(job), left)
    return left <= 0
  }

  return {
    name: 'ttl-after-finished-controller',
    async start() {
      jobs.addHandlers({ added: enqueue, updated: (_, job) => enqueue(job) })
      await jobs.whenSynced(signal)
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

/** Milliseconds since the epoch; undefined while it runs, or when it is to stay. */
function expiryOf(job: Job): number | undefined {
  const ttl: number | undefined = job.spec?.ttlSecondsAfterFinished
  const end = trueCondition(job, 'Complete') ?? trueCondition(job, 'Failed')
  return ttl === undefined || end === undefined ? undefined : Date.parse(end.lastTransitionTime ?? '') + ttl * 1000
}
