/**
 * A simulated node that takes the place of another one, as it is in a twin of a cluster: what its Node says of the machine stays, and the
 * containers of its pods go on, as their statuses tell, instead of being started again.
 */
import type { ContainerStatus, Node, Pod } from '../api/generated/types.ts'
import type { Runtime } from '../base/runtime.ts'
import type { KubeletOptions } from './kubelet.ts'
import {
  annotationsOf,
  type Container,
  initContainersOf,
  isTerminalPhase,
  nameOf,
  namespaceOf,
  runsToCompletion,
  specOf,
  uidOf,
} from './pod.ts'
import { IMAGE_LABEL } from './pod-actions.ts'
import { createPodAddresses } from './pod-addresses.ts'
import {
  CONTAINER_NAME_LABEL,
  type ContainerConfig,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
  type RuntimeContainerStatus,
} from './runtimes/runtime.ts'
import type { AdoptedPod, ContainerManner } from './runtimes/simulated/manner.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'
import { sandboxConfigOf } from './sandbox-config.ts'

export interface NodeToAdopt {
  readonly as: Node
  readonly pods?: readonly Pod[]
  readonly manner?: ContainerManner
  /** Of pods that come to it later. */
  readonly podCIDR: string
}

export function adoptedNode(
  runtime: Runtime,
  { as, pods = [], manner, podCIDR }: NodeToAdopt,
): Pick<KubeletOptions, 'containerRuntime' | 'capacity' | 'nodeIP' | 'kubeletVersion' | 'describe'> {
  const { capacity, addresses = [], nodeInfo } = as.status ?? {}
  const address = addresses.find(({ type }) => type === 'InternalIP')?.address
  const [name = '', version = ''] = (nodeInfo?.containerRuntimeVersion ?? '').split('://')
  return {
    ...(capacity === undefined ? {} : { capacity }),
    ...(address === undefined ? {} : { nodeIP: address }),
    ...(nodeInfo === undefined
      ? {}
      : {
          kubeletVersion: nodeInfo.kubeletVersion,
          describe: () => ({
            architecture: nodeInfo.architecture,
            machineId: nodeInfo.machineID,
            bootId: nodeInfo.bootID,
          }),
        }),
    containerRuntime: createSimulatedRuntime(runtime, createPodAddresses(podCIDR), {
      adopted: pods.flatMap((pod) => adoptedPod(pod, runtime.clock.now())),
      ...(manner === undefined ? {} : { manner }),
      ...(name === '' ? {} : { version: { runtimeName: name, runtimeVersion: version } }),
    }),
  }
}

/** None of a pod of which nothing runs: its kubelet begins with it, or is done with it. */
function adoptedPod(pod: Pod, now: number): readonly AdoptedPod[] {
  const {
    phase,
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {}
  const statuses = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  if (isTerminalPhase(phase) || !statuses.some(({ state }) => state?.running !== undefined)) return []
  const { podIPs = [], startTime } = pod.status ?? {}
  const { initContainers = [], containers, ephemeralContainers = [] } = specOf(pod)
  const specs = new Map(
    ([...initContainers, ...containers, ...ephemeralContainers] as readonly Container[]).map((one) => [one.name, one]),
  )
  const sandbox = sandboxConfigOf(pod, 0)
  return [
    {
      sandbox,
      sandboxId: `sandbox-${uidOf(pod)}`,
      createdAt: timeOf(startTime, now),
      ips: sandbox.hostNetwork ? [] : podIPs.flatMap(({ ip }) => (ip === undefined ? [] : [ip])),
      containers: statuses.flatMap((status) => {
        const container = specs.get(status.name)
        const made = container === undefined ? undefined : adoptedContainer(pod, container, status, now)
        return made === undefined ? [] : [made]
      }),
    },
  ]
}

const timeOf = (text: string | undefined, otherwise: number) => (text === undefined ? otherwise : Date.parse(text))

function adoptedContainer(
  pod: Pod,
  container: Container,
  told: ContainerStatus,
  now: number,
): AdoptedPod['containers'][number] | undefined {
  const { state, lastState, restartCount = 0, image, imageID } = told
  const ended = state?.terminated ?? (state?.running === undefined ? lastState?.terminated : undefined)
  if (state?.running === undefined && ended === undefined) return undefined
  const config: ContainerConfig = {
    metadata: { name: container.name, attempt: restartCount },
    image: container.image ?? '',
    command: container.command ?? [],
    args: container.args ?? [],
    workingDir: container.workingDir ?? '',
    envs: {},
    mounts: [],
    labels: {
      [POD_UID_LABEL]: uidOf(pod),
      [POD_NAME_LABEL]: nameOf(pod),
      [POD_NAMESPACE_LABEL]: namespaceOf(pod),
      [CONTAINER_NAME_LABEL]: container.name,
      [IMAGE_LABEL]: container.image ?? '',
    },
    annotations: annotationsOf(pod),
    runsToCompletion: runsToCompletion(pod, container),
    isInit: initContainersOf(pod).some(({ name }) => name === container.name),
  }
  const startedAt = timeOf((state?.running ?? ended)?.startedAt ?? undefined, now)
  const status: Omit<RuntimeContainerStatus, 'podSandboxId'> = {
    id: (told.containerID ?? ended?.containerID ?? '').replace(/^[^:]*:\/\//, '') || `${uidOf(pod)}-${container.name}`,
    metadata: config.metadata,
    state: ended === undefined ? 'running' : 'exited',
    createdAt: startedAt,
    startedAt,
    finishedAt: ended === undefined ? 0 : timeOf(ended.finishedAt ?? undefined, now),
    exitCode: ended?.exitCode ?? 0,
    image: image ?? '',
    imageId: imageID ?? '',
    reason: ended?.reason ?? '',
    message: ended?.message ?? '',
    labels: config.labels,
  }
  return { config, status }
}
