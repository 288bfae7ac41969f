/** Starts one container: back-off, image, environment, create, start, postStart hook; with the Events of each step. */

import type { LifecycleHandler, PodStatus } from '../api/generated/types.ts'
import { durationMs } from '../api/objects/integers.ts'
import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { References } from './configmaps-and-secrets.ts'
import { environmentOf } from './container-environment.ts'
import { createCrashLoopBackOff } from './crash-loop-back-off.ts'
import type { DeviceClaims } from './dra/device-claims.ts'
import {
  type ImageVolumes,
  imagesMountedBy,
  NO_IMAGE_VOLUMES,
  pullImageVolumes,
  type VolumeImage,
} from './image-volumes.ts'
import type { Images } from './images/pull-policy-and-back-off.ts'
import { IMAGE_LABEL } from './init-containers-sidecars-and-restarts.ts'
import type { Killer } from './kill-pod.ts'
import type { Machine } from './machine/machine.ts'
import type { ImageMetrics } from './metrics/image-metrics.ts'
import {
  annotationsOf,
  type Container,
  containerPath,
  formatPod,
  hookReachOf,
  initContainersOf,
  nameOf,
  namespaceOf,
  type Pod,
  runsToCompletion,
  specOf,
  uidOf,
} from './pod.ts'
import { latestContainer, type RuntimePodStatus } from './pod-cache.ts'
import type { PodEvents } from './pod-events.ts'
import { RESOURCES_LABEL } from './pod-resize.ts'
import { isToBeginAnew } from './restart-all.ts'
import {
  CONTAINER_NAME_LABEL,
  type ContainerConfig,
  type ContainerRuntime,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
} from './runtimes/runtime.ts'
import { sandboxConfigOf } from './sandbox-config.ts'
import { StartContainerError } from './sync-error.ts'
import { expanded } from './variable-expansion.ts'
import type { StartFailures } from './waiting-reasons.ts'
import type { WorkMetrics } from './work-metrics.ts'

export interface ContainerStarter {
  /** What the pod's volumes that are images refer to. @throws the signal's reason */
  imageVolumes(pod: Pod, signal: AbortSignal): Promise<ImageVolumes>
  /** @throws StartContainerError, which is also noted as the container's start failure */
  start(request: StartRequest, signal: AbortSignal): Promise<void>
  /** What a container is run with. @throws Error while something that it refers to is missing */
  configOf(
    pod: Pod,
    container: Container,
    status: RuntimePodStatus,
    attempt: number,
    images?: ReadonlyMap<string, VolumeImage>,
  ): Promise<ContainerConfig>
  forget(uid: string): void
}

export interface StartRequest {
  readonly pod: Pod
  readonly container: Container
  readonly sandboxId: string
  readonly status: RuntimePodStatus
  /** The pod's status as it was told last. Default: the object's. */
  readonly told?: PodStatus | undefined
  /** Default: none. */
  readonly imageVolumes?: ImageVolumes
}

export interface ContainerStarterOptions {
  readonly runtime: Runtime
  readonly containerRuntime: ContainerRuntime
  readonly images: Images
  readonly references: References
  readonly failures: StartFailures
  readonly events: PodEvents
  readonly killer: Killer
  readonly hostIPs: readonly string[]
  readonly deviceClaims: Pick<DeviceClaims, 'devices'>
  /** Of a real node. */
  readonly machine?: Machine
  readonly longestBackOffMs?: number | undefined
  readonly counts?: WorkMetrics | undefined
  readonly imageCounts?: ImageMetrics | undefined
}

export function createContainerStarter(options: ContainerStarterOptions): ContainerStarter {
  const {
    runtime,
    containerRuntime,
    images,
    references,
    failures,
    events,
    killer,
    hostIPs,
    machine,
    deviceClaims,
    counts,
  } = options
  const { clock } = runtime
  const backOff = createCrashLoopBackOff(runtime, events, options.longestBackOffMs)

  async function run(
    { pod, container, sandboxId, status, told = pod.status, imageVolumes = NO_IMAGE_VOLUMES }: StartRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const path = containerPath(pod, container.name)
    const failed = (text: string) => events.warning(pod, 'Failed', `Error: ${text}`, path)
    backOff.check(pod, container, status)
    const mounted = imagesMountedBy(pod, container, imageVolumes, events, options.imageCounts)
    try {
      const { image = '', imagePullPolicy: policy } = container
      await images.ensure(pod, { image, policy, fieldPath: path }, signal)
    } catch (error) {
      if (error instanceof StartContainerError) failed(error.reason)
      throw error
    }

    const attempt = attemptOf(pod, container, status, told)
    const config = await configOf(pod, container, status, attempt, mounted).catch((error) => {
      failed(messageOf(error))
      throw new StartContainerError('CreateContainerConfigError', messageOf(error), undefined, { cause: error })
    })
    const id = await containerRuntime.createContainer(sandboxId, config).catch((error) => {
      failed(messageOf(error))
      throw new StartContainerError('CreateContainerError', messageOf(error), undefined, { cause: error })
    })
    const problems = containerRuntime.simulated?.problems(config)
    if (problems !== undefined)
      for (const problem of await problems) events.warning(pod, 'InvalidSimulation', problem, path)
    events.normal(pod, 'Created', 'Container created', path)
    await containerRuntime.startContainer(id, signal).catch((error) => {
      if (signal.aborted) throw error
      failed(messageOf(error))
      throw new StartContainerError('RunContainerError', messageOf(error), undefined, { cause: error })
    })
    events.normal(pod, 'Started', 'Container started', path)
    await postStart(pod, container, id, status.ips, signal)
  }

  async function configOf(
    pod: Pod,
    container: Container,
    status: RuntimePodStatus,
    attempt: number,
    mountedImages: ReadonlyMap<string, VolumeImage> = new Map(),
  ): Promise<ContainerConfig> {
    const podIPs = specOf(pod).hostNetwork === true ? hostIPs : status.ips
    const sources = { hostIPs, podIPs, ...machine?.sources(pod) }
    const envs = await environmentOf(pod, container, references, sources)
    const words = (texts: readonly string[] = []) =>
      texts.map((text) => expanded(text, (name) => (Object.hasOwn(envs, name) ? envs[name] : undefined)))
    const config: ContainerConfig = {
      metadata: { name: container.name, attempt },
      image: container.image ?? '',
      command: words(container.command),
      args: words(container.args),
      workingDir: container.workingDir ?? '',
      envs,
      mounts: (container.volumeMounts ?? []).map(({ mountPath, name, readOnly }) => ({
        containerPath: mountPath,
        volume: name,
        readOnly: readOnly === true,
      })),
      labels: {
        [POD_UID_LABEL]: uidOf(pod),
        [POD_NAME_LABEL]: nameOf(pod),
        [POD_NAMESPACE_LABEL]: namespaceOf(pod),
        [CONTAINER_NAME_LABEL]: container.name,
        [IMAGE_LABEL]: container.image ?? '',
        ...(container.resources === undefined ? {} : { [RESOURCES_LABEL]: JSON.stringify(container.resources) }),
      },
      annotations: annotationsOf(pod),
      runsToCompletion: runsToCompletion(pod, container),
      isInit: initContainersOf(pod).some(({ name }) => name === container.name),
    }
    if (machine === undefined) return config
    const imageUser = await containerRuntime.real?.imageUser(config.image)
    const sandbox = await machine.sandbox(
      pod,
      sandboxConfigOf(pod, status.sandboxes[0]?.metadata.attempt ?? 0),
      () => {},
    )
    return machine.container({
      pod,
      container,
      config,
      sandbox,
      podIPs,
      imageUser,
      mountedImages,
      cdiDevices: deviceClaims.devices(pod, container),
      allocations: (await machine.devicePlugins?.begin(pod, container)) ?? [],
      ...targetOf(container, status),
    })
  }

  async function postStart(
    pod: Pod,
    container: Container,
    id: string,
    podIPs: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const handler = container.lifecycle?.postStart
    if (handler === undefined) return
    try {
      if (handler.sleep !== undefined) await sleep(clock, durationMs(handler.sleep.seconds), signal)
      else {
        const action = { kind: 'postStart', handler, timeoutSeconds: Number.MAX_SAFE_INTEGER / 1000 } as const
        const where = hookReachOf(pod, container, podIPs)
        const { success, output, said } = await containerRuntime.probe(id, { ...action, ...where }, signal)
        if (!success) throw new Error(hookFailure(pod, container, handler, output, said))
      }
    } catch (error) {
      if (signal.aborted) throw error
      events.warning(pod, 'FailedPostStartHook', 'PostStartHook failed', containerPath(pod, container.name))
      const own = await containerRuntime.listContainers({ labels: { [POD_UID_LABEL]: uidOf(pod) } })
      const status = own.find((one) => one.id === id)
      if (status !== undefined) await killer.killContainer(pod, status, 'postStart', 'FailedPostStartHook')
      throw new StartContainerError('PostStartHookError', messageOf(error), undefined, { cause: error })
    }
  }

  return {
    imageVolumes: (pod, signal) => pullImageVolumes(images, pod, signal, options.imageCounts),
    async start(request, signal) {
      const { pod, container } = request
      try {
        const started = () => run(request, signal)
        await (counts === undefined ? started() : counts.started(pod, container.name, started, signal))
        failures.delete(uidOf(pod), container.name)
      } catch (error) {
        if (error instanceof StartContainerError)
          failures.set(uidOf(pod), container.name, { reason: error.reason, message: error.message })
        throw error
      }
    },
    configOf,
    forget(uid) {
      backOff.forget(uid)
    },
  }
}

/** `said`: what a command printed. */
function hookFailure(pod: Pod, container: Container, handler: LifecycleHandler, output: string, said?: string): string {
  const [kind, what] =
    handler.exec === undefined
      ? ['HTTP', handler.httpGet?.path ?? '']
      : ['Exec', `[${(handler.exec.command ?? []).join(' ')}]`]
  const message = said === undefined ? '' : `, message: ${JSON.stringify(said)}`
  return `${kind} lifecycle hook (${what}) for Container "${container.name}" in Pod "${formatPod(pod)}" failed - error: ${output}${message}`
}

/** The container's restart count: one more than its last, also when only the API still remembers that one. */
function attemptOf(pod: Pod, container: Container, status: RuntimePodStatus, last: PodStatus = {}): number {
  const latest = latestContainer(status, container.name)
  if (latest !== undefined) return latest.metadata.attempt + 1
  const isInit = initContainersOf(pod).some(({ name }) => name === container.name)
  const told = isInit ? last.initContainerStatuses : last.containerStatuses
  const old = told?.find(({ name }) => name === container.name)
  return old?.containerID === undefined || isToBeginAnew(old) ? (old?.restartCount ?? 0) : old.restartCount + 1
}

/** The container whose processes an ephemeral one asks to see. */
function targetOf(container: Container, status: RuntimePodStatus): { readonly targetId?: string } {
  const { targetContainerName } = container as Container & { readonly targetContainerName?: string }
  const target = targetContainerName ? latestContainer(status, targetContainerName) : undefined
  return target === undefined ? {} : { targetId: target.id }
}
