/**
 * Binds a pod to the node that was chosen for it: first its volumes and devices are reserved and bound there (the framework's
 * Reserve and PreBind), then the Binding is created. What fails is given back, and the pod tried again.
 */
import type { Pod } from '../api/generated/types.ts'
import { isNotFound } from '../api/status.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import type { EventRecorder } from '../client/events.ts'
import type { AttemptMetrics } from './attempt-metrics.ts'
import { type ClusterEvent, podEvent } from './cluster-events.ts'
import type { DeviceBinder, DevicePlan } from './devices/device-binder.ts'
import { binderAmong, boundBy, type Extender, ExtenderError, extendersFor } from './extenders/extender.ts'
import type { ClusterNodes, NodeInfo } from './node-info.ts'
import type { Nominations } from './nominations.ts'
import type { PodInfo } from './pod-info.ts'
import type { PodStatusWriter, Unscheduled } from './pod-status.ts'
import type { SchedulerProfile } from './profile.ts'
import type { SchedulingQueue } from './queue.ts'
import type { VolumeBinder } from './volume-binder.ts'
import type { VolumePlan } from './volume-binding-and-first-consumer.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }

export interface PodBinderOptions {
  readonly client: Client
  readonly signal: AbortSignal
  readonly podNow: (key: string) => Pod | undefined
  readonly cluster: Pick<ClusterNodes, 'removePod'>
  readonly queue: Pick<SchedulingQueue, 'remove' | 'attemptOf'>
  readonly nominations: Pick<Nominations, 'remove'>
  readonly volumes: VolumeBinder
  readonly devices: DeviceBinder
  readonly podStatus: PodStatusWriter
  readonly extenders: readonly Extender[]
  readonly attempts: AttemptMetrics
  readonly profileOf: (info: PodInfo) => SchedulerProfile
  readonly recorderOf: (info: PodInfo) => EventRecorder
  readonly happened: (event: ClusterEvent) => void
  /** Tells why a pod got no node. */
  readonly refused: (info: PodInfo, why: Unscheduled) => void
  /** Takes a pod as it is now into the queue, or onto its node. */
  readonly place: (pod: Pod) => void
}

export interface PodBinder {
  bind(info: PodInfo, node: NodeInfo, plan: VolumePlan, given: DevicePlan | undefined): Promise<void>
  /** It has a node and waits for its volumes and devices there. */
  isOnItsWay(key: string): boolean
}

export function createPodBinder(options: PodBinderOptions): PodBinder {
  const { client, signal, podNow, cluster, queue, nominations, volumes, devices, podStatus } = options
  const { attempts, extenders, profileOf, recorderOf, happened, refused, place } = options
  const onTheirWay = new Set<string>()

  async function bind(info: PodInfo, node: NodeInfo, plan: VolumePlan, given: DevicePlan | undefined): Promise<void> {
    const { namespace = '', name: podName = '' } = info.pod.metadata
    // Once it is bound the queue does not know it any more.
    const attempt = queue.attemptOf(info)
    try {
      if ((await bindVolumes(info, node, plan, given)) === 'failed') return
      const extender = binderAmong(extendersFor(extenders, info.pod))
      if (extender === undefined || !(await boundBy(extender, info, node.name)))
        await client
          .resource(PODS)
          .namespace(namespace)
          .create(
            {
              apiVersion: 'v1',
              kind: 'Binding',
              metadata: { name: podName, namespace, uid: info.uid },
              target: { kind: 'Node', name: node.name },
            },
            { subresource: 'binding', name: podName },
          )
      const message = `Successfully assigned ${namespace}/${podName} to ${node.name}`
      attempts.ended(profileOf(info).schedulerName, 'scheduled', attempt)
      recorderOf(info).event(info.pod, 'Normal', 'Scheduled', message, { action: 'Binding' })
    } catch (error) {
      if (signal.aborted) return
      if (podNow(info.key)?.spec?.nodeName !== node.name) {
        cluster.removePod(info.key)
        if (given !== undefined) await devices.takeBack(info.pod, given)
      }
      if (isNotFound(error)) {
        queue.remove(info.key)
        return
      }
      nominations.remove(info.key)
      const where = error instanceof ExtenderError ? '' : 'running Bind plugin "DefaultBinder": '
      const message = `${where}${messageOf(error)}`
      refused(info, { reason: 'SchedulerError', message, nominatedNode: null })
      // Others may have what it had taken.
      happened(podEvent('AssignedPodDelete', info.pod, undefined))
    }
  }

  /** Claims that wait for the pod get their volumes and devices before it gets its node. */
  async function bindVolumes(
    info: PodInfo,
    node: NodeInfo,
    plan: VolumePlan,
    given: DevicePlan | undefined,
  ): Promise<'done' | 'failed'> {
    const hasVolumes = plan.bindings.length > 0 || plan.provisions.length > 0
    if (!hasVolumes && given === undefined) return 'done'
    if (hasVolumes) volumes.reserve(plan, node.name)
    if (given !== undefined) devices.reserve(info.pod, given)
    onTheirWay.add(info.key)
    const release = () => {
      if (hasVolumes) volumes.release(plan)
      if (given !== undefined) devices.release(info.pod, given)
    }
    const isWanted = () => podNow(info.key)?.metadata.uid === info.uid
    let where = 'running PreBind plugin "VolumeBinding": binding volumes'
    try {
      await podStatus.nominate(info, node.name)
      if (hasVolumes) await volumes.bind(plan, node.name, isWanted, profileOf(info).args.bindTimeoutMs)
      where = 'running PreBind plugin "DynamicResources"'
      if (given !== undefined) {
        const { deviceBindingTimeoutMs: longestMs } = profileOf(info).args
        await devices.bind(info.pod, given, { node: node.name, recorder: recorderOf(info), isWanted, longestMs })
      }
      release()
      return 'done'
    } catch (error) {
      if (signal.aborted) return 'failed'
      cluster.removePod(info.key)
      release()
      if (given !== undefined) await devices.takeBack(info.pod, given)
      onTheirWay.delete(info.key)
      happened({ name: 'ReservationReleased', old: undefined, now: undefined })
      const current = podNow(info.key)
      if (current?.metadata.uid !== info.uid) {
        queue.remove(info.key)
        // Another one of its name has come meanwhile.
        if (current !== undefined) place(current)
        return 'failed'
      }
      const message = `${where}: ${messageOf(error)}`
      nominations.remove(info.key)
      refused(info, { reason: 'SchedulerError', message, nominatedNode: null })
      happened(podEvent('AssignedPodDelete', info.pod, undefined))
      // What was changed of it meanwhile was not heard.
      place(current)
      return 'failed'
    } finally {
      onTheirWay.delete(info.key)
    }
  }

  return { bind, isOnItsWay: (key) => onTheirWay.has(key) }
}
