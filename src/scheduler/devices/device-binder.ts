/**
 * Gives pods their devices (plugin DynamicResources): which claims a pod waits for, what can be allocated for it on a node, and
 * before it is bound the writing down. What was allocated for one pod is no other's from that moment on.
 */
import type {
  AllocationResult,
  DeviceClass,
  DeviceTaintRule,
  Node,
  Pod,
  ResourceClaimStatus,
  ResourceSlice,
} from '../../api/generated/types.ts'
import type { JsonObject } from '../../api/object.ts'
import { nodeTermMatches } from '../../api/objects/node-affinity.ts'
import {
  claimNamesOf,
  claimsResource,
  consumerOf,
  DELETE_PROTECTION,
  isMadeFor,
  isReservedFor,
  podClaims,
  type ResourceClaim,
  reservedFor,
  withDeleteProtection,
} from '../../api/objects/resource-claims.ts'
import { isConflict, isNotFound, StatusError } from '../../api/status.ts'
import { formatTime, sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import type { InformerFactory } from '../../client/informer.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import { type ClusterEvent, tellOf } from '../cluster-events.ts'
import { allocateDevices, NotNow } from './allocator.ts'
import { bindingState, isOverdue } from './binding-conditions.ts'
import { createClaimsInUse } from './claims-in-use.ts'
import {
  backedResources,
  claimFor,
  type ExtendedRequest,
  extendedRequests,
  extendedStatus,
  withoutPlugin,
} from './extended-resources.ts'
import { poolsOf } from './pools.ts'
import { createSelectors } from './selectors.ts'
import { taintsBy } from './taints.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }
const GROUP = { group: 'resource.k8s.io', version: 'v1' }
const POLL_MS = 5000

export { ClaimError } from './selectors.ts'

/** A pod's claims. */
export interface PodDevices {
  readonly claims: readonly ResourceClaim[]
  /** Of resources that devices may stand for. */
  readonly extended: readonly ExtendedRequest[]
}

/** What is to be done before the pod may be bound to a node: for each claim what it is to have, undefined for one that has it. */
export interface DevicePlan {
  readonly entries: readonly { readonly claim: ResourceClaim; readonly allocation: AllocationResult | undefined }[]
  /** A claim that is to be made. */
  readonly extended?: {
    readonly claim: ResourceClaim
    readonly requests: readonly ExtendedRequest[]
    readonly allocation: AllocationResult
  }
}

export interface DeviceBinding {
  readonly node: string
  readonly recorder: EventRecorder
  readonly isWanted: () => boolean
  readonly longestMs: number
}

export interface DeviceBinder {
  /** Its claims have to come first: nothing is tried, and nothing told, before. */
  isGated(pod: Pod): boolean
  /** What the pod asks for; undefined for a pod without claims; a text says why no node can run it. */
  devicesOf(pod: Pod): PodDevices | string | undefined
  /** Devices stand for this resource where a node has none of it by a plugin. */
  isBacked(resource: string): boolean
  /** For nodes in turn, over what there is at this moment; `longestMs`: how long devices may take to be made ready. */
  planner(pod: Pod, devices: PodDevices, longestMs: number): (node: Node) => DevicePlan | string
  reserve(pod: Pod, plan: DevicePlan): void
  release(pod: Pod, plan: DevicePlan): void
  /** @throws what a user can be told, and after `longestMs` */
  bind(pod: Pod, plan: DevicePlan, on: DeviceBinding): Promise<void>
  /** The pod did not get to its node after all. */
  takeBack(pod: Pod, plan: DevicePlan): Promise<void>
  /** Claims that keep the pod from its nodes, though no other pod uses them, are freed. Whether there were any. */
  freeUnused(pod: Pod, devices: PodDevices): boolean
  whenSynced(signal: AbortSignal): Promise<void>
}

/** `happened` is told of each change of claims, classes, slices and taints. */
export function createDeviceBinder(
  runtime: Runtime,
  client: Client,
  informers: InformerFactory,
  happened: (event: ClusterEvent) => void,
  signal: AbortSignal,
): DeviceBinder {
  const claims = informers.informer<ResourceClaim>(claimsResource)
  const slices = informers.informer<ResourceSlice>({ ...GROUP, resource: 'resourceslices' })
  const classes = informers.informer<DeviceClass>({ ...GROUP, resource: 'deviceclasses' })
  const rules = informers.informer<DeviceTaintRule>({ ...GROUP, resource: 'devicetaintrules' })
  const selectors = createSelectors()
  const inUse = createClaimsInUse((key) => claims.store.get(key))
  const claimAt = inUse.at
  /** All the slices there are, as pools: until one changes. */
  let pools: ReturnType<typeof poolsOf> | undefined

  claims.addHandlers(
    tellOf('resource.k8s.io/ResourceClaim', (event) => {
      const claim = (event.now ?? event.old) as ResourceClaim
      inUse.noticed(claim)
      happened(event)
    }),
  )
  slices.addHandlers(
    tellOf('resource.k8s.io/ResourceSlice', (event) => {
      pools = undefined
      happened(event)
    }),
  )
  /** Resources that classes stand for: until one changes. */
  let backed: ReturnType<typeof backedResources> | undefined
  const backedNow = () => {
    backed ??= backedResources(classes.store.list())
    return backed
  }
  classes.addHandlers(
    tellOf('resource.k8s.io/DeviceClass', (event) => {
      backed = undefined
      happened(event)
    }),
  )
  rules.addHandlers(tellOf('resource.k8s.io/DeviceTaintRule', happened))

  /** What of a pod's claims is not as it must be for the pod to be looked at; the claims themselves. */
  function claimsOf(pod: Pod): readonly ResourceClaim[] | undefined {
    const found: ResourceClaim[] = []
    for (const { name, template } of podClaims(pod)) {
      if (name === null) continue
      const claim = name === undefined ? undefined : claimAt(`${pod.metadata.namespace}/${name}`)
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined
      if (template !== undefined && !isMadeFor(claim, pod)) return undefined
      found.push(claim)
    }
    return found
  }

  const of = (claim: ResourceClaim) =>
    client.resource<ResourceClaim>(claimsResource).namespace(claim.metadata.namespace ?? '')

  async function write(claim: ResourceClaim, subresource: string): Promise<ResourceClaim> {
    const answer = await of(claim).update(claim, subresource === '' ? {} : { subresource })
    inUse.answered(answer)
    return answer
  }

  /** The claim has what was chosen for it, and the pod may use it. What it has become meanwhile is looked at again. */
  async function bindClaim(
    pod: Pod,
    given: ResourceClaim,
    allocation: AllocationResult | undefined,
  ): Promise<ResourceClaim> {
    let claim = given
    for (;;) {
      try {
        // What gives it free may take the finalizer away at any time until it is allocated.
        if (allocation !== undefined && !claim.metadata.finalizers?.includes(DELETE_PROTECTION))
          claim = await write(withDeleteProtection(claim), '')
        return await write({ ...claim, status: boundStatus(pod, claim, allocation) }, 'status')
      } catch (error) {
        if (isInvalid(error))
          throw new Error(`add reservation to claim ${objectKey(given)}: ${error.message}`, { cause: error })
        if (!isConflict(error)) throw error
        claim = await of(given).get(given.metadata.name ?? '')
        if (claim.metadata.uid !== given.metadata.uid)
          throw new Error(`claim ${objectKey(given)} got replaced`, { cause: error })
      }
    }
  }

  function boundStatus(pod: Pod, claim: ResourceClaim, allocation: AllocationResult | undefined): ResourceClaimStatus {
    if (claim.metadata.deletionTimestamp !== undefined)
      throw new Error(`claim ${claim.metadata.name} got deleted in the meantime`)
    if (allocation === undefined && !isAllocated(claim))
      throw new Error(`claim ${claim.metadata.name} got deallocated elsewhere in the meantime`)
    if (allocation !== undefined && isAllocated(claim))
      throw new Error(`claim ${claim.metadata.name} got allocated elsewhere in the meantime`)
    const allocationTimestamp = formatTime(runtime.clock.now())
    return {
      ...claim.status,
      ...(allocation === undefined ? {} : { allocation: { ...allocation, allocationTimestamp } }),
      reservedFor: isReservedFor(claim, pod) ? reservedFor(claim) : [...reservedFor(claim), consumerOf(pod)],
    }
  }

  async function bindExtended(pod: Pod, { claim, requests, allocation }: NonNullable<DevicePlan['extended']>) {
    const made = await of(claim).create(claim)
    inUse.named(pod.metadata.uid ?? '', objectKey(made))
    const bound = await bindClaim(pod, made, allocation)
    const { namespace = '', name = '' } = pod.metadata
    const status = { extendedResourceClaimStatus: extendedStatus(bound, requests) as JsonObject }
    await client.resource(PODS).namespace(namespace).patch(name, 'strategic', { status }, { subresource: 'status' })
    return bound
  }

  /** The claim for a pod's extended resources is made anew when it is tried again. */
  async function removeExtended(pod: Pod): Promise<void> {
    const key = inUse.nameOf(pod.metadata.uid ?? '')
    if (key === undefined) return
    inUse.settleUnnamed(pod.metadata.uid ?? '')
    const { namespace, name } = splitKey(key)
    try {
      const claim = await client.resource<ResourceClaim>(claimsResource).namespace(namespace).get(name)
      await takeBackFrom(claim, pod)
      await of(claim).delete(name)
    } catch (error) {
      if (!isNotFound(error)) runtime.log.info(2, 'a claim stays', { claim: key, err: String(error) })
    }
  }

  async function takeBackFrom(claim: ResourceClaim, pod: Pod): Promise<void> {
    if (!isReservedFor(claim, pod)) return
    const patch = {
      metadata: { uid: claim.metadata.uid ?? '' },
      status: { reservedFor: [{ $patch: 'delete', uid: pod.metadata.uid ?? '' }] },
    }
    const answer = await of(claim).patch(claim.metadata.name ?? '', 'strategic', patch, { subresource: 'status' })
    inUse.answered(answer)
  }

  /** Resolves when all devices are ready for the pod: their drivers say so in the claims, which are looked at now and then. */
  async function ready(keys: readonly string[], { isWanted, longestMs }: DeviceBinding): Promise<void> {
    const deadline = runtime.clock.now() + longestMs
    for (;;) {
      if (!isWanted()) throw new Error('pod does not exist any more')
      const states = keys.map((key) => bindingState(claimAt(key)))
      const failed = states.find((state) => typeof state !== 'string')
      if (failed !== undefined)
        throw new Error(
          `device binding failed: claim=${failed.claim}, reason=${failed.reason}, message=${JSON.stringify(failed.message)}`,
        )
      if (states.every((state) => state === 'ready')) return
      const left = deadline - runtime.clock.now()
      if (left <= 0) throw new Error('device binding timeout: context deadline exceeded')
      await sleep(runtime.clock, Math.min(POLL_MS, left), signal)
    }
  }

  return {
    isGated: (pod) => podClaims(pod).length > 0 && claimsOf(pod) === undefined,
    isBacked: (resource) => backedNow().has(resource),
    devicesOf(pod) {
      const extended = extendedRequests(pod, backedNow())
      if (podClaims(pod).length === 0 && extended.length === 0) return undefined
      const found = claimsOf(pod)
      if (found === undefined) return 'waiting for resource claims'
      for (const claim of found) {
        const key = objectKey(claim)
        if (claim.status?.allocation !== undefined) {
          continue
        }
        if (inUse.isPromised(key)) return `resource claim ${key} is in the process of being allocated`
        const missing = missingClass(claim, (name) => classes.store.get(name))
        if (missing !== undefined) return missing
      }
      return { claims: found, extended }
    },
    planner(pod, devices, longestMs) {
      const open = devices.claims.filter((claim) => claim.status?.allocation === undefined)
      pools ??= poolsOf(slices.store.list())
      const all = pools
      const state = {
        usage: inUse.usage,
        classes: (name: string) => classes.store.get(name),
        selectors,
        taints: taintsBy(rules.store.list()),
        newShare: () => runtime.random.uuid(),
      }
      const answers = new Map<Node, DevicePlan | string>()
      const plan = (node: Node): DevicePlan | string => {
        for (const claim of devices.claims) {
          if (typeof bindingState(claim) !== 'string' || isOverdue(claim, runtime.clock.now(), longestMs))
            return 'resourceclaim not available on the node'
          const terms = claim.status?.allocation?.nodeSelector?.nodeSelectorTerms
          if (terms !== undefined && !terms.some((term) => nodeTermMatches(term, node)))
            return 'resourceclaim not available on the node'
        }
        const requests = withoutPlugin(devices.extended, node)
        const made = requests.length === 0 ? [] : [claimFor(pod, requests)]
        if (open.length + made.length === 0)
          return { entries: devices.claims.map((claim) => ({ claim, allocation: undefined })) }
        const pools = all.forNode(node)
        try {
          const allocations = allocateDevices([...open, ...made], node, { ...state, pools })
          if (allocations === undefined)
            return pools.some(({ isInvalid }) => isInvalid)
              ? 'invalid resource pools were encountered'
              : 'cannot allocate all claims'
          return {
            entries: devices.claims.map((claim) => ({ claim, allocation: allocations[open.indexOf(claim)] })),
            ...(made[0] && {
              extended: { claim: made[0], requests, allocation: allocations[open.length] as AllocationResult },
            }),
          }
        } catch (error) {
          if (error instanceof NotNow) return error.message
          throw error
        }
      }
      return (node) => {
        const answer = answers.get(node) ?? plan(node)
        answers.set(node, answer)
        return answer
      }
    },
    reserve(pod, { entries, extended }) {
      const { uid = '' } = pod.metadata
      if (extended !== undefined) inUse.promiseUnnamed(uid, extended.allocation)
      for (const { claim, allocation } of entries)
        if (allocation !== undefined) inUse.promise(objectKey(claim), allocation)
    },
    release(pod, { entries }) {
      const { uid = '' } = pod.metadata
      // One that is made counts until it is seen.
      if (inUse.nameOf(uid) === undefined) inUse.settleUnnamed(uid)
      for (const { claim, allocation } of entries) if (allocation !== undefined) inUse.settle(objectKey(claim))
    },
    async bind(pod, { entries, extended }, binding) {
      const keys: string[] = []
      for (const { claim, allocation } of entries) {
        if (isReservedFor(claim, pod)) continue
        const bound = await bindClaim(pod, claim, allocation)
        inUse.settle(objectKey(bound))
      }
      for (const { claim } of entries) keys.push(objectKey(claim))
      if (extended !== undefined) keys.push(objectKey(await bindExtended(pod, extended)))
      if (keys.some((key) => bindingState(claimAt(key)) !== 'ready')) {
        const note = `waiting for binding conditions for device on node ${binding.node}`
        binding.recorder.event(pod, 'Normal', 'BindingConditionsPending', note, { action: 'Scheduling' })
      }
      await ready(keys, binding)
    },
    async takeBack(pod, { entries }) {
      await removeExtended(pod)
      for (const { claim } of entries) {
        const latest = claimAt(objectKey(claim))
        if (latest === undefined || latest.metadata.uid !== claim.metadata.uid) continue
        try {
          await takeBackFrom(latest, pod)
        } catch (error) {
          if (!isNotFound(error))
            runtime.log.info(2, 'a claim stays reserved', { claim: objectKey(claim), err: String(error) })
        }
      }
    },
    freeUnused(pod, { claims: own }) {
      const unused = own.find(
        (claim) =>
          claim.status?.allocation !== undefined && reservedFor(claim).every(({ uid }) => uid === pod.metadata.uid),
      )
      if (unused === undefined) return false
      const { allocation: _, reservedFor: __, devices: ___, ...status } = unused.status ?? {}
      of(unused)
        .update({ ...unused, status }, { subresource: 'status' })
        .catch((error) => {
          runtime.log.info(2, 'a claim was not freed', { claim: objectKey(unused), err: String(error) })
        })
      return true
    },
    async whenSynced(signal) {
      await Promise.all([claims, slices, classes, rules].map((informer) => informer.whenSynced(signal)))
    },
  }
}

const isInvalid = (error: unknown): error is StatusError => error instanceof StatusError && error.code === 422

const isAllocated = (claim: ResourceClaim): boolean => claim.status?.allocation !== undefined

function missingClass(claim: ResourceClaim, classOf: (name: string) => DeviceClass | undefined): string | undefined {
  for (const request of claim.spec?.devices?.requests ?? []) {
    const { name, exactly, firstAvailable = [] } = request
    const asked: readonly (readonly [string, string])[] =
      exactly === undefined
        ? firstAvailable.map((sub) => [`${name}/${sub.name}`, sub.deviceClassName ?? ''])
        : [[name, exactly.deviceClassName ?? '']]
    for (const [title, className] of asked)
      if (classOf(className) === undefined) return `request ${title}: device class ${className} does not exist`
  }
  return undefined
}

/** Keys of a pod's claims. */
export const deviceClaimKeysOf = (pod: Pod): readonly string[] =>
  claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`)
