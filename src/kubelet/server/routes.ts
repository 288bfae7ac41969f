/**
 * What a kubelet answers: logs, exec, attach, port-forward, its pods, what they use. A request that comes this far is allowed: over a socket the
 * kubelet's server has seen to that, within the process it is the API server that asks.
 */
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import { messageOf } from '../../base/errors.ts'
import { createMetrics } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Kubelet } from '../kubelet.ts'
import { nameOf, namespaceOf, type Pod, uidOf } from '../pod.ts'
import type { RealRuntime } from '../runtimes/runtime.ts'
import { containerLog } from './container-logs.ts'
import { serverHealth } from './own-health.ts'
import { jsonAnswer, METRICS_TYPE, Refused, textAnswer } from './refused.ts'
import { session } from './sessions.ts'
import { nodeUsage, resourceMetricsText, summary } from './usage.ts'
import { type ClaimStats, volumeMetrics } from './volume-stats.ts'

export interface RoutesOptions {
  readonly runtime: Runtime
  readonly nodeName: string
  /** Undefined while it starts. */
  readonly kubelet: () => Kubelet | undefined
  /** Of a node of real containers. */
  readonly real?: RealRuntime
  /** Of a node whose volumes are real: those that claims are bound to. */
  readonly volumes?: () => Promise<readonly ClaimStats[]>
  /** Logs, exec and what else is for people. Default: true. */
  readonly debugging?: boolean
  /** What the kubelet was set to, as /configz tells it. */
  readonly configuration?: () => object
  /** Of a machine whose control groups can be measured: what /metrics/cadvisor tells. */
  readonly cadvisor?: () => Promise<string>
}

/** What a kubelet tells of itself at /metrics, beside what its process does. */
function kubeletMetrics(nodeName: string, kubelet: RoutesOptions['kubelet']) {
  const metrics = createMetrics()
  const statuses = () => {
    const running = kubelet()
    return [...(running?.pods.list() ?? [])].flatMap((pod) => running?.runtimeStatus(uidOf(pod)) ?? [])
  }
  metrics.sampled('kubelet_node_name', 'The node by its label; always 1.', ['node'], () => [[1, nodeName]])
  metrics.sampled('kubelet_running_pods', 'Pods with a sandbox that is ready.', [], () => [
    [statuses().filter(({ sandboxes }) => sandboxes.some(({ state }) => state === 'ready')).length],
  ])
  metrics.sampled('kubelet_running_containers', 'Containers by their state.', ['container_state'], () =>
    [
      ...Map.groupBy(
        statuses().flatMap(({ containers }) => containers),
        ({ state }) => state,
      ),
    ].map(([state, containers]) => [containers.length, state] as const),
  )
  for (const edge of ['start', 'end'] as const)
    metrics.sampled(
      `kubelet_graceful_shutdown_${edge}_time_seconds`,
      `Last graceful shutdown ${edge} time since unix epoch in seconds`,
      [],
      () => [[(kubelet()?.shutdownTimes[edge] ?? 0) / 1000]],
    )
  return metrics
}

/** The kubelet's HTTP handler. It never throws: a refused request is answered with its error. */
export function kubeletRoutes(options: RoutesOptions): Handler {
  const { runtime, nodeName, real } = options
  const health = serverHealth()
  const ownMetrics = kubeletMetrics(nodeName, options.kubelet)
  const volumes = options.volumes ?? (async () => [])
  const metricsText = async () =>
    (real === undefined ? '' : (runtime.metrics?.text() ?? '')) + ownMetrics.text() + volumeMetrics(await volumes())

  async function route(request: ApiRequest): Promise<ApiResponse> {
    const [first = '', ...rest] = request.path.split('/').slice(1).map(decoded)
    const [namespace = '', name = ''] = rest
    if (options.debugging === false) {
      if (DEBUGGING.has(first)) throw new Refused(405, 'Debug endpoints are disabled.\n')
      if (first === 'configz') throw new Refused(404, '404 page not found\n')
    }
    switch (first) {
      case 'healthz': {
        const answer = await health.answer(request)
        if (answer !== undefined) return answer
        break
      }
      case 'pods':
        return jsonAnswer(podList())
      case 'containerLogs': {
        const found = find(namespace, name)
        if (found === undefined) throw new Refused(404, `pod ${JSON.stringify(name)} not found\n`)
        return containerLog(runtime, found, rest[2] ?? '', request)
      }
      case 'exec':
      case 'attach':
      case 'portForward': {
        const found = find(namespace, name)
        if (found === undefined) throw new Refused(404, 'pod does not exist\n')
        return session(runtime, found, request, first, rest.at(-1) ?? '')
      }
      case 'metrics':
        if (rest.length === 0) return textAnswer(200, await metricsText(), METRICS_TYPE)
        if (rest.length === 1 && rest[0] === 'resource' && real !== undefined)
          return textAnswer(
            200,
            resourceMetricsText(await real.usage(), nodeUsage(), runtime.clock.now()),
            METRICS_TYPE,
          )
        if (rest.length === 1 && rest[0] === 'cadvisor' && options.cadvisor !== undefined)
          return textAnswer(200, await options.cadvisor(), METRICS_TYPE)
        break
      case 'stats':
        if (rest.length === 1 && rest[0] === 'summary' && real !== undefined)
          return jsonAnswer(summary(nodeName, await real.usage(), nodeUsage(), runtime.clock.now(), await volumes()))
        break
      case 'configz':
        if (rest.length === 0 && options.configuration !== undefined)
          return jsonAnswer({ kubeletconfig: options.configuration() })
        break
    }
    throw new Refused(404, '404 page not found\n')
  }

  function podList() {
    const kubelet = options.kubelet()
    const items = [...(kubelet?.pods.list() ?? [])].map((pod) => {
      const status = kubelet?.podStatus(uidOf(pod)) ?? pod.status
      const { kind: _kind, apiVersion: _version, ...rest } = pod
      return status === undefined ? rest : { ...rest, status }
    })
    return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items }
  }

  function find(namespace: string, name: string): { readonly kubelet: Kubelet; readonly pod: Pod } | undefined {
    const kubelet = options.kubelet()
    for (const pod of kubelet?.pods.list() ?? [])
      if (nameOf(pod) === name && namespaceOf(pod) === namespace) return { kubelet: kubelet!, pod }
    return undefined
  }

  return async (request) => {
    try {
      return await route(request)
    } catch (error) {
      if (error instanceof Refused) return textAnswer(error.status, error.message)
      runtime.log.info(2, 'Kubelet server failed', { path: request.path, err: messageOf(error) })
      return textAnswer(500, messageOf(error))
    }
  }
}

/** What enableDebuggingHandlers turns off. */
const DEBUGGING = new Set(['attach', 'containerLogs', 'debug', 'exec', 'logs', 'portForward', 'run', 'runningpods'])

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refused(400, 'the path cannot be read\n')
  }
}
