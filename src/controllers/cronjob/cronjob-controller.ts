/**
 * The CronJob controller: makes jobs when their time comes, follows them and removes the old ones. The controller manager
 * starts it. When something is due is in missed-start-times.ts, the calendar in next-schedule-time.ts.
 */

import type { CronJob, CronJobStatus, Job, ObjectReference } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { durationMs } from '../../api/objects/integers.ts'
import { sameJson } from '../../api/same.ts'
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../api/status.ts'
import { isTimeZone, parseSchedule, type Schedule } from '../../api/validation/cron-schedule.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { exponentialBuckets } from '../../base/metrics.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isFinished, jobsResource, trueCondition } from '../job/job.ts'
import { controllerOf, ownerIndex, ownerIndexName } from '../pods/pod.ts'
import { dueBesideActive } from './concurrency-policy.ts'
import { surplusJobs } from './job-history-limits.ts'
import { jobFor, jobName, referenceTo } from './job-name-and-template.ts'
import { dueTime, InvalidSchedule, untilNext } from './missed-start-times.ts'

const cronJobsResource = { group: 'batch', version: 'v1', resource: 'cronjobs' }
const workers = 5
const zonesAdvice = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'

export function createCronJobController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const cronJobs = informers.informer<CronJob>(cronJobsResource)
  const jobs = informers.informer<Job>(jobsResource)
  const queue = createWorkQueue<string>(runtime, 'cronjob')
  const ownWrites = createOwnWrites()
  const skew = runtime.metrics
    ?.histogram(
      'cronjob_controller_job_creation_skew_duration_seconds',
      'Seconds from when a job was due until it was made.',
      [],
      exponentialBuckets(1, 2, 10),
    )
    .child()
  const recorder = createEventRecorder(runtime, client, { component: 'cronjob-controller' })
  const jobsOf = ({ metadata }: KubeObject) => client.resource<Job>(jobsResource).namespace(metadata.namespace ?? '')
  const warn = (cronJob: CronJob, reason: string, message: string) =>
    recorder.event(cronJob, 'Warning', reason, message)

  /** A CronJob with the status that this sync has come to. */
  interface Sync {
    readonly cronJob: CronJob
    status: CronJobStatus
  }
  const activeOf = ({ status }: Sync): readonly ObjectReference[] => status.active ?? []
  function setActive(sync: Sync, active: readonly ObjectReference[]): void {
    const { active: _, ...rest } = sync.status
    sync.status = active.length > 0 ? { ...rest, active } : rest
  }

  async function sync(key: string): Promise<void> {
    const cronJob = cronJobs.store.get(key)
    if (cronJob === undefined) return ownWrites.forget(key)
    if (ownWrites.isBehind(key, cronJob)) return
    const own = jobs.store.byIndex(ownerIndexName, cronJob.metadata.uid ?? '')
    const current: Sync = { cronJob, status: cronJob.status ?? {} }
    let failure: { readonly error: unknown } | undefined
    // What goes is not told of as completed any more.
    for (const job of surplusJobs(cronJob, own)) await remove(current, job)
    try {
      await follow(current, own)
      if (cronJob.metadata.deletionTimestamp === undefined) await start(current)
    } catch (error) {
      failure = { error }
    }
    if (!sameJson(current.status, cronJob.status ?? {})) {
      const resource = client.resource<CronJob>(cronJobsResource).namespace(cronJob.metadata.namespace ?? '')
      const updated = { ...cronJob, status: current.status }
      ownWrites.wrote(key, await resource.update(updated, { subresource: 'status' }))
    }
    if (failure !== undefined) throw failure.error
  }

  /** Takes note of jobs that have ended or gone. */
  async function follow(current: Sync, own: readonly Job[]): Promise<void> {
    const { cronJob } = current
    for (const job of own) {
      const { name, uid } = job.metadata
      const isActive = activeOf(current).some((one) => one.uid === uid)
      if (!isActive && !isFinished(job)) {
        const live = await client
          .resource<CronJob>(cronJobsResource)
          .namespace(cronJob.metadata.namespace ?? '')
          .get(cronJob.metadata.name ?? '')
        const listed = (live.status?.active ?? []).some((one) => one.uid === uid)
        if (!listed) warn(cronJob, 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`)
        continue
      }
      const complete = trueCondition(job, 'Complete')
      if (isActive && isFinished(job)) {
        forget(current, uid)
        const condition = complete === undefined ? 'Failed' : 'Complete'
        recorder.event(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${condition}`)
      }
      const completed = complete && job.status?.completionTime
      const last: string | undefined = current.status.lastSuccessfulTime
      if (completed !== undefined && (last === undefined || Date.parse(completed) > Date.parse(last)))
        current.status = { ...current.status, lastSuccessfulTime: completed }
    }
    for (const active of activeOf(current)) {
      if (own.some(({ metadata }) => metadata.uid === active.uid)) continue
      // The informer may not have heard of it yet.
      const live = await jobsOf(cronJob)
        .get(active.name ?? '')
        .catch(notFound)
      if (live !== undefined) continue
      recorder.event(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${active.name}`)
      forget(current, active.uid)
    }
  }

  /** Makes the job that is due, if one is, and comes back for the next. */
  async function start(current: Sync): Promise<void> {
    const { cronJob } = current
    const { suspend, timeZone, startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec!
    const schedule = readSchedule(cronJob)
    if (schedule === undefined || suspend === true) return
    const zone: string = schedule.zone ?? timeZone ?? ''
    const nowMs = runtime.clock.now()
    const again = () => queue.addAfter(objectKey(cronJob), untilNext(withStatus(current), schedule, zone, nowMs))
    let due: ReturnType<typeof dueTime>
    try {
      due = dueTime(cronJob, schedule, zone, nowMs)
    } catch (error) {
      if (!(error instanceof InvalidSchedule)) throw error
      warn(cronJob, 'InvalidSchedule', `invalid schedule: ${cronJob.spec?.schedule} : ${error.message}`)
      return
    }
    const { time } = due
    if (due.tooMany)
      warn(
        cronJob,
        'TooManyMissedTimes',
        'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
      )
    if (time === undefined) return again()
    if (startingDeadlineSeconds !== undefined && time + durationMs(startingDeadlineSeconds) < nowMs) {
      warn(cronJob, 'MissSchedule', `Missed scheduled time to start a job: ${longTime(time)}`)
      return again()
    }
    const name = jobName(cronJob, time)
    const ranAlready = activeOf(current).some((one) => one.name === name)
    if (ranAlready || cronJob.status?.lastScheduleTime === formatTime(time)) return again()
    const decision = dueBesideActive(concurrencyPolicy, activeOf(current).length)
    if (decision === 'skip') {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
      recorder.event(cronJob, 'Normal', 'JobAlreadyActive', message)
      return again()
    }
    if (decision === 'replace') await replaceActive(current)
    const job = await create(cronJob, time)
    if (job === undefined) return
    // One that had ended before is taken note of in the next turn.
    setActive(current, [...activeOf(current), referenceTo(job)])
    current.status = { ...current.status, lastScheduleTime: formatTime(time) }
    again()
  }

  function readSchedule(cronJob: CronJob): Schedule | undefined {
    const { schedule, timeZone } = cronJob.spec!
    if (timeZone !== undefined && !isTimeZone(timeZone)) {
      const why = `unknown time zone ${timeZone}`
      warn(cronJob, 'UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}: ${why}`)
      return undefined
    }
    if (schedule.includes('TZ')) {
      const used = `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)}`
      warn(cronJob, 'UnsupportedSchedule', `${used} is not officially supported, see ${zonesAdvice} for more details`)
    }
    const parsed = parseSchedule(schedule)
    if (typeof parsed !== 'string') return parsed
    warn(cronJob, 'UnparseableSchedule', `unparseable schedule: ${JSON.stringify(schedule)} : ${parsed}`)
    return undefined
  }

  /**
   * Another schedule is for what is to come: what it would have missed is not made up for. What is to be said of one that can be read is
   * said by the sync, at its time; at once for one that never comes.
   */
  function changed(old: CronJob, cronJob: CronJob): void {
    const key = objectKey(cronJob)
    const { schedule: text, timeZone = '' } = cronJob.spec!
    if (old.spec?.schedule === text && (old.spec?.timeZone ?? '') === timeZone) {
      queue.add(key)
      return
    }
    const schedule = parseSchedule(text)
    if (typeof schedule === 'string') {
      warn(cronJob, 'UnParseableCronJobSchedule', `unparseable schedule for cronjob: ${text}`)
      return
    }
    const zone = schedule.zone ?? (isTimeZone(timeZone) ? timeZone : '')
    try {
      queue.addAfter(key, untilNext(cronJob, schedule, zone, runtime.clock.now()))
    } catch (error) {
      if (!(error instanceof InvalidSchedule)) throw error
      queue.add(key)
    }
  }

  async function replaceActive(current: Sync): Promise<void> {
    for (const active of activeOf(current)) {
      const job = await jobsOf(current.cronJob)
        .get(active.name ?? '')
        .catch((error) => {
          warn(current.cronJob, 'FailedGet', `Get job: ${messageOf(error)}`)
          throw error
        })
      if (!(await remove(current, job))) throw new Error(`could not replace job ${active.name}`)
    }
  }

  /** undefined where nothing can be made any more, or where a job of another has the name: it is left to what made that one. */
  async function create(cronJob: CronJob, time: number): Promise<KubeObject | undefined> {
    const draft = jobFor(cronJob, time)
    try {
      const job = await jobsOf(cronJob).create(draft)
      skew?.observe((Date.parse(job.metadata.creationTimestamp ?? '') - time) / 1000)
      recorder.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`)
      return job
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined
      if (isAlreadyExists(error)) {
        // Made by a sync that could not say so, unless it has another controller.
        const job = await jobsOf(cronJob).get(draft.metadata.name ?? '')
        return controllerOf(job)?.uid === cronJob.metadata.uid ? job : undefined
      }
      warn(cronJob, 'FailedCreate', `Error creating job: ${messageOf(error)}`)
      throw error
    }
  }

  async function remove(current: Sync, job: Job): Promise<boolean> {
    const { name = '', uid } = job.metadata
    try {
      await jobsOf(current.cronJob).delete(name, { propagationPolicy: 'Background' })
    } catch (error) {
      if (!isNotFound(error)) {
        warn(current.cronJob, 'FailedDelete', `Deleted job: ${messageOf(error)}`)
        return false
      }
    }
    forget(current, uid)
    recorder.event(current.cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`)
    return true
  }

  const forget = (current: Sync, uid: unknown): void => {
    const active = activeOf(current)
    if (active.some((one) => one.uid === uid))
      setActive(
        current,
        active.filter((one) => one.uid !== uid),
      )
  }
  const withStatus = ({ cronJob, status }: Sync): KubeObject => ({ ...cronJob, status })

  return {
    name: 'cronjob-controller',
    async start() {
      jobs.addIndex(ownerIndexName, ownerIndex)
      const enqueue = (cronJob: CronJob) => queue.add(objectKey(cronJob))
      cronJobs.addHandlers({ added: enqueue, updated: changed, deleted: enqueue })
      const jobChanged = (job: Job) => {
        const owner = controllerOf(job)
        if (owner?.kind === 'CronJob') queue.add(`${job.metadata.namespace}/${owner.name}`)
      }
      jobs.addHandlers({ added: jobChanged, updated: (_, job) => jobChanged(job), deleted: jobChanged })
      await Promise.all([cronJobs.whenSynced(signal), jobs.whenSynced(signal)])
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

function notFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** `Sat, 21 Nov 2026 13:36:00 +0000`. */
const longTime = (ms: number): string => new Date(ms).toUTCString().replace('GMT', '+0000')
