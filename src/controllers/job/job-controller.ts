/**
 * The job controller: runs pods of a job's template until enough have succeeded or too many failed, and counts each once. The
 * controller manager starts it. It does not look at podFailurePolicy, successPolicy and backoffLimitPerIndex yet.
 */

import type { Fields, KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { isNamespaceTerminating, isNotFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createWorkQueue, runWorkers } from '../../client/queue.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { claim } from '../pods/claim.ts'
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
import { podsToDelete } from '../pods/ranking.ts'
import { createJobBackoff } from './backoff.ts'
import {
  type Ending,
  hasFailed,
  isFinished,
  isIndexed,
  isSuspended,
  isTracked,
  jobsResource,
  trackingFinalizer,
  withCondition,
} from './job.ts'
import { podOfJob } from './job-pods.ts'
import { freeIndexes, isComplete, newlyFinished, plannedEnding, succeededOf } from './progress.ts'
import { countAndRelease, removeTrackingFinalizer } from './tracking.ts'

const name = 'job-controller'
const workers = 5
/** What happens to a job's pods within a second is looked at once. */
const batchMs = 1000
const mostCreatedAtOnce = 500

export function createJobController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const now = () => runtime.clock.now()
  const jobs = informers.informer(jobsResource)
  const pods = informers.informer(podsResource)
  pods.addIndex(ownerIndexName, ownerIndex)
  const queue = createWorkQueue<string>(runtime, 'job', { baseDelayMs: 1000, maxDelayMs: 60_000 })
  const orphans = createWorkQueue<string>(runtime, 'job_orphan_pod')
  const expectations = createExpectations(runtime.clock)
  const backoff = createJobBackoff()
  const recorder = createEventRecorder(runtime, client, { component: name })
  const podClient = client.resource(podsResource)
  const jobClient = client.resource(jobsResource)

  function jobOf(pod: KubeObject): KubeObject | undefined {
    const reference = controllerOf(pod)
    if (reference?.kind !== 'Job') return undefined
    const job = jobs.store.get(`${pod.metadata.namespace}/${reference.name}`)
    return job?.metadata.uid === reference.uid ? job : undefined
  }
  const later = (job: KubeObject) => queue.addAfter(objectKey(job), batchMs)

  function podSeen(pod: KubeObject): void {
    const job = jobOf(pod)
    if (job !== undefined) later(job)
    else if (controllerOf(pod)?.kind === 'Job') {
      if (isTracked(pod)) orphans.add(objectKey(pod))
    } else if (controllerOf(pod) === undefined) {
      if (isTracked(pod)) orphans.add(objectKey(pod))
      for (const other of jobs.store.list()) {
        if (other.metadata.namespace !== pod.metadata.namespace) continue
        if (labelSelectorOf(other['spec'].selector).matches(pod.metadata.labels)) later(other)
      }
    }
  }
  const podAdded = (pod: KubeObject) => {
    const job = jobOf(pod)
    if (job !== undefined) {
      expectations.creationObserved(job)
      if (pod.metadata.deletionTimestamp !== undefined) expectations.deletionObserved(job, objectKey(pod))
    }
    podSeen(pod)
  }
  const podUpdated = (old: KubeObject, pod: KubeObject) => {
    const job = jobOf(pod)
    if (job !== undefined && pod.metadata.deletionTimestamp !== undefined)
      expectations.deletionObserved(job, objectKey(pod))
    if (old.metadata.resourceVersion !== pod.metadata.resourceVersion) podSeen(pod)
  }
  const podDeleted = (pod: KubeObject) => {
    const job = jobOf(pod)
    if (job === undefined) return
    expectations.deletionObserved(job, objectKey(pod))
    later(job)
  }

  async function sync(key: string): Promise<unknown> {
    const job = jobs.store.get(key)
    if (job === undefined) return backoff.forget(key)
    if (isFinished(job)) {
      // Made by a sync that did not know yet that the job was over: nobody will count them.
      for (const pod of pods.store.byIndex(ownerIndexName, job.metadata.uid ?? ''))
        if (isTracked(pod)) orphans.add(objectKey(pod))
      return
    }
    const { namespace } = splitKey(key)
    const mayAct = expectations.satisfied(job)
    const own = await podsOfJob(job)
    const spec: Fields = job['spec']
    let status: Fields = { ...job['status'] }
    const active = own.filter(isActive)
    const fresh = newlyFinished(job, own)
    const succeeded = succeededOf(job, own, fresh)
    const failed =
      (status['failed'] ?? 0) +
      (status['uncountedTerminatedPods']?.failed?.length ?? 0) +
      fresh.filter((pod) => hasFailed(job, pod)).length
    if (status['startTime'] === undefined && !isSuspended(job)) {
      status = { ...status, startTime: formatTime(now()) }
      if (spec['activeDeadlineSeconds'] !== undefined) queue.addAfter(key, spec['activeDeadlineSeconds'] * 1000)
    }
    let ending = plannedEnding(job) ?? failureOf(job, status, failed)
    let count = active.length
    let ready = active.filter(isReady).length
    let failure: unknown
    let suspending = false
    if (ending !== undefined) {
      await deleteAll(job, active, false)
      count = 0
      ready = 0
    } else {
      if (mayAct && job.metadata.deletionTimestamp === undefined) {
        try {
          count = isSuspended(job)
            ? await deleteAll(job, active, true)
            : await manage(key, job, active, succeeded, own, fresh)
        } catch (error) {
          failure = error
          count = Math.min(active.length, count)
        }
      }
      if (isComplete(job, succeeded, count)) {
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
    status = { ...status, active: count, ready, terminating }
    const counted = await countAndRelease(
      {
        pods: podClient.namespace(namespace),
        writeStatus: (object, next) =>
          jobClient.namespace(namespace).update({ ...object, status: next }, { subresource: 'status' }),
        now,
      },
      job,
      status,
      own,
      ending,
    )
    backoff.finished(key, fresh, now())
    if (suspending) {
      const [reason, message] = isSuspended(job) ? ['Suspended', 'Job suspended'] : ['Resumed', 'Job resumed']
      recorder.event(job, 'Normal', reason as string, message as string)
    }
    if (counted.ended && ending !== undefined) tellEnding(job, ending)
    if (counted.more) queue.add(key)
    if (failure !== undefined) throw failure
    return undefined
  }

  function tellEnding(job: KubeObject, { type, reason, message }: Ending): void {
    if (type === 'Complete') recorder.event(job, 'Normal', 'Completed', 'Job completed')
    else recorder.event(job, 'Warning', reason, message)
  }

  async function podsOfJob(job: KubeObject): Promise<readonly KubeObject[]> {
    const { namespace = '', name: jobName = '', uid = '' } = job.metadata
    const candidates = [
      ...pods.store.byIndex(ownerIndexName, uid),
      ...pods.store.byIndex(ownerIndexName, orphanIndexValue(namespace)).filter(isActive),
    ]
    const selector = labelSelectorOf(job['spec'].selector)
    return claim(candidates, {
      controller: job,
      objects: podClient.namespace(namespace),
      matches: (pod) => selector.matches(pod.metadata.labels),
      liveController: () => jobClient.namespace(namespace).get(jobName),
      finalizers: [trackingFinalizer],
    })
  }

  /** How many pods are active afterwards. */
  async function manage(
    key: string,
    job: KubeObject,
    active: readonly KubeObject[],
    succeeded: number,
    own: readonly KubeObject[],
    fresh: readonly KubeObject[],
  ): Promise<number> {
    const { parallelism = 1, completions } = job['spec']
    const wanted: number =
      completions === undefined
        ? succeeded > 0
          ? active.length
          : parallelism
        : Math.min(parallelism, Math.max(0, completions - succeeded))
    if (active.length > wanted) {
      const surplus = podsToDelete(active, own, active.length - wanted, now())
      await deleteAll(job, surplus, true)
      return wanted
    }
    const waitsForOld = job['spec'].podReplacementPolicy === 'Failed' ? own.filter(isTerminating).length : 0
    const missing = Math.min(wanted - active.length - waitsForOld, mostCreatedAtOnce)
    if (missing <= 0) return active.length
    const wait = backoff.remaining(key, fresh, now())
    if (wait > 0) {
      queue.addAfter(key, wait)
      return active.length
    }
    const indexes = isIndexed(job)
      ? freeIndexes(job, missing, active, fresh)
      : Array.from({ length: missing }, () => undefined)
    return active.length + (await createPods(job, indexes))
  }

  async function createPods(job: KubeObject, indexes: readonly (number | undefined)[]): Promise<number> {
    if (indexes.length === 0) return 0
    expectations.expectCreations(job, indexes.length)
    const resource = podClient.namespace(job.metadata.namespace ?? '')
    let made = 0
    for (let first = 0, batch = 1; first < indexes.length; first += batch, batch *= 2) {
      const outcomes = await Promise.allSettled(
        indexes.slice(first, first + batch).map(async (index) => {
          const created = await resource.create(podOfJob(job, index))
          recorder.event(job, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
        }),
      )
      made += outcomes.filter(({ status }) => status === 'fulfilled').length
      const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      if (failed.length === 0) continue
      const unmade = failed.length + Math.max(0, indexes.length - first - batch)
      for (let skipped = 0; skipped < unmade; skipped++) expectations.creationObserved(job)
      if (isNamespaceTerminating(failed[0])) return made
      recorder.event(job, 'Warning', 'FailedCreate', `Error creating: ${messageOf(failed[0])}`)
      throw failed[0]
    }
    return made
  }

  /** Pods that are surplus do not count as failed: they lose their finalizer first. Returns 0, the active ones left. */
  async function deleteAll(job: KubeObject, chosen: readonly KubeObject[], surplus: boolean): Promise<number> {
    if (chosen.length === 0) return 0
    const resource = podClient.namespace(job.metadata.namespace ?? '')
    if (surplus) expectations.expectDeletions(job, chosen.map(objectKey))
    const outcomes = await Promise.allSettled(
      chosen.map(async (pod) => {
        try {
          if (surplus && isTracked(pod)) await removeTrackingFinalizer(resource, pod)
          await resource.delete(pod.metadata.name ?? '')
          recorder.event(job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
        } catch (error) {
          expectations.deletionObserved(job, objectKey(pod))
          if (isNotFound(error)) return
          recorder.event(job, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`)
          throw error
        }
      }),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
    return 0
  }

  function failureOf(job: KubeObject, status: Fields, failed: number): Ending | undefined {
    const { backoffLimit = 6, activeDeadlineSeconds } = job['spec']
    if (failed > backoffLimit)
      return {
        type: 'Failed',
        reason: 'BackoffLimitExceeded',
        message: 'Job has reached the specified backoff limit',
      }
    const since = status['startTime']
    if (activeDeadlineSeconds === undefined || since === undefined || isSuspended(job)) return undefined
    const left = Date.parse(since) + activeDeadlineSeconds * 1000 - now()
    if (left > 0) {
      queue.addAfter(objectKey(job), left)
      return undefined
    }
    return { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
  }

  /** The Suspended condition when it changes; `restart`: the job's time begins anew. */
  function suspension(job: KubeObject, status: Fields): { list: readonly Fields[]; restart: boolean } | undefined {
    const old: readonly Fields[] = status['conditions'] ?? []
    const known = old.find((condition) => condition['type'] === 'Suspended')
    if (isSuspended(job)) {
      if (known?.['status'] === 'True') return undefined
      return { list: withCondition(old, 'Suspended', 'True', 'JobSuspended', 'Job suspended', now()), restart: false }
    }
    if (known?.['status'] !== 'True') return undefined
    return { list: withCondition(old, 'Suspended', 'False', 'JobResumed', 'Job resumed', now()), restart: true }
  }

  async function releaseOrphan(key: string): Promise<void> {
    const pod = pods.store.get(key)
    const job = pod && jobOf(pod)
    if (pod === undefined || !isTracked(pod) || (job !== undefined && !isFinished(job))) return
    await removeTrackingFinalizer(podClient.namespace(pod.metadata.namespace ?? ''), pod)
  }

  return {
    name,
    async start() {
      jobs.addHandlers({
        added: (job) => queue.add(objectKey(job)),
        updated: (old, job) => {
          if (old.metadata.uid !== job.metadata.uid) expectations.forget(old)
          if (old['spec'] === job['spec'] && old.metadata.generation === job.metadata.generation) later(job)
          else queue.add(objectKey(job))
        },
        deleted: (job) => {
          expectations.forget(job)
          queue.add(objectKey(job))
          for (const pod of pods.store.byIndex(ownerIndexName, job.metadata.uid ?? ''))
            if (isTracked(pod)) orphans.add(objectKey(pod))
        },
      })
      pods.addHandlers({ added: podAdded, updated: podUpdated, deleted: podDeleted })
      await Promise.all([jobs.whenSynced(signal), pods.whenSynced(signal)])
      runWorkers(runtime, queue, workers, sync, signal)
      runWorkers(runtime, orphans, 1, releaseOrphan, signal)
    },
  }
}
