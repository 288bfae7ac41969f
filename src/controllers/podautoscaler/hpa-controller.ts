/**
 * The HorizontalPodAutoscaler controller: every fifteen seconds it reads an autoscaler's metrics (metrics-client.ts), finds how
 * many replicas they ask for (metric-proposals.ts, replica-calculator.ts) and how far that may be followed now
 * (scaling-limits.ts), scales the target and tells of it. The controller manager starts it.
 */
import type { HorizontalPodAutoscaler, MetricStatus, Pod } from '../../api/generated/types.ts'
import { type CompiledSelector, formatLabelSelector } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import { quantityMilliValue } from '../../api/values/quantity.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { indexNamespace, namespaceIndex, objectKey, splitKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { podsResource } from '../pods/pod.ts'
import { actionOf, autoscalerMetrics, type ScalingAction } from './autoscaler-metrics.ts'
import { MetricFailure, proposalOf, type Target } from './metric-proposals.ts'
import { createMetricsClient } from './metrics-client.ts'
import type { Tolerances } from './replica-calculator.ts'
import { createScaleTargets, type ScaleTarget } from './scale-target.ts'
import { createScalingMemory, limitScaling, noteScaled, type ScalingMemory } from './scaling-limits.ts'
import { type PodAutoscalerOptions, USUAL_OPTIONS } from './settings.ts'
import {
  type AutoscalerCondition,
  type AutoscalerStatus,
  boundedReplicas,
  hasCondition,
  minReplicasOf,
  withAutoscalerCondition,
} from './status.ts'
import { createTargetSelectors } from './target-selectors.ts'

const autoscalersResource = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' }
const workers = 5

/** What the metrics said. Without `replicas` nothing is to be done about it. */
interface Found {
  readonly status: AutoscalerStatus
  readonly replicas?: number
  /** Of the metric that asks for most. */
  readonly metric?: string
}

/** What a look came to. */
interface Look {
  readonly status: AutoscalerStatus
  /** Absent where something failed. */
  readonly action?: ScalingAction
}

/** Why it cannot be said which pods are the target's. */
class PodsNotKnown extends Error {
  readonly event: string
  /** Of the condition. */
  readonly reason: string
  readonly told: string
  constructor(event: string, message: string, reason: string, told: string) {
    super(message)
    this.event = event
    this.reason = reason
    this.told = told
  }
}

export function createHpaController(
  context: ControllerContext,
  options: PodAutoscalerOptions = context.settings?.podAutoscaler ?? USUAL_OPTIONS,
): Controller {
  const { runtime, client, informers, signal } = context
  const autoscalers = informers.informer<HorizontalPodAutoscaler>(autoscalersResource)
  const pods = informers.informer<Pod>(podsResource)
  pods.addIndex(namespaceIndex, indexNamespace)
  const queue = createWorkQueue<string>(runtime, 'horizontalpodautoscaler')
  const ownWrites = createOwnWrites()
  const recorder = createEventRecorder(runtime, client, { component: 'horizontal-pod-autoscaler' })
  const targets = createScaleTargets(runtime, client)
  const metrics = createMetricsClient(runtime, client, targets.resourceOf, options.syncPeriodMs)
  const selectors = createTargetSelectors()
  const memories = new Map<string, ScalingMemory>()
  const told = autoscalerMetrics(runtime, () => (signal.aborted ? undefined : autoscalers.store.list().length))

  async function sync(key: string): Promise<void> {
    const autoscaler = autoscalers.store.get(key)
    if (autoscaler === undefined) {
      memories.delete(key)
      selectors.delete(key)
      ownWrites.forget(key)
      told.forget(key)
      return
    }
    queue.addAfter(key, options.syncPeriodMs)
    if (ownWrites.isBehind(key, autoscaler)) return
    const began = runtime.clock.monotonic()
    let action: ScalingAction | undefined
    try {
      const look = await reconcile(key, autoscaler)
      if (look.action !== undefined) told.wants(key, look.status.desiredReplicas ?? 0)
      await writeStatus(key, autoscaler, look.status)
      action = look.action
    } finally {
      told.looked(action, began)
    }
  }

  async function writeStatus(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    status: AutoscalerStatus,
  ): Promise<void> {
    if (sameJson(status, autoscaler.status ?? {})) return
    const resource = client.resource<HorizontalPodAutoscaler>(autoscalersResource).namespace(splitKey(key).namespace)
    const written = { ...autoscaler, status: status as NonNullable<HorizontalPodAutoscaler['status']> }
    ownWrites.wrote(key, await resource.update(written, { subresource: 'status' }))
  }

  /** Does what can be done, and returns the status that tells of it. */
  async function reconcile(key: string, autoscaler: HorizontalPodAutoscaler): Promise<Look> {
    const { namespace } = splitKey(key)
    const nowMs = runtime.clock.now()
    const old: AutoscalerStatus = autoscaler.status ?? {}
    const tell = (
      status: AutoscalerStatus,
      type: AutoscalerCondition,
      value: 'True' | 'False',
      reason: string,
      message: string,
    ) => withAutoscalerCondition(status, type, value, reason, message, nowMs)
    const reference = autoscaler.spec?.scaleTargetRef ?? { kind: '', name: '' }
    let target: ScaleTarget
    try {
      target = await targets.get(namespace, reference)
    } catch (error) {
      const message = messageOf(error)
      recorder.event(autoscaler, 'Warning', 'FailedGetScale', message)
      const why = `the HPA controller was unable to get the target's current scale: ${message}`
      return { status: tell(old, 'AbleToScale', 'False', 'FailedGetScale', why) }
    }
    const current = target.scale.spec?.replicas ?? 0
    const { currentReplicas: _, currentMetrics: __, ...kept } = old
    const succeeded = "the HPA controller was able to get the target's current scale"
    let status: AutoscalerStatus = {
      ...tell(kept, 'AbleToScale', 'True', 'SucceededGetScale', succeeded),
      observedGeneration: autoscaler.metadata.generation ?? 0,
      ...(current > 0 ? { currentReplicas: current } : {}),
      currentMetrics: null,
    }
    let memory = memories.get(key)
    if (memory === undefined) {
      memory = createScalingMemory(current, nowMs)
      memories.set(key, memory)
    }
    if (current === 0 && !hasCondition(old, 'ScaledToZero')) {
      const disabled = 'scaling is disabled since the replica count of the target is zero'
      const inactive = tell(status, 'ScalingActive', 'False', 'ScalingDisabled', disabled)
      return { status: { ...inactive, desiredReplicas: 0 }, action: 'none' }
    }
    // What the autoscaler itself has brought to rest, metrics may wake, whatever its bounds are by now.
    const bounded = current === 0 ? undefined : boundedReplicas(autoscaler, current)
    let { replicas, reason: why } = bounded ?? { replicas: current, reason: '' }
    if (bounded === undefined) {
      const found = await readMetrics(key, autoscaler, target, status, nowMs)
      status = found.status
      if (found.replicas === undefined) return { status }
      const wanted = found.replicas
      if (wanted !== current) why = wanted > current ? `${found.metric} above target` : 'All metrics below target'
      const limits = limitScaling({
        memory,
        behavior: autoscaler.spec?.behavior,
        current,
        wanted,
        min: minReplicasOf(autoscaler),
        max: autoscaler.spec?.maxReplicas ?? 0,
        nowMs,
        downscaleStabilizationMs: options.downscaleStabilizationMs,
      })
      status = tell(status, 'AbleToScale', 'True', limits.able.reason, limits.able.message)
      const { limited } = limits
      status = tell(status, 'ScalingLimited', limited.status, limited.reason, limited.message)
      replicas = limits.replicas
      const least = current === 0 ? boundedReplicas(autoscaler, replicas) : undefined
      if (least !== undefined) ({ replicas, reason: why } = least)
    }
    if (replicas === current) return { status: { ...status, desiredReplicas: replicas }, action: 'none' }

    const news = `New size: ${replicas}; reason: ${why}`
    try {
      await targets.scaleTo(namespace, target, replicas)
    } catch (error) {
      recorder.event(autoscaler, 'Warning', 'FailedRescale', `${news}; error: ${messageOf(error)}`)
      const failed = `the HPA controller was unable to update the target scale: ${messageOf(error)}`
      return { status: tell(status, 'AbleToScale', 'False', 'FailedUpdateScale', failed) }
    }
    recorder.event(autoscaler, 'Normal', 'SuccessfulRescale', news)
    noteScaled(memory, autoscaler.spec?.behavior, current, replicas, nowMs)
    const able = `the HPA controller was able to update the target scale to ${replicas}`
    const scaled = tell(status, 'AbleToScale', 'True', 'SucceededRescale', able)
    const [atZero, reason, zero] =
      replicas === 0
        ? (['True', 'ScaledToZero', 'the HPA controller scaled the workload to zero'] as const)
        : (['False', 'NotScaledToZero', 'the HPA controller did not scale the workload to zero'] as const)
    const ended = tell(scaled, 'ScaledToZero', atZero, reason, zero)
    return {
      status: { ...ended, lastScaleTime: formatTime(nowMs), desiredReplicas: replicas },
      action: actionOf(current, replicas),
    }
  }

  async function readMetrics(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    { scale, selector }: ScaleTarget,
    status: AutoscalerStatus,
    nowMs: number,
  ): Promise<Found> {
    const { namespace } = splitKey(key)
    const warn = (reason: string, message: string) => recorder.event(autoscaler, 'Warning', reason, message)
    const inactive = (reason: string, message: string) =>
      withAutoscalerCondition(status, 'ScalingActive', 'False', reason, message, nowMs)
    let own: readonly Pod[]
    try {
      own = podsUnder(key, selector)
    } catch (error) {
      if (!(error instanceof PodsNotKnown)) throw error
      warn(error.event, error.message)
      warn('FailedComputeMetricsReplicas', error.message)
      return { status: inactive(error.reason, error.told) }
    }
    const target: Target = {
      namespace,
      selector: selector === undefined ? '' : formatLabelSelector(selector),
      wanted: scale.spec?.replicas ?? 0,
      present: scale.status?.replicas ?? 0,
      counted: { pods: own, nowMs, options, tolerances: tolerancesOf(autoscaler) },
    }
    const specs = autoscaler.spec?.metrics ?? []
    const statuses: MetricStatus[] = []
    const failures: MetricFailure[] = []
    let replicas = 0
    let metric = ''
    for (const spec of specs) {
      const began = runtime.clock.monotonic()
      try {
        const outcome = await proposalOf(metrics, spec, target)
        told.computed(spec.type, actionOf(target.wanted, outcome.replicas), began)
        statuses.push(outcome.status)
        if (replicas === 0 || outcome.replicas > replicas) ({ replicas, name: metric } = outcome)
      } catch (error) {
        if (!(error instanceof MetricFailure)) throw error
        told.computed(spec.type, undefined, began)
        statuses.push({ type: '' })
        failures.push(error)
        warn(error.reason, error.message)
      }
    }
    const withMetrics = { ...status, currentMetrics: statuses }
    const [first] = failures
    // What is known may ask for more than there is; fewer is for all metrics to say.
    if (first !== undefined && (failures.length === specs.length || replicas < target.wanted)) {
      const invalid = `invalid metrics (${failures.length} invalid out of ${specs.length}), first error is`
      warn('FailedComputeMetricsReplicas', `${invalid}: ${first.nested}`)
      const why = `the HPA was unable to compute the replica count: ${first.message}`
      return { status: { ...inactive(first.reason, why), currentMetrics: statuses } }
    }
    const active = `the HPA was able to successfully calculate a replica count from ${metric}`
    return {
      status: withAutoscalerCondition(withMetrics, 'ScalingActive', 'True', 'ValidMetricFound', active, nowMs),
      replicas,
      metric,
    }
  }

  /** The target's pods. @throws PodsNotKnown */
  function podsUnder(key: string, selector: CompiledSelector | undefined): readonly Pod[] {
    if (selector === undefined)
      throw new PodsNotKnown(
        'SelectorRequired',
        'selector is required',
        'InvalidSelector',
        "the HPA target's scale is missing a selector",
      )
    const { namespace } = splitKey(key)
    selectors.set(key, selector)
    const own = pods.store
      .byIndex(namespaceIndex, namespace)
      .filter(({ metadata }) => selector.matches(metadata.labels))
    const over = selectors.over(namespace, own)
    if (over.length < 2) return own
    const told = `pods by selector ${formatLabelSelector(selector)} are controlled by more than one HPA (e.g. [${over.slice(0, 2).join(' ')}])`
    throw new PodsNotKnown('AmbiguousSelector', told, 'AmbiguousSelector', told)
  }

  function tolerancesOf({ spec }: HorizontalPodAutoscaler): Tolerances {
    const of = (tolerance: string | undefined) =>
      tolerance === undefined ? options.tolerance : Number(quantityMilliValue(tolerance)) / 1000
    return { down: of(spec?.behavior?.scaleDown?.tolerance), up: of(spec?.behavior?.scaleUp?.tolerance) }
  }

  return {
    name: 'horizontal-pod-autoscaler',
    async start() {
      const now = (autoscaler: HorizontalPodAutoscaler) => queue.add(objectKey(autoscaler))
      autoscalers.addHandlers({
        added: now,
        // What changes in the status alone can wait for the next look.
        updated(old, autoscaler) {
          if (old.metadata.generation !== autoscaler.metadata.generation) now(autoscaler)
          else queue.addAfter(objectKey(autoscaler), options.syncPeriodMs)
        },
        deleted: now,
      })
      await Promise.all([autoscalers.whenSynced(signal), pods.whenSynced(signal)])
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}
