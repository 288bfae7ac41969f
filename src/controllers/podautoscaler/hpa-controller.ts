/**
 * The HorizontalPodAutoscaler controller: keeps a target's replicas within its bounds, and tells why it can do no more: there
 * are no metrics (metrics.ts). The controller manager starts it.
 */

import { apiVersionOf, type Fields, type KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { DiscoveredResource, Discovery } from '../../client/client.ts'
import { findByKind } from '../../client/discovery.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createOwnWrites } from '../../client/own-writes.ts'
import { objectKey } from '../../client/store.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { metricFailures } from './metrics.ts'
import { boundedReplicas, isDisabled, withCondition } from './status.ts'

const autoscalersResource = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' }
const workers = 5
/** As often each is looked at. */
const periodMs = 15_000
/** A kind that was not found may come: discovery is asked again, but not for each. */
const discoveryMs = 30_000

export function createHpaController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const autoscalers = informers.informer(autoscalersResource)
  const queue = createWorkQueue<string>(runtime, 'horizontalpodautoscaler')
  const ownWrites = createOwnWrites()
  const recorder = createEventRecorder(runtime, client, { component: 'horizontal-pod-autoscaler' })
  let discovery: { readonly found: Discovery; readonly at: number } | undefined

  async function resourceOf(apiVersion: string, kind: string): Promise<DiscoveredResource | undefined> {
    const now = runtime.clock.monotonic()
    const known = discovery && findByKind(discovery.found.everyVersion, apiVersion, kind)
    if (known !== undefined || (discovery !== undefined && now - discovery.at < discoveryMs)) return known
    discovery = { found: await client.discover(), at: now }
    return findByKind(discovery.found.everyVersion, apiVersion, kind)
  }

  async function sync(key: string): Promise<void> {
    const autoscaler = autoscalers.store.get(key)
    if (autoscaler === undefined) return ownWrites.forget(key)
    queue.addAfter(key, periodMs)
    if (ownWrites.isBehind(key, autoscaler)) return
    const status = await reconcile(autoscaler)
    if (sameJson(status, autoscaler['status'] ?? {})) return
    const resource = client.resource(autoscalersResource).namespace(autoscaler.metadata.namespace ?? '')
    ownWrites.wrote(key, await resource.update({ ...autoscaler, status } as KubeObject, { subresource: 'status' }))
  }

  /** Does what can be done, and returns the status that tells of it. */
  async function reconcile(autoscaler: KubeObject): Promise<Fields> {
    const nowMs = runtime.clock.now()
    const old: Fields = autoscaler['status'] ?? {}
    let target: { readonly scale: KubeObject; readonly resource: DiscoveredResource }
    try {
      target = await scaleOf(autoscaler)
    } catch (error) {
      const message = messageOf(error)
      recorder.event(autoscaler, 'Warning', 'FailedGetScale', message)
      const told = `the HPA controller was unable to get the target's current scale: ${message}`
      return withCondition(old, 'AbleToScale', 'False', 'FailedGetScale', told, nowMs)
    }
    const current: number = target.scale['spec']?.replicas ?? 0
    let status: Fields = {
      ...old,
      observedGeneration: autoscaler.metadata.generation ?? 0,
      ...(current > 0 ? { currentReplicas: current } : {}),
    }
    const succeeded = "the HPA controller was able to get the target's current scale"
    status = withCondition(status, 'AbleToScale', 'True', 'SucceededGetScale', succeeded, nowMs)
    if (isDisabled(autoscaler, current)) {
      const disabled = 'scaling is disabled since the replica count of the target is zero'
      status = withCondition(status, 'ScalingActive', 'False', 'ScalingDisabled', disabled, nowMs)
      return { ...status, desiredReplicas: 0 }
    }
    const bounded = boundedReplicas(autoscaler, current)
    return bounded === undefined
      ? tellMetrics(autoscaler, status, nowMs)
      : rescale(autoscaler, status, target, bounded, nowMs)
  }

  function tellMetrics(autoscaler: KubeObject, status: Fields, nowMs: number): Fields {
    const failures = metricFailures(autoscaler)
    const [first] = failures
    if (first === undefined) return status
    for (const { reason, message } of failures) recorder.event(autoscaler, 'Warning', reason, message)
    const invalid = `invalid metrics (${failures.length} invalid out of ${failures.length}), first error is`
    const failed = `failed to get ${first.what} metric value: ${first.message}`
    recorder.event(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', `${invalid}: ${failed}`)
    const told = `the HPA was unable to compute the replica count: ${first.message}`
    return {
      ...withCondition(status, 'ScalingActive', 'False', first.reason, told, nowMs),
      currentMetrics: failures.map(() => ({ type: '' })),
    }
  }

  async function rescale(
    autoscaler: KubeObject,
    status: Fields,
    { scale, resource }: { readonly scale: KubeObject; readonly resource: DiscoveredResource },
    { replicas, reason }: { readonly replicas: number; readonly reason: string },
    nowMs: number,
  ): Promise<Fields> {
    const news = `New size: ${replicas}; reason: ${reason}`
    try {
      await client
        .resource(resource)
        .namespace(autoscaler.metadata.namespace ?? '')
        .update({ ...scale, spec: { ...scale['spec'], replicas } } as KubeObject, { subresource: 'scale' })
    } catch (error) {
      recorder.event(autoscaler, 'Warning', 'FailedRescale', `${news}; error: ${messageOf(error)}`)
      const told = `the HPA controller was unable to update the target scale: ${messageOf(error)}`
      return withCondition(status, 'AbleToScale', 'False', 'FailedUpdateScale', told, nowMs)
    }
    recorder.event(autoscaler, 'Normal', 'SuccessfulRescale', news)
    const able = `the HPA controller was able to update the target scale to ${replicas}`
    const scaled = withCondition(status, 'AbleToScale', 'True', 'SucceededRescale', able, nowMs)
    const above = 'the HPA controller did not scale the workload to zero'
    return {
      ...withCondition(scaled, 'ScaledToZero', 'False', 'NotScaledToZero', above, nowMs),
      lastScaleTime: formatTime(nowMs),
      desiredReplicas: replicas,
    }
  }

  /** @throws Error in Kubernetes' words */
  async function scaleOf(autoscaler: KubeObject) {
    const { apiVersion = 'v1', kind, name } = autoscaler['spec'].scaleTargetRef as Readonly<Record<string, string>>
    const resource = await resourceOf(apiVersion, kind ?? '')
    if (resource === undefined) {
      const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
      throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`)
    }
    const root = resource.group === '' ? 'api' : 'apis'
    const base = `/${root}/${apiVersionOf(resource.group, resource.version)}`
    const path = `${base}/namespaces/${autoscaler.metadata.namespace}/${resource.resource}/${name}/scale`
    const { status, body } = await client.raw('GET', path)
    const answer: KubeObject = JSON.parse(body)
    if (status >= 400) throw new Error(String(answer['message']))
    return { scale: answer, resource }
  }

  return {
    name: 'horizontal-pod-autoscaler',
    async start() {
      // What was just written is given time to settle.
      const later = (autoscaler: KubeObject) => queue.addAfter(objectKey(autoscaler), periodMs)
      autoscalers.addHandlers({ added: later, updated: (_, autoscaler) => later(autoscaler), deleted: later })
      await autoscalers.whenSynced(signal)
      runWorkers(runtime, queue, workers, sync, signal)
    },
  }
}
