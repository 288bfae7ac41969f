/** The probes of all pods: starts one prober per probe and running container, and knows the latest results. */
import type { Probe } from '../../api/generated/types.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { ContainerChecks } from '../init-containers-sidecars-and-restarts.ts'
import {
  type Container,
  containerPath,
  initContainersOf,
  isSidecar,
  type Pod,
  reachOf,
  runtimeIdOf,
  specOf,
  uidOf,
} from '../pod.ts'
import { latestContainer, type RuntimePodStatus } from '../pod-cache.ts'
import type { PodEvents } from '../pod-events.ts'
import type { ContainerRuntime, ProbeAction, RuntimeContainerStatus } from '../runtimes/runtime.ts'
import { expanded } from '../variable-expansion.ts'
import { createProbeMetrics, type ProbeMetrics } from './probe-metrics.ts'
import { type ProbeKind, type Prober, startProber } from './probe-period-and-thresholds.ts'

export interface ProbeManager extends ContainerChecks {
  ready(containerId: string, container: Container): boolean
  /**
   * The kubelet begins with a pod that ran before it: until they are probed, its containers are as ready as their status says, and
   * started for good.
   */
  inherit(pod: Pod): void
  /** Probes what runs of the pod. */
  add(pod: Pod, status: RuntimePodStatus): void
  /** A pod that ends is only asked whether it is ready. */
  stopLivenessAndStartup(uid: string): void
  forget(uid: string): void
  readonly metrics: ProbeMetrics
}

const KINDS: readonly ProbeKind[] = ['startup', 'liveness', 'readiness']
const titles: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' }

/** A probe's command with the variables in it that the container's spec gives a value. */
function commandOf({ env = [] }: Container, { exec }: Probe): Pick<ProbeAction, 'command'> {
  if (exec?.command === undefined) return {}
  const values = new Map(env.map(({ name, value = '' }) => [name, value]))
  return { command: exec.command.map((word) => expanded(word, (name) => values.get(name))) }
}

export function createProbeManager(
  runtime: Runtime,
  containerRuntime: ContainerRuntime,
  events: PodEvents,
  sync: (uid: string) => void,
  hostIP = '',
): ProbeManager {
  /** By kind, by container id. */
  const results: Readonly<Record<ProbeKind, Map<string, boolean>>> = {
    startup: new Map(),
    liveness: new Map(),
    readiness: new Map(),
  }
  /** By pod: containers whose results come from its status. */
  const inherited = new Map<string, readonly string[]>()
  /** By pod, by kind and container name. */
  const probers = new Map<string, Map<string, Prober>>()

  const metrics = createProbeMetrics()

  const started = (id: string, container: Container) =>
    container.startupProbe === undefined || results.startup.get(id) === true

  function drop(own: Map<string, Prober>, key: string): void {
    const prober = own.get(key)
    if (prober === undefined) return
    prober.stop()
    own.delete(key)
    results[key.slice(0, key.indexOf('/')) as ProbeKind].delete(prober.containerId)
  }

  function start(
    pod: Pod,
    container: Container,
    status: RuntimeContainerStatus,
    kind: ProbeKind,
    podIPs: readonly string[],
  ): Prober | undefined {
    const probe = container[`${kind}Probe`]
    if (probe === undefined || (kind === 'startup' && results.startup.get(status.id) === true)) return undefined
    const uid = uidOf(pod)
    const path = containerPath(pod, container.name)
    return startProber({
      runtime,
      containerRuntime,
      kind,
      probe,
      container: status,
      reach: { ...reachOf(pod, container, podIPs, hostIP), ...commandOf(container, probe) },
      initial: kind === 'liveness' || results[kind].get(status.id) === true,
      allowed: () => kind === 'startup' || started(status.id, container),
      failed(output, errored) {
        const what = errored === undefined ? 'failed' : `errored and resulted in ${errored} state`
        events.warning(pod, 'Unhealthy', `${titles[kind]} probe ${what}: ${output}`, path)
      },
      came: (result, seconds) => metrics.counted(pod, container.name, titles[kind], result, seconds),
      warned: (warning) => events.warning(pod, 'ProbeWarning', `${titles[kind]} probe warning: ${warning}`, path),
      changed(success) {
        results[kind].set(status.id, success)
        if (kind !== 'liveness' || !success) sync(uid)
        if (kind === 'startup') {
          probers.get(uid)?.get(`readiness/${container.name}`)?.trigger()
          probers.get(uid)?.get(`liveness/${container.name}`)?.trigger()
        }
        // A startup probe has done its work either way; a container that failed its liveness probe is killed.
        return kind === 'readiness' || (kind === 'liveness' && success)
      },
    })
  }

  return {
    started,
    ready: (id, container) => container.readinessProbe === undefined || results.readiness.get(id) === true,
    livenessFailed: (id) => results.liveness.get(id) === false,
    startupFailed: (id) => results.startup.get(id) === false,
    inherit(pod) {
      const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
      const running = [...initContainerStatuses, ...containerStatuses].filter(
        ({ state }) => state?.running !== undefined,
      )
      const ids = running.map(({ containerID, ready, started }) => {
        const id = runtimeIdOf(containerID)
        if (ready) results.readiness.set(id, true)
        if (started === true) results.startup.set(id, true)
        return id
      })
      if (ids.length > 0) inherited.set(uidOf(pod), ids)
    },
    add(pod, status) {
      const uid = uidOf(pod)
      let own = probers.get(uid)
      for (const container of [...initContainersOf(pod).filter(isSidecar), ...specOf(pod).containers]) {
        for (const kind of KINDS) {
          if (container[`${kind}Probe`] === undefined) continue
          const key = `${kind}/${container.name}`
          const latest = latestContainer(status, container.name)
          if (own?.get(key)?.containerId === latest?.id) {
            if (latest?.state !== 'running' && own !== undefined) drop(own, key)
            continue
          }
          if (own !== undefined) drop(own, key)
          if (latest?.state !== 'running') continue
          const prober = start(pod, container, latest, kind, status.ips)
          if (prober === undefined) continue
          if (own === undefined) {
            own = new Map()
            probers.set(uid, own)
          }
          own.set(key, prober)
        }
      }
    },
    stopLivenessAndStartup(uid) {
      const own = probers.get(uid)
      if (own === undefined) return
      for (const [key, prober] of own) if (!key.startsWith('readiness/')) prober.stop()
    },
    metrics,
    forget(uid) {
      metrics.forget(uid)
      for (const id of inherited.get(uid) ?? []) for (const kind of KINDS) results[kind].delete(id)
      inherited.delete(uid)
      const own = probers.get(uid)
      if (own === undefined) return
      for (const key of [...own.keys()]) drop(own, key)
      probers.delete(uid)
    },
  }
}
