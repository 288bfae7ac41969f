/** What a simulated node that begins finds of the pods that ran on it before: their containers, as their statuses tell. */
import type { ContainerStatus } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import { type Container, isTerminalPhase, type Pod, runtimeIdOf, specOf, uidOf } from './pod.ts'
import type { RuntimePodStatus } from './pod-cache.ts'
import type { ContainerConfig, RuntimeContainerStatus } from './runtimes/runtime.ts'
import type { AdoptedPod } from './runtimes/simulated/manner.ts'
import { sandboxConfigOf } from './sandbox-config.ts'
import type { ContainerStarter } from './start-container.ts'

/** What a container runs with that was started `attempt` times before. */
type ConfigOf = (pod: Pod, container: Container, attempt: number) => Promise<ContainerConfig>

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
  ...(status?.ephemeralContainerStatuses ?? []),
]

type Ended = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

interface Run {
  /** How often it was started before. */
  readonly attempt: number
  readonly ended: Ended | undefined
}

/** What of the container is still there: the run before the present one, and that, where it was started. */
function runsOf({ state, lastState, restartCount }: ContainerStatus): readonly Run[] {
  const last = lastState?.terminated
  const isLatest = state?.running === undefined && state?.terminated === undefined
  const before = last === undefined ? [] : [{ attempt: isLatest ? restartCount : restartCount - 1, ended: last }]
  return isLatest ? before : [...before, { attempt: restartCount, ended: state?.terminated }]
}

export interface Adoptions {
  /** The pod was on the node before this machine began. */
  foundPod(pod: Pod): void
  /** Takes it over, once, if it had run. */
  adopt(uid: string): Promise<void>
  forget(uid: string): void
}

export interface AdoptionOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly configOf: ContainerStarter['configOf']
  /** Undefined where containers outlive the process. */
  readonly adopt: ((pod: AdoptedPod) => void) | undefined
  readonly adopted: (pod: Pod) => Promise<void>
}

export function createAdoptions({ clock, configOf, adopt, adopted }: AdoptionOptions): Adoptions {
  /** By uid, as they were when this machine began. */
  const waiting = new Map<string, Pod>()
  return {
    foundPod(pod) {
      if (adopt !== undefined && hasRun(pod)) waiting.set(uidOf(pod), pod)
    },
    async adopt(uid) {
      const pod = waiting.get(uid)
      if (pod === undefined) return
      const status: RuntimePodStatus = {
        uid,
        ips: (pod.status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []),
        sandboxes: [],
        containers: [],
      }
      const found = await adoptedPod(pod, clock.now(), (_, container, attempt) =>
        configOf(pod, container, status, attempt)
          // What it was made of may be gone by now; then nothing tells what its variables were.
          .catch(() => configOf(pod, { ...container, env: [], envFrom: [] }, status, attempt)),
      )
      if (!waiting.delete(uid)) return
      adopt?.(found)
      await adopted(pod)
    },
    forget: (uid) => void waiting.delete(uid),
  }
}

/** Some of its containers were started, and it has not ended. */
const hasRun = (pod: Pod): boolean =>
  !isTerminalPhase(pod.status?.phase) && statusesOf(pod).some((status) => runsOf(status).length > 0)

async function adoptedPod(pod: Pod, now: number, configOf: ConfigOf): Promise<AdoptedPod> {
  const { initContainers = [], containers, ephemeralContainers = [] } = specOf(pod)
  const specs = new Map(
    ([...initContainers, ...containers, ...ephemeralContainers] as readonly Container[]).map((one) => [one.name, one]),
  )
  const { podIPs = [], startTime } = pod.status ?? {}
  const sandbox = sandboxConfigOf(pod, 0)
  const adopted: AdoptedPod['containers'][number][] = []
  for (const told of statusesOf(pod)) {
    const container = specs.get(told.name)
    if (container === undefined) continue
    for (const run of runsOf(told)) {
      const config = await configOf(pod, container, run.attempt)
      adopted.push({ config, status: runtimeStatusOf(pod, config, told, run.ended, now) })
    }
  }
  return {
    sandbox,
    sandboxId: `sandbox-${uidOf(pod)}`,
    createdAt: timeOf(startTime, now),
    ips: sandbox.hostNetwork ? [] : podIPs.flatMap(({ ip }) => (ip === undefined ? [] : [ip])),
    containers: adopted,
  }
}

const timeOf = (text: string | undefined, otherwise: number) => (text === undefined ? otherwise : Date.parse(text))

function runtimeStatusOf(
  pod: Pod,
  { metadata, labels }: ContainerConfig,
  told: ContainerStatus,
  ended: Ended | undefined,
  now: number,
): Omit<RuntimeContainerStatus, 'podSandboxId'> {
  const { state, image, imageID } = told
  const startedAt = timeOf((ended ?? state?.running)?.startedAt ?? undefined, now)
  return {
    id: runtimeIdOf(ended?.containerID ?? told.containerID) || `${uidOf(pod)}-${metadata.name}-${metadata.attempt}`,
    metadata,
    state: ended === undefined ? 'running' : 'exited',
    createdAt: startedAt,
    startedAt,
    finishedAt: ended === undefined ? 0 : timeOf(ended.finishedAt ?? undefined, now),
    exitCode: ended?.exitCode ?? 0,
    image,
    imageId: imageID,
    reason: ended?.reason ?? '',
    message: ended?.message ?? '',
    labels,
  }
}
