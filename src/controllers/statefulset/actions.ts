/** The steps of a plan, done: pods and claims written, and told in Events. */

import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../api/status.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client, ResourceClient } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import { objectKey, type Store } from '../../client/store.ts'
import { podsResource } from '../pods/pod.ts'
import { isOrdinalInRange, ordinalOf, podName, podOf, withIdentity } from './pod-identity.ts'
import type { StatefulSetPlanInput, Step } from './rolling-update-and-order.ts'
import {
  type ClaimUser,
  claimNames,
  claimsOfReplica,
  isStale,
  ownersFor,
  volumeClaimsResource,
} from './volume-claim-templates-and-retention.ts'

export interface ActionParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly clock: Clock
  readonly pods: Store<Pod>
  readonly claims: Store<KubeObject>
}

export interface Templates {
  readonly current: { readonly name: string; readonly template: PodTemplateSpec }
  readonly update: { readonly name: string; readonly template: PodTemplateSpec }
}

export type ClaimFacts = Pick<StatefulSetPlanInput, 'lacksClaims' | 'hasWrongClaims' | 'hasStaleClaims'>

/** Of the set's claims, by the informer. */
export function claimFacts({ claims }: ActionParts, set: StatefulSet): ClaimFacts {
  const held = (pod: string) =>
    Object.values(claimNames(set, pod)).map((name) => claims.get(`${set.metadata.namespace}/${name}`))
  const nameOf = ({ metadata }: KubeObject) => metadata.name ?? ''
  return {
    lacksClaims: (pod) => held(nameOf(pod)).includes(undefined),
    hasWrongClaims: (pod) =>
      held(nameOf(pod)).some((claim) => claim !== undefined && ownersFor(set, claim, userOf(set, pod)) !== undefined),
    hasStaleClaims(ordinal) {
      const pod = podName(set, ordinal)
      return held(pod).some((claim) => claim !== undefined && isStale(claim, pod))
    },
  }
}

const userOf = (set: StatefulSet, pod: Pod): ClaimUser => ({
  pod,
  inRange: isOrdinalInRange(set, ordinalOf(set, pod)),
})

/** @throws what the API server refuses */
export async function perform(parts: ActionParts, set: StatefulSet, templates: Templates, step: Step): Promise<void> {
  const pods = parts.client.resource<Pod>(podsResource).namespace(set.metadata.namespace ?? '')
  switch (step.type) {
    case 'create': {
      const { name, template } = templates[step.revision]
      const pod = podOf(set, template, name, step.ordinal)
      return told(parts, set, 'Create', pod, async () => {
        await provideClaims(parts, set, pod)
        return pods.create(pod)
      })
    }
    case 'delete':
      return told(parts, set, 'Delete', step.pod, () =>
        pods.delete(step.pod.metadata.name ?? '').catch((error) => {
          if (!isNotFound(error)) throw error
        }),
      )
    case 'claims':
      return provideClaims(parts, set, step.pod)
    case 'identify':
      return told(parts, set, 'Update', step.pod, () => identify(parts, pods, set, step.pod))
  }
}

const identifyTries = 4
const identifyWaitMs = 10
const identifyWaitFactor = 5

/** One that was adopted a moment ago is older than what the API server has: it is taken as the informer knows it by then. */
async function identify({ clock, pods }: ActionParts, resource: ResourceClient<Pod>, set: StatefulSet, pod: Pod) {
  let latest = pod
  for (let tries = 1, wait = identifyWaitMs; ; tries++, wait *= identifyWaitFactor) {
    const named = withIdentity(set, latest)
    if (tries > 1 && named === latest) return
    try {
      await resource.update(named)
      return
    } catch (error) {
      if (!isConflict(error) || tries >= identifyTries) throw error
    }
    await sleep(clock, wait)
    latest = pods.get(objectKey(pod)) ?? latest
  }
}

async function told(
  { recorder }: ActionParts,
  set: StatefulSet,
  verb: 'Create' | 'Update' | 'Delete',
  pod: Pod,
  act: () => Promise<unknown>,
): Promise<void> {
  const subject = `${verb} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`
  try {
    await act()
  } catch (error) {
    // The pod of that name may be going: nothing to complain about yet.
    if (!isAlreadyExists(error))
      recorder.event(set, 'Warning', `Failed${verb}`, `${subject} failed error: ${messageOf(error)}`)
    throw error
  }
  recorder.event(set, 'Normal', `Successful${verb}`, `${subject} successful`)
}

/** Makes the claims that are missing, and gives all of them the owner that persistentVolumeClaimRetentionPolicy asks for. */
async function provideClaims({ client, recorder, claims }: ActionParts, set: StatefulSet, pod: Pod) {
  const resource = client.resource<PersistentVolumeClaim>(volumeClaimsResource).namespace(set.metadata.namespace ?? '')
  for (const draft of claimsOfReplica(set, pod.metadata.name ?? '')) {
    const { name } = draft.metadata
    const known = claims.get(`${set.metadata.namespace}/${name}`)
    if (known?.metadata.deletionTimestamp !== undefined && pod.metadata.uid === undefined)
      throw new Error(`pvc ${name} is being deleted`)
    if (known !== undefined) {
      const ownerReferences = ownersFor(set, known, userOf(set, pod))
      if (ownerReferences !== undefined) {
        const { ownerReferences: _, ...metadata } = known.metadata
        const owners = ownerReferences.length > 0 ? { ownerReferences } : {}
        await resource.update({ ...known, metadata: { ...metadata, ...owners } })
      }
      continue
    }
    const subject = `Claim ${name} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`
    try {
      await resource.create(draft)
    } catch (error) {
      if (isAlreadyExists(error)) continue
      const failed = `Create Claim ${name} for Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`
      recorder.event(set, 'Warning', 'FailedCreate', `${failed} failed error: ${messageOf(error)}`)
      throw new Error(`failed to create PVC ${name}: ${messageOf(error)}`, { cause: error })
    }
    recorder.event(set, 'Normal', 'SuccessfulCreate', `Create ${subject} success`)
  }
}
