/** Makes and deletes a job's pods, and tells of it. */
import type { Job, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isNamespaceTerminating, isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import type { Expectations } from '../pods/expectations.ts'
import { podsResource } from '../pods/pod.ts'
import { isTracked } from './job.ts'
import type { JobMetrics } from './job-metrics.ts'

export interface JobPodControl {
  /** How many have been made; `isAgain`: others of the job have failed or are ending. @throws the first refusal, after which no more are tried */
  create(job: Job, pods: readonly Pod[], isAgain: boolean): Promise<number>
  /** Surplus pods do not count as failed: they lose their finalizer first. @throws the first refusal, after all were tried */
  delete(job: Job, pods: readonly Pod[], surplus: boolean): Promise<void>
}

/** What it needs of the controller: `release` takes a pod's tracking finalizer off. */
export interface JobPodWork {
  readonly release: (pod: Pod) => Promise<void>
  readonly told: Pick<JobMetrics, 'made'>
}

export function createJobPodControl(
  client: Client,
  recorder: EventRecorder,
  expectations: Expectations,
  { release, told }: JobPodWork,
): JobPodControl {
  const podsOf = ({ metadata }: KubeObject) => client.resource<Pod>(podsResource).namespace(metadata.namespace ?? '')

  return {
    async create(job, pods, isAgain) {
      if (pods.length === 0) return 0
      expectations.expectCreations(job, pods.length)
      let made = 0
      for (let first = 0, batch = 1; first < pods.length; first += batch, batch *= 2) {
        const outcomes = await Promise.allSettled(
          pods.slice(first, first + batch).map(async (pod) => {
            const created = await podsOf(job).create(pod)
            recorder.event(job, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
          }),
        )
        made += outcomes.filter(({ status }) => status === 'fulfilled').length
        for (const { status } of outcomes) told.made(job, isAgain, status === 'fulfilled')
        const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
        if (failed.length === 0) continue
        const unmade = failed.length + Math.max(0, pods.length - first - batch)
        for (let skipped = 0; skipped < unmade; skipped++) expectations.creationObserved(job)
        if (isNamespaceTerminating(failed[0])) return made
        recorder.event(job, 'Warning', 'FailedCreate', `Error creating: ${messageOf(failed[0])}`)
        throw failed[0]
      }
      return made
    },

    async delete(job, pods, surplus) {
      if (pods.length === 0) return
      if (surplus) expectations.expectDeletions(job, pods.map(objectKey))
      const outcomes = await Promise.allSettled(
        pods.map(async (pod) => {
          try {
            if (surplus && isTracked(pod)) await release(pod)
            await podsOf(job).delete(pod.metadata.name ?? '')
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
    },
  }
}
