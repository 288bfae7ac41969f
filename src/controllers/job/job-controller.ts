/**
 * The job controller: runs pods of a job's template until enough have succeeded or too many failed, and counts each once. The
 * controller manager starts it. It leaves jobs alone that another controller manages.
 */

import type { Job, JobCondition, JobStatus, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { formatTime } from '../../base/clock.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { indexNamespace, namespaceIndex, objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { claim } from '../pods/adopt-orphans.ts'
import { createExpectations } from '../pods/expectations.ts'
import {
  controllerOf,
  isActive,
  isReady,
  isTerminating,
  orphanIndexValue,
  ownerIndex,
  ownerIndexName,
  podsResource,
} from '../pods/pod.ts'
import { hasLimitPerIndex, indexBackoff } from './backoff-limit-per-index.ts'
import { endingOf, timeLeft } from './completion-and-backoff-limit.ts'
import { countAndRelease, removeTrackingFinalizer } from './finalizer-tracking.ts'
import {
  type Ending,
  isFinished,
  isIndexed,
  isJob,
  isManaged,
  isSuspended,
  isTracked,
  jobsResource,
  replacesOnlyFailed,
  trackingFinalizer,
  withJobCondition,
} from './job.ts'
import { type JobSyncAction, jobMetrics } from './job-metrics.ts'
import { createJobPodControl } from './job-pod-control.ts'
import { podOfJob } from './job-pods.ts'
import { createJobBackoff } from './pod-retry-delay.ts'
import { freeIndexes, isJobComplete, type JobProgress, misplaced, progressOf, wantedActive } from './progress.ts'
import { createReleases } from './released-finalizers.ts'
import { surplusPods } from './removal-order.ts'

const name = 'job-controller'
const workers = 5
/** What happens to a job's pods within a second is looked at once. */
const batchMs = 1000
const mostCreatedAtOnce = 500

/** What a sync has come to do. */
interface Work {
  action: JobSyncAction
}

export function createJobController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const now = () => runtime.clock.now()
  const jobs = informers.informer<Job>(jobsResource)
  const pods = informers.informer<Pod>(podsResource)
  pods.addIndex(ownerIndexName, ownerIndex)
  jobs.addIndex(namespaceIndex, indexNamespace)
  const queue = createWorkQueue<string>(runtime, 'job', { baseDelayMs: 1000, maxDelayMs: 60_000 })
  const orphans = createWorkQueue<string>(runtime, 'job_orphan_pod')
  const expectations = createExpectations(runtime.clock)
  const backoff = createJobBackoff()
  const ownWrites = createOwnWrites()
  const releases = createReleases()
  const told = jobMetrics(runtime)
  const recorder = createEventRecorder(runtime, client, { component: name })
  const podClient = client.resource<Pod>(podsResource)
  const jobClient = client.resource<Job>(jobsResource)
  const release = (pod: Pod) =>
    releases.release(pod, async () => {
      const latest = pods.store.get(objectKey(pod))
      if (latest !== undefined && latest.metadata.uid === pod.metadata.uid && !isTracked(latest)) return
      await removeTrackingFinalizer(podClient.namespace(pod.metadata.namespace ?? ''), pod)
    })
  const podControl = createJobPodControl(client, recorder, expectations, { release, told })

  function jobOf(pod: Pod): Job | undefined {
    const reference = controllerOf(pod)
    if (reference === undefined || !isJob(reference)) return undefined
    const job = jobs.store.get(`${pod.metadata.namespace}/${reference.name}`)
    return job?.metadata.uid === reference.uid ? job : undefined
  }
  function forget(job: Job): void {
    expectations.forget(job)
    backoff.forget(job.metadata.uid ?? '')
  }
  const isGoing = ({ metadata }: KubeObject) => metadata.deletionTimestamp !== undefined
  /** The job no longer counts them: nothing is to keep them. */
  function releasePods(job: Job): void {
    for (const pod of pods.store.byIndex(ownerIndexName, job.metadata.uid ?? ''))
      if (isTracked(pod)) orphans.add(objectKey(pod))
  }
  const later = (job: Job) => queue.addAfter(objectKey(job), batchMs)

  function podSeen(pod: Pod): void {
    const job = jobOf(pod)
    const owner = controllerOf(pod)
    if (isTracked(pod) && (job === undefined ? owner === undefined || isJob(owner) : isGoing(job)))
      orphans.add(objectKey(pod))
    if (job !== undefined) later(job)
    else if (owner === undefined) {
      for (const other of jobs.store.byIndex(namespaceIndex, pod.metadata.namespace ?? '')) {
        if (labelSelectorOf(other.spec?.selector).matches(pod.metadata.labels)) later(other)
      }
    }
  }
  const podAdded = (pod: Pod) => {
    told.podSeen(undefined, pod)
    releases.seen(pod, false)
    const job = jobOf(pod)
    if (job !== undefined) {
      expectations.creationObserved(job)
      if (pod.metadata.deletionTimestamp !== undefined) expectations.deletionObserved(job, objectKey(pod))
    }
    podSeen(pod)
  }
  const podUpdated = (old: Pod, pod: Pod) => {
    told.podSeen(old, pod)
    releases.seen(pod, false)
    const job = jobOf(pod)
    if (job !== undefined && pod.metadata.deletionTimestamp !== undefined)
      expectations.deletionObserved(job, objectKey(pod))
    if (old.metadata.resourceVersion !== pod.metadata.resourceVersion) podSeen(pod)
  }
  const podDeleted = (pod: Pod) => {
    told.podSeen(pod, undefined)
    releases.seen(pod, true)
    const job = jobOf(pod)
    if (job === undefined) return
    expectations.deletionObserved(job, objectKey(pod))
    later(job)
  }

  async function sync(key: string): Promise<unknown> {
    const job = jobs.store.get(key)
    if (job === undefined) return ownWrites.forget(key)
    if (!isManaged(job) || ownWrites.isBehind(key, job)) return
    // Made by a sync that did not know yet that the job was over: no sync will count them.
    if (isFinished(job)) return releasePods(job)
    const work: Work = { action: 'reconciling' }
    const began = runtime.clock.monotonic()
    try {
      await syncUnfinished(key, job, work)
    } catch (error) {
      told.synced(job, work.action, 'error', began)
      throw error
    }
    told.synced(job, work.action, 'success', began)
    return undefined
  }

  async function syncUnfinished(key: string, job: Job, work: Work): Promise<void> {
    const { namespace } = splitKey(key)
    const mayAct = expectations.satisfied(job)
    const progress = progressOf(job, (await podsOfJob(job)).map(releases.current))
    const { own, active, fresh } = progress
    let status: JobStatus = { ...job.status }
    if (status.startTime === undefined && !isSuspended(job)) status = { ...status, startTime: formatTime(now()) }
    let ending = endingOf(job, status, progress, now())
    const left = timeLeft(job, status, now())
    if (ending === undefined && left !== undefined) queue.addAfter(key, left)
    let count = active.length
    let ready = active.filter(isReady).length
    let failure: unknown
    let suspending = false
    if (ending !== undefined) {
      await podControl.delete(job, active, false)
      count = 0
      ready = 0
    } else {
      if (mayAct && !isGoing(job)) {
        try {
          count = await manage(key, job, progress, work)
        } catch (error) {
          failure = error
        }
      }
      if (isJobComplete(job, progress.succeeded, count)) {
        ending = {
          type: 'Complete',
          reason: 'CompletionsReached',
          message: 'Reached expected number of succeeded pods',
        }
      } else if (mayAct) {
        const conditions = suspension(job, status)
        suspending = conditions !== undefined
        if (conditions !== undefined) status = { ...status, conditions: conditions.list }
        if (conditions?.restart) status = { ...status, startTime: formatTime(now()) }
        if (conditions !== undefined && isSuspended(job)) {
          const { startTime: _, ...rest } = status
          status = rest
        }
      }
    }
    // Those that this sync deleted are on their way too.
    const terminating = own.filter(isTerminating).length + Math.max(0, active.length - count)
    // Those that were just deleted are not counted as ready any more.
    status = { ...status, active: count, ready: Math.min(ready, count), terminating }
    const counted = await countAndRelease(
      {
        async writeStatus(object, next) {
          const written = await jobClient
            .namespace(namespace)
            .update({ ...object, status: next }, { subresource: 'status' })
          ownWrites.wrote(key, written)
          told.counted(object, written)
          return written
        },
        release,
        now,
      },
      job,
      status,
      progress,
      ending,
    )
    if (!hasLimitPerIndex(job)) backoff.finished(job.metadata.uid ?? '', fresh)
    if (suspending) {
      const [reason, message] = isSuspended(job) ? ['Suspended', 'Job suspended'] : ['Resumed', 'Job resumed']
      recorder.event(job, 'Normal', reason as string, message as string)
    }
    if (counted.ended && ending !== undefined) tellEnding(job, ending)
    if (counted.more) queue.add(key)
    if (failure !== undefined) throw failure
  }

  function tellEnding(job: Job, ending: Ending): void {
    const { type, reason, message } = ending
    told.finished(job, ending)
    if (type === 'Complete') recorder.event(job, 'Normal', 'Completed', 'Job completed')
    else recorder.event(job, 'Warning', reason, message)
  }

  async function podsOfJob(job: Job): Promise<readonly Pod[]> {
    const { namespace = '', name: jobName = '', uid = '' } = job.metadata
    const candidates = [
      ...pods.store.byIndex(ownerIndexName, uid),
      ...pods.store.byIndex(ownerIndexName, orphanIndexValue(namespace)).filter(isActive),
    ]
    const selector = labelSelectorOf(job.spec?.selector)
    return claim(candidates, {
      controller: job,
      objects: podClient.namespace(namespace),
      matches: (pod) => selector.matches(pod.metadata.labels),
      liveController: () => jobClient.namespace(namespace).get(jobName),
      finalizers: [trackingFinalizer],
    })
  }

  /** How many pods are active afterwards. */
  async function manage(key: string, job: Job, progress: JobProgress, work: Work): Promise<number> {
    const { active, own } = progress
    if (isSuspended(job)) {
      work.action = 'pods_deleted'
      await podControl.delete(job, active, true)
      return 0
    }
    const wanted = wantedActive(job, progress)
    const wrong = misplaced(job, active)
    const right = active.filter((pod) => !wrong.includes(pod))
    const surplus = [...wrong, ...surplusPods(right, Math.max(0, right.length - wanted))]
    if (surplus.length > 0) {
      work.action = 'pods_deleted'
      await podControl.delete(job, surplus, true)
      return active.length - surplus.length
    }
    const waitsForOld = replacesOnlyFailed(job) ? own.filter(isTerminating).length : 0
    const missing = Math.min(wanted - active.length - waitsForOld, mostCreatedAtOnce)
    work.action = 'tracking'
    if (missing <= 0) return active.length
    const fresh = podsToMake(key, job, missing, progress)
    if (fresh.length > 0) work.action = 'pods_created'
    const isAgain = progress.failed > 0 || own.some(isTerminating)
    return active.length + (await podControl.create(job, fresh, isAgain))
  }

  /** Without those that are to wait after a failure: the job is looked at again when the first of them may be made. */
  function podsToMake(key: string, job: Job, count: number, progress: JobProgress): readonly KubeObject[] {
    const { fresh, toReplace } = progress
    if (!hasLimitPerIndex(job)) {
      const wait = backoff.remaining(job.metadata.uid ?? '', fresh, now())
      if (wait > 0) {
        queue.addAfter(key, wait)
        return []
      }
    }
    if (!isIndexed(job)) return Array.from({ length: count }, () => podOfJob(job, undefined))
    const waits: number[] = []
    const ready = freeIndexes(job, count, progress).filter((index) => {
      const wait = indexBackoff(job, toReplace.get(index), now())
      if (wait > 0) waits.push(wait)
      return wait === 0
    })
    if (waits.length > 0) queue.addAfter(key, Math.min(...waits))
    return ready.map((index) => podOfJob(job, index, toReplace.get(index)))
  }

  /** The Suspended condition when it changes; `restart`: the job's time begins anew. */
  function suspension(job: Job, status: JobStatus): { list: readonly JobCondition[]; restart: boolean } | undefined {
    const old = status.conditions ?? []
    const known = old.find((condition) => condition.type === 'Suspended')
    if (isSuspended(job)) {
      if (known?.status === 'True') return undefined
      return {
        list: withJobCondition(old, 'Suspended', 'True', 'JobSuspended', 'Job suspended', now()),
        restart: false,
      }
    }
    if (known?.status !== 'True') return undefined
    return { list: withJobCondition(old, 'Suspended', 'False', 'JobResumed', 'Job resumed', now()), restart: true }
  }

  async function releaseOrphan(key: string): Promise<void> {
    const pod = pods.store.get(key)
    const job = pod && jobOf(pod)
    if (pod === undefined || !isTracked(pod)) return
    if (job !== undefined && (!isManaged(job) || !(isFinished(job) || isGoing(job)))) return
    await release(pod)
  }

  return {
    name,
    async start() {
      jobs.addHandlers({
        added: (job) => queue.add(objectKey(job)),
        updated: (old, job) => {
          if (old.metadata.uid !== job.metadata.uid) forget(old)
          if (isGoing(job)) releasePods(job)
          if (old.spec === job.spec && old.metadata.generation === job.metadata.generation) later(job)
          else queue.add(objectKey(job))
        },
        deleted: (job) => {
          forget(job)
          queue.add(objectKey(job))
          releasePods(job)
        },
      })
      pods.addHandlers({ added: podAdded, updated: podUpdated, deleted: podDeleted })
      await Promise.all([jobs.whenSynced(signal), pods.whenSynced(signal)])
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
      runWorkers(runtime, orphans, 1, releaseOrphan, signal)
    },
  }
}
