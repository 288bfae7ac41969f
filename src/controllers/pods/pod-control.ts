/** Pods made and deleted for their owner: expected until seen, and told in Events. */

import type { Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isNamespaceTerminating, isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import type { Expectations } from './expectations.ts'
import { podsResource } from './pod.ts'
import { slowStart } from './slow-start-batches.ts'

export interface PodControl {
  /** What is made is to be expected already. @throws the first refusal, after which no more are tried */
  create(owner: KubeObject, pods: readonly Pod[]): Promise<void>
  /** What is deleted is to be expected already. @throws the first refusal, after all were tried */
  delete(owner: KubeObject, pods: readonly Pod[]): Promise<void>
}

export function createPodControl(client: Client, recorder: EventRecorder, expectations: Expectations): PodControl {
  const podsOf = ({ metadata }: KubeObject) => client.resource<Pod>(podsResource).namespace(metadata.namespace ?? '')

  async function createOne(owner: KubeObject, pod: Pod): Promise<void> {
    try {
      const created = await podsOf(owner).create(pod)
      recorder.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
    } catch (error) {
      // Still expected: until that times out, no more is tried in a namespace that goes.
      if (isNamespaceTerminating(error)) return
      expectations.creationObserved(owner)
      recorder.event(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`)
      throw error
    }
  }

  async function deleteOne(owner: KubeObject, pod: Pod): Promise<void> {
    try {
      await podsOf(owner).delete(pod.metadata.name ?? '')
      recorder.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
    } catch (error) {
      expectations.deletionObserved(owner, objectKey(pod))
      if (isNotFound(error)) return
      recorder.event(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`)
      throw error
    }
  }

  return {
    create: (owner, pods) =>
      slowStart(
        pods,
        (pod) => createOne(owner, pod),
        (unbegun) => {
          for (const _ of unbegun) expectations.creationObserved(owner)
        },
      ),
    async delete(owner, pods) {
      const outcomes = await Promise.allSettled(pods.map((pod) => deleteOne(owner, pod)))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
    },
  }
}
