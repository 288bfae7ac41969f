/**
 * The resource claim controller: makes claims of templates for the pods that name these, and takes back what pods that are done
 * had reserved: a claim that no pod uses is deallocated (KEP-4381). The controller manager starts it. Which devices a claim gets is the
 * scheduler's business.
 */

import type {
  Pod,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
  ResourceClaimTemplate,
} from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  claimNamesOf,
  claimsResource,
  consumerOf,
  DELETE_PROTECTION,
  isMadeFor,
  isReservedFor,
  MAX_RESERVED_FOR,
  POD_CLAIM_NAME,
  type PodClaim,
  podClaims,
  type ResourceClaim,
  reservedFor,
  withoutDeleteProtection,
} from '../../api/objects/resource-claims.ts'
import { isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { controllerOf, isTerminated, podsResource } from '../pods/pod.ts'

const name = 'resource-claim-controller'
const templatesResource = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaimtemplates' }
const fieldManager = 'ResourceClaimController'
const workers = 50
/** Claims by the pod they were made for. */
const podIndex = 'pod'
/** Pods by the keys of their claims. */
const claimIndex = 'resourceclaim'

type Item = `${'pod' | 'claim'} ${string}`

/** It runs no more and never will: what it had is free. */
const isDone = (pod: Pod): boolean =>
  isTerminated(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec?.nodeName)

export function createResourceClaimController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const pods = informers.informer<Pod>(podsResource)
  const claims = informers.informer<ResourceClaim>(claimsResource)
  const templates = informers.informer<ResourceClaimTemplate>(templatesResource)
  const queue = createWorkQueue<Item>(runtime, 'resource_claim')
  /** Revisions of claims as they were answered, until the watch has shown them. */
  const written = new Map<string, number>()
  const recorder = createEventRecorder(runtime, client, { component: 'resource_claim' })

  function lookAtClaims(pod: Pod): void {
    for (const claim of claimNamesOf(pod)) queue.add(`claim ${pod.metadata.namespace}/${claim}`)
    for (const claim of claims.store.byIndex(podIndex, pod.metadata.uid ?? '')) queue.add(`claim ${objectKey(claim)}`)
  }

  function look(pod: Pod): void {
    if (podClaims(pod).length === 0 && pod.status?.extendedResourceClaimStatus === undefined) return
    if (isDone(pod)) lookAtClaims(pod)
    else if (pod.metadata.deletionTimestamp === undefined && needsWork(pod)) queue.add(`pod ${objectKey(pod)}`)
  }

  const claimFor = (pod: Pod, claim: string) => claims.store.get(`${pod.metadata.namespace}/${claim}`)

  /** A claim is to be made, or to be reserved for a pod that was put on its node without the scheduler. */
  function needsWork(pod: Pod): boolean {
    return podClaims(pod).some(({ name: own, template }) => {
      if (own === null) return false
      if (own === undefined) return true
      const claim = claimFor(pod, own)
      if (claim === undefined) return template !== undefined
      return Boolean(pod.spec?.nodeName) && isToReserve(claim, pod)
    })
  }

  const isToReserve = (claim: ResourceClaim, pod: Pod): boolean =>
    claim.status?.allocation !== undefined && !isReservedFor(claim, pod)

  async function syncPod(key: string): Promise<void> {
    const pod = pods.store.get(key)
    if (pod === undefined || isDone(pod) || pod.metadata.deletionTimestamp !== undefined) return
    const made = new Map<string, string>()
    for (const podClaim of podClaims(pod)) {
      try {
        const own = await provide(pod, podClaim)
        if (own !== undefined) made.set(podClaim.podClaim, own)
      } catch (error) {
        const why = messageOf(error)
        recorder.event(pod, 'Warning', 'FailedResourceClaimCreation', `PodResourceClaim ${podClaim.podClaim}: ${why}`)
        throw error
      }
    }
    if (made.size > 0) await tell(pod, made)
    if (!pod.spec?.nodeName) return
    for (const { name: own } of podClaims(pod)) {
      const claim = own ? claimFor(pod, own) : undefined
      if (claim !== undefined && isToReserve(claim, pod)) await reserve(claim, pod)
    }
  }

  /** The name of the claim that is to be told of in the pod's status; undefined where that is told already. */
  async function provide(pod: Pod, { podClaim, template, name: known }: PodClaim): Promise<string | undefined> {
    if (template === undefined || known === null) return undefined
    if (known !== undefined) {
      const claim = claimFor(pod, known)
      if (claim !== undefined) {
        if (isMadeFor(claim, pod)) return undefined
        const owner = `${pod.metadata.namespace}/${pod.metadata.name}`
        throw new Error(`ResourceClaim ${objectKey(claim)} was not created for pod ${owner} (pod is not owner)`)
      }
    }
    const present = claims.store
      .byIndex(podIndex, pod.metadata.uid ?? '')
      .find((claim) => claim.metadata.annotations?.[POD_CLAIM_NAME] === podClaim)
    if (present !== undefined) return present.metadata.name
    const { namespace = '' } = pod.metadata
    const source = templates.store.get(`${namespace}/${template}`)
    if (source === undefined) {
      const quoted = JSON.stringify(template)
      throw new Error(`resource claim template ${quoted}: resourceclaimtemplate.resource.k8s.io ${quoted} not found`)
    }
    const claim = claimOf(pod, podClaim, source)
    return (await client.resource<ResourceClaim>(claimsResource).namespace(namespace).create(claim)).metadata.name
  }

  async function tell(pod: Pod, made: ReadonlyMap<string, string>): Promise<void> {
    const { namespace = '', name: podName = '' } = pod.metadata
    const resourceClaimStatuses = podClaims(pod).flatMap(({ podClaim, template, name: known }) => {
      if (template === undefined) return []
      const own = made.get(podClaim) ?? known
      return own === undefined ? [] : [{ name: podClaim, ...(own === null ? {} : { resourceClaimName: own }) }]
    })
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: podName, namespace },
      status: { resourceClaimStatuses },
    }
    await client
      .resource(podsResource)
      .namespace(namespace)
      .patch(podName, 'apply', body, { subresource: 'status', fieldManager, force: true })
  }

  const claimsIn = (claim: ResourceClaim) =>
    client.resource<ResourceClaim>(claimsResource).namespace(claim.metadata.namespace ?? '')
  const wrote = (claim: ResourceClaim): ResourceClaim => {
    const { resourceVersion, deletionTimestamp, finalizers = [] } = claim.metadata
    const isGone = deletionTimestamp !== undefined && finalizers.length === 0
    written.set(objectKey(claim), isGone ? Number.POSITIVE_INFINITY : Number(resourceVersion))
    return claim
  }
  const writeStatus = async (claim: ResourceClaim, status: ResourceClaimStatus) =>
    wrote(await claimsIn(claim).update({ ...claim, status }, { subresource: 'status' }))
  const unprotect = async (claim: ResourceClaim): Promise<void> => {
    wrote(await claimsIn(claim).update(withoutDeleteProtection(claim)))
  }

  async function reserve(claim: ResourceClaim, pod: Pod): Promise<void> {
    if (reservedFor(claim).length >= MAX_RESERVED_FOR) return
    await writeStatus(claim, { ...claim.status, reservedFor: [...reservedFor(claim), consumerOf(pod)] })
  }

  async function syncClaim(key: string): Promise<void> {
    const claim = claims.store.get(key)
    // What was written last is still on its way here.
    if (claim === undefined || Number(claim.metadata.resourceVersion) < (written.get(key) ?? 0)) return
    written.delete(key)
    const all = reservedFor(claim)
    const kept: ResourceClaimConsumerReference[] = []
    for (const consumer of all) if (await mayUse(claim, consumer)) kept.push(consumer)
    const isDeleted = claim.metadata.deletionTimestamp !== undefined
    const isAllocated = claim.status?.allocation !== undefined
    const isKept = claim.metadata.finalizers?.includes(DELETE_PROTECTION) === true
    if (kept.length < all.length || (kept.length === 0 && isDeleted && isAllocated)) {
      const { reservedFor: _, allocation, ...rest } = claim.status ?? {}
      const answer = await writeStatus(
        claim,
        kept.length > 0 ? { ...rest, ...(allocation && { allocation }), reservedFor: kept } : rest,
      )
      if (kept.length === 0 && isKept) await unprotect(answer)
      return
    }
    if (kept.length === 0 && isDeleted && isKept) return unprotect(claim)
    if (kept.length > 0 || isDeleted) return
    const owner = controllerOf(claim)
    if (owner === undefined || owner.kind !== 'Pod' || owner.apiVersion !== 'v1') return
    const pod = pods.store.get(`${claim.metadata.namespace}/${owner.name}`)
    // The garbage collector takes that of a pod that is gone; one that is done stays, and its claim would.
    if (pod !== undefined && (pod.metadata.uid !== owner.uid || isDone(pod)))
      await claimsIn(claim)
        .delete(claim.metadata.name ?? '')
        .catch((error) => {
          if (!isNotFound(error)) throw error
        })
  }

  async function mayUse(
    claim: ResourceClaim,
    { apiGroup, resource, name: consumer, uid }: ResourceClaimConsumerReference,
  ): Promise<boolean> {
    // What uses a claim besides pods takes care of that itself.
    if (apiGroup || resource !== 'pods') return true
    const { namespace = '' } = claim.metadata
    let pod = pods.store.get(`${namespace}/${consumer}`)
    // It may have come just now.
    if (pod === undefined)
      pod = await client
        .resource<Pod>(podsResource)
        .namespace(namespace)
        .get(consumer)
        .catch((error) => {
          if (!isNotFound(error)) throw error
          return undefined
        })
    return pod !== undefined && pod.metadata.uid === uid && !isDone(pod)
  }

  async function sync(item: Item): Promise<void> {
    const at = item.indexOf(' ')
    const key = item.slice(at + 1)
    await (item.startsWith('pod') ? syncPod(key) : syncClaim(key))
  }

  return {
    name,
    async start() {
      pods.addIndex(claimIndex, (pod) => claimNamesOf(pod).map((own) => `${pod.metadata.namespace}/${own}`))
      claims.addIndex(podIndex, (claim) => {
        const owner = controllerOf(claim)
        return owner?.kind === 'Pod' ? [owner.uid] : []
      })
      pods.addHandlers({ added: look, updated: (_, pod) => look(pod), deleted: lookAtClaims })
      const users = (claim: KubeObject) => pods.store.byIndex(claimIndex, objectKey(claim))
      claims.addHandlers({
        added: (claim) => {
          queue.add(`claim ${objectKey(claim)}`)
          for (const pod of users(claim)) look(pod)
        },
        updated: (_, claim) => {
          queue.add(`claim ${objectKey(claim)}`)
          for (const pod of users(claim)) look(pod)
        },
        // Another is made in its place when something else happens to its pod.
        deleted: (claim) => void written.delete(objectKey(claim)),
      })
      await Promise.all([pods, claims, templates].map((informer) => informer.whenSynced(signal)))
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

function claimOf(pod: Pod, podClaim: string, template: ResourceClaimTemplate): ResourceClaim {
  const { metadata, spec } = template.spec
  const { labels, annotations } = metadata ?? {}
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: `${pod.metadata.name}-${podClaim}-`,
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, [POD_CLAIM_NAME]: podClaim },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '', controller: true },
      ],
    },
    spec,
  }
}
