/**
 * The device taint eviction controller: deletes pods whose devices have got NoExecute taints that their claims do not tolerate, at once
 * or after the seconds that they do, and tells in DeviceTaintRules how far that is (KEP-5055). The controller manager starts it.
 * Which devices pods may get is the scheduler's business.
 */
import type { DeviceRequestAllocationResult, DeviceTaintRule, Pod, ResourceSlice } from '../../api/generated/types.ts'
import { ruleSelects } from '../../api/objects/device-taints.ts'
import { claimNamesOf, claimsResource, type ResourceClaim, reservedFor } from '../../api/objects/resource-claims.ts'
import { isNotFound } from '../../api/status.ts'
import { formatTime, type Timer } from '../../base/clock.ts'
import { createEventRecorder } from '../../client/events.ts'
import { objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { disruptionPatch } from '../pods/disruption-target.ts'
import { podsResource } from '../pods/pod.ts'
import { type EvictionTime, earlier, evictionTime, type FoundTaint, never } from './eviction-time.ts'
import { evictionProgressOf, type RuleState } from './rule-condition.ts'

const name = 'device-taint-eviction-controller'
const slicesResource = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceslices' }
const rulesResource = { group: 'resource.k8s.io', version: 'v1', resource: 'devicetaintrules' }
const workers = 8
/** How often a rule tells of its progress. */
const PROGRESS_MS = 10_000
const CONDITION = 'EvictionInProgress'
/** Claims by the pools of their devices, and slices by their pool. */
const poolIndex = 'pool'

type Item = `${'pod' | 'rule'} ${string}`

const poolOf = ({ driver, pool }: { readonly driver: string; readonly pool: string }): string => `${driver}/${pool}`
const poolOfSlice = ({ spec }: ResourceSlice): string => poolOf({ driver: spec.driver, pool: spec.pool.name })
const results = (claim: ResourceClaim): readonly DeviceRequestAllocationResult[] =>
  claim.status?.allocation?.devices?.results ?? []

export function createDeviceTaintEvictionController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const { clock } = runtime
  const pods = informers.informer<Pod>(podsResource)
  const claims = informers.informer<ResourceClaim>(claimsResource)
  const slices = informers.informer<ResourceSlice>(slicesResource)
  const rules = informers.informer<DeviceTaintRule>(rulesResource)
  const queue = createWorkQueue<Item>(runtime, 'device-taint-eviction-controller')
  const recorder = createEventRecorder(runtime, client, { component: name })
  /** Evictions that wait for their time. */
  const scheduled = new Map<string, { readonly uid: string; readonly at: number; readonly timer: Timer }>()
  /** Uids of pods that have been told to go. */
  const evicted = new Map<string, string>()
  const evictedBy = new Map<string, number>()
  const toldAt = new Map<string, number>()

  /** All taints of one device of a claim. */
  function taintsOf(result: DeviceRequestAllocationResult): readonly FoundTaint[] {
    const { driver, pool, device } = result
    const ofPool = slices.store.byIndex(poolIndex, poolOf(result))
    const newest = Math.max(...ofPool.map(({ spec }) => spec?.pool?.generation ?? 0))
    const own = ofPool
      .filter(({ spec }) => (spec?.pool?.generation ?? 0) === newest)
      .flatMap(({ spec }) => spec.devices ?? [])
      .filter((one) => one.name === device)
      .flatMap(({ taints = [] }) => taints)
    return [
      ...own.map((taint) => ({ taint, rule: undefined })),
      ...rules.store.list().flatMap((rule) => {
        const { taint } = rule.spec
        return taint !== undefined && ruleSelects(rule.spec, { driver, pool, device })
          ? [{ taint, rule: rule.metadata.name ?? '' }]
          : []
      }),
    ]
  }

  /** `change`: what else than they are the taints are taken for. */
  function timeOf(pod: Pod, change: (found: FoundTaint) => FoundTaint = (found) => found): EvictionTime {
    let time = never
    for (const claimName of claimNamesOf(pod)) {
      const claim = claims.store.get(`${pod.metadata.namespace}/${claimName}`)
      if (claim === undefined || !reservedFor(claim).some(({ uid }) => uid === pod.metadata.uid)) continue
      for (const result of results(claim)) {
        const taints = taintsOf(result).map(change)
        time = earlier(time, evictionTime(taints, result.tolerations, clock.now()))
      }
    }
    return time
  }

  const isThere = (pod: Pod): boolean => Boolean(pod.spec?.nodeName) && pod.metadata.deletionTimestamp === undefined

  function forget(key: string, announce: boolean): void {
    const waiting = scheduled.get(key)
    if (waiting === undefined) return
    waiting.timer.cancel()
    scheduled.delete(key)
    if (announce) podEvent(key, waiting.uid, 'Cancelling deletion')
  }

  function podEvent(key: string, uid: string, message: string): void {
    const metadata = { ...splitKey(key), uid }
    recorder.event({ apiVersion: 'v1', kind: 'Pod', metadata }, 'Normal', 'DeviceTaintManagerEviction', message)
  }

  /** Soon, but not more often than rules tell of their progress. */
  function tellOf(names: readonly string[]): void {
    for (const rule of names) {
      const last = toldAt.get(rule)
      if (last === undefined) queue.add(`rule ${rule}`)
      else queue.addAfter(`rule ${rule}`, Math.max(0, last + PROGRESS_MS - clock.now()))
    }
  }

  async function syncPod(key: string): Promise<void> {
    const pod = pods.store.get(key)
    if (pod === undefined) evicted.delete(key)
    if (pod === undefined || !isThere(pod)) return forget(key, false)
    const { uid = '' } = pod.metadata
    const time = timeOf(pod)
    const waiting = scheduled.get(key)
    if (time.at === Number.POSITIVE_INFINITY) return forget(key, waiting?.uid === uid)
    if (time.at <= clock.now()) {
      forget(key, false)
      if (evicted.get(key) !== uid) await evict(key, pod, time.rules)
      return
    }
    if (waiting?.uid === uid && waiting.at === time.at) return
    forget(key, false)
    const timer = clock.setTimer(time.at - clock.now(), 'device taint eviction', () => {
      scheduled.delete(key)
      queue.add(`pod ${key}`)
    })
    scheduled.set(key, { uid, at: time.at, timer })
    tellOf(time.rules)
  }

  async function evict(key: string, { metadata: { uid = '' } }: Pod, because: readonly string[]): Promise<void> {
    const { namespace, name: podName } = splitKey(key)
    const resource = client.resource<Pod>(podsResource).namespace(namespace)
    evicted.set(key, uid)
    podEvent(key, uid, 'Marking for deletion')
    try {
      const pod = await resource.get(podName)
      if (pod.metadata.uid !== uid) return
      const reason = 'DeletionByDeviceTaintManager'
      const message = 'Device Taint manager: deleting due to NoExecute taint'
      const patch = disruptionPatch(pod, { reason, message, unobserved: true }, false, clock.now())
      if (patch !== undefined) await resource.patch(podName, 'strategic', patch, { subresource: 'status' })
      await resource.delete(podName, { preconditions: { uid } })
      for (const rule of because) evictedBy.set(rule, (evictedBy.get(rule) ?? 0) + 1)
      tellOf(because)
    } catch (error) {
      if (isNotFound(error)) return
      evicted.delete(key)
      throw error
    }
  }

  function stateOf(rule: DeviceTaintRule): RuleState {
    const { spec } = rule
    const { name: ruleName = '' } = rule.metadata
    const effect = spec.taint?.effect ?? ''
    const state = { effect, published: 0, allocated: 0, pods: [] as string[], evicted: evictedBy.get(ruleName) ?? 0 }
    if (!['None', 'NoExecute'].includes(effect)) return state
    if (effect === 'None')
      for (const { spec: own } of slices.store.list())
        for (const { name: device } of own.devices ?? [])
          if (ruleSelects(spec, { driver: own.driver, pool: own.pool.name, device })) state.published++
    const asked = new Set<string>()
    for (const claim of claims.store.list()) {
      const selected = results(claim).filter(({ driver, pool, device }) => ruleSelects(spec, { driver, pool, device }))
      state.allocated += selected.length
      if (selected.length === 0) continue
      for (const consumer of reservedFor(claim)) asked.add(`${claim.metadata.namespace}/${consumer.name}`)
    }
    for (const key of asked) {
      const pod = pods.store.get(key)
      if (pod === undefined || !isThere(pod)) continue
      const { rules: because } = timeOf(pod, (found) =>
        found.rule === ruleName ? { ...found, taint: { ...found.taint, effect: 'NoExecute' } } : found,
      )
      if (because.includes(ruleName)) state.pods.push(key)
    }
    return state
  }

  async function syncRule(ruleName: string): Promise<void> {
    const rule = rules.store.get(ruleName)
    if (rule === undefined) {
      toldAt.delete(ruleName)
      evictedBy.delete(ruleName)
      return
    }
    const { generation = 0, uid = '' } = rule.metadata
    const told = (rule.status?.conditions ?? []).find(({ type }) => type === CONDITION)
    const isToldOf = told?.observedGeneration === generation
    const state = stateOf(rule)
    // What a rule would do is told once.
    if (isToldOf && state.effect !== 'NoExecute') return
    const progress = evictionProgressOf(state)
    if (isToldOf && told?.reason === progress.reason && told?.message === progress.message) return
    const { status: before, lastTransitionTime: since = '' } = told ?? {}
    const lastTransitionTime: string = before === progress.status ? since : formatTime(clock.now())
    toldAt.set(ruleName, clock.now())
    const condition = { ...progress, type: CONDITION, observedGeneration: generation, lastTransitionTime }
    const { apiVersion = '', kind = '' } = rule
    const body = { apiVersion, kind, metadata: { name: ruleName, uid }, status: { conditions: [condition] } }
    await client
      .resource(rulesResource)
      .patch(ruleName, 'apply', body, { subresource: 'status', fieldManager: name, force: true })
      .catch((error) => {
        if (!isNotFound(error)) throw error
      })
  }

  async function sync(item: Item): Promise<void> {
    const at = item.indexOf(' ')
    const key = item.slice(at + 1)
    await (item.startsWith('pod') ? syncPod(key) : syncRule(key))
  }

  const lookAtPods = (claim: ResourceClaim) => {
    for (const { name: consumer } of reservedFor(claim)) queue.add(`pod ${claim.metadata.namespace}/${consumer}`)
  }
  /** Most pods have no devices. */
  const podChanged = (pod: Pod) => {
    const key = objectKey(pod)
    if (claimNamesOf(pod).length > 0 || scheduled.has(key) || evicted.has(key)) queue.add(`pod ${key}`)
  }
  const sliceChanged = (slice: ResourceSlice) => {
    for (const claim of claims.store.byIndex(poolIndex, poolOfSlice(slice))) lookAtPods(claim)
  }
  const ruleChanged = (rule: DeviceTaintRule) => {
    queue.add(`rule ${rule.metadata.name}`)
    for (const claim of claims.store.list())
      if (results(claim).some(({ driver, pool, device }) => ruleSelects(rule.spec, { driver, pool, device })))
        lookAtPods(claim)
  }

  return {
    name,
    async start() {
      claims.addIndex(poolIndex, (claim) => [...new Set(results(claim).map(poolOf))])
      slices.addIndex(poolIndex, (slice) => [poolOfSlice(slice)])
      pods.addHandlers({ added: podChanged, updated: (_, pod) => podChanged(pod), deleted: podChanged })
      claims.addHandlers({
        added: lookAtPods,
        updated: (old, claim) => {
          lookAtPods(old)
          lookAtPods(claim)
        },
        deleted: lookAtPods,
      })
      slices.addHandlers({ added: sliceChanged, updated: (_, slice) => sliceChanged(slice), deleted: sliceChanged })
      rules.addHandlers({
        added: ruleChanged,
        updated: (old, rule) => {
          if (old.metadata.generation === rule.metadata.generation && old.metadata.uid === rule.metadata.uid) return
          ruleChanged(old)
          ruleChanged(rule)
        },
        deleted: ruleChanged,
      })
      await Promise.all([pods, claims, slices, rules].map((informer) => informer.whenSynced(signal)))
      signal.addEventListener('abort', () => {
        for (const { timer } of scheduled.values()) timer.cancel()
      })
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
