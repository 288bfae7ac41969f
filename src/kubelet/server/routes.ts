/**
 * What a kubelet answers: logs, exec, attach, port-forward, its pods, what they use. A request that comes this far is allowed: over a socket the
 * kubelet's server has seen to that, within the process it is the API server that asks.
 */
import type { ApiRequest, ApiResponse, Handler } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { createZPages } from '../../http/zpages.ts'
import type { Kubelet } from '../kubelet.ts'
import { nameOf, namespaceOf, uidOf } from '../pod.ts'
import type { RealRuntime } from '../runtimes/runtime.ts'
import type { MeasuredGroup } from './cadvisor.ts'
import { checkpoint, runInContainer } from './commands.ts'
import { containerLog, type PodOfKubelet } from './container-logs.ts'
import type { MeasuredDisks } from './disk-summary.ts'
import { session } from './exec-attach-portforward.ts'
import { kubeletMetrics } from './kubelet-metrics.ts'
import { LOG_DIRECTORY, logFiles } from './log-files.ts'
import { serverHealth } from './own-health.ts'
import { answerToAll, type Found, NOSNIFF, noSuchPage, pageOf } from './paths.ts'
import { jsonAnswer, METRICS_TYPE, Refused, textAnswer } from './refused.ts'
import { nodeUsage, resourceMetricsText, summary } from './usage.ts'
import { setVerbosity } from './verbosity.ts'
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
  /** Flags that it was started with, by name, as /flagz tells them. */
  readonly flags?: Readonly<Record<string, string>>
  /** Where checkpoints of containers are written, of a node of real containers. */
  readonly checkpoints?: string
  /** Of a node of real containers. */
  readonly cgroupVersion?: 1 | 2
  /** Default: the machine's. */
  readonly logDirectory?: string
  /** The runtime's metrics are this kubelet's. Default: those of a real node are. */
  readonly isCounted?: boolean
  /** What the kubelet was set to, as /configz tells it. */
  readonly configuration?: () => object
  /** Of a machine whose control groups can be measured: what /metrics/cadvisor tells. */
  readonly cadvisor?: () => Promise<string>
  /** Of a node of real containers. @throws Error */
  readonly disks?: () => Promise<MeasuredDisks>
  /** Of the same machine, what it is made of. */
  readonly groups?: () => Promise<readonly MeasuredGroup[]>
}

/** The release of the kubelet that this stands for. */
const KUBERNETES = '1.37.1'

/** The kubelet's HTTP handler. It never throws: a refused request is answered with its error. */
export function kubeletRoutes(options: RoutesOptions): Handler {
  const { runtime, nodeName, real, debugging = true } = options
  const health = serverHealth()
  const ownMetrics = kubeletMetrics(nodeName, options.kubelet, options.cgroupVersion)
  const volumes = options.volumes ?? (async () => [])
  const groups = options.groups ?? (async () => [])
  const metricsText = async () =>
    (real === undefined && options.isCounted !== true ? '' : (runtime.metrics?.text() ?? '')) +
    ownMetrics.text() +
    volumeMetrics(await volumes())
  const zPages = createZPages(runtime.clock, {
    component: 'kubelet',
    version: KUBERNETES,
    paths: ['/configz', '/debug', '/flagz', '/healthz', '/metrics'],
    flags: options.flags ?? {},
    separators: { Statusz: '= ', Flagz: ' ' },
  })
  const started = `# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds ${runtime.clock.now() / 1000}
`

  async function route(request: ApiRequest): Promise<ApiResponse> {
    const unasked = answerToAll(request, debugging)
    if (unasked !== undefined) return unasked
    const found = pageOf(request, debugging)
    const answer = found === undefined ? await page(request) : await answered(request, found)
    return answer ?? noSuchPage()
  }

  /** By its path alone. */
  async function page(request: ApiRequest): Promise<ApiResponse | undefined> {
    const metrics = (text: string) => textAnswer(200, text, METRICS_TYPE)
    switch (request.path) {
      case '/metrics':
        return metrics(await metricsText())
      case '/metrics/probes':
        return metrics((options.kubelet()?.probeMetrics() ?? '') + started)
      case '/metrics/slis':
        return metrics(health.metrics.text() + started)
      case '/metrics/resource':
        return (
          real && metrics(resourceMetricsText(await real.usage(), nodeUsage(), runtime.clock.now(), await groups()))
        )
      case '/metrics/cadvisor':
        return options.cadvisor && metrics(await options.cadvisor())
      case '/configz':
        return options.configuration && jsonAnswer({ kubeletconfig: options.configuration() })
      case '/debug/flags/v':
        return setVerbosity(runtime.log, request)
      default:
        return zPages(request) ?? health.answer(request)
    }
  }

  /** The rest of a summary is told whether or not disks can be measured. */
  async function disksNow() {
    try {
      return await options.disks?.()
    } catch (error) {
      runtime.log.error('disks could not be measured', error)
      return undefined
    }
  }

  async function answered(request: ApiRequest, found: Found): Promise<ApiResponse | undefined> {
    const { page: name, container } = found
    switch (name) {
      case 'pods':
        return podListAnswer(pods())
      case 'runningpods':
        return podListAnswer(runningPods())
      case 'stats/summary':
        return (
          real &&
          jsonAnswer(
            summary(
              ...([nodeName, await real.usage(), nodeUsage(), runtime.clock.now()] as const),
              await volumes(),
              await groups(),
              await disksNow(),
            ),
          )
        )
      case 'logs':
        return real && logFiles(options.logDirectory ?? LOG_DIRECTORY, found.rest, request.signal)
      case 'debug/pprof':
        return profile(found.profile, options.flags ?? {})
      case 'containerLogs':
        return containerLog(
          runtime,
          () => ownPod(found, `pod ${JSON.stringify(found.pod)} does not exist`),
          container,
          request,
        )
      case 'checkpoint':
        return checkpoint(ownPod(found), container, request, options.checkpoints, formatTime(runtime.clock.now()))
      case 'run':
        return runInContainer(ownPod(found), container, request)
      case 'exec':
      case 'attach':
      case 'portForward':
        return session(runtime, () => ownPod(found), request, name, container)
    }
  }

  function podListAnswer(items: readonly object[]): ApiResponse {
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: items.length === 0 ? null : items }
    return textAnswer(200, `${JSON.stringify(list)}\n`, 'application/json')
  }

  function pods() {
    const kubelet = options.kubelet()
    return [...(kubelet?.pods.list() ?? [])].map((pod) => {
      const status = kubelet?.podStatus(uidOf(pod)) ?? pod.status
      const { kind: _kind, apiVersion: _version, ...rest } = pod
      return status === undefined ? rest : { ...rest, status }
    })
  }

  /** As the runtime has them. */
  function runningPods() {
    const kubelet = options.kubelet()
    return [...(kubelet?.pods.list() ?? [])].flatMap((pod) => {
      const { sandboxes, containers } = kubelet!.runtimeStatus(uidOf(pod))
      const running = containers.filter(({ state }) => state === 'running')
      if (running.length === 0 && !sandboxes.some(({ state }) => state === 'ready')) return []
      const { name, namespace, uid } = pod.metadata
      const told = running.map(({ metadata, imageId }) => ({ name: metadata.name, image: imageId, resources: {} }))
      return [{ metadata: { name, namespace, uid }, spec: { containers: told.length === 0 ? null : told }, status: {} }]
    })
  }

  /** @throws Refused */
  function ownPod({ namespace, pod: name, uid }: Found, missing = 'pod does not exist'): PodOfKubelet {
    const kubelet = options.kubelet()
    for (const pod of kubelet?.pods.list() ?? [])
      if (nameOf(pod) === name && namespaceOf(pod) === namespace && (uid === undefined || uidOf(pod) === uid))
        return { kubelet: kubelet!, pod }
    throw new Refused(404, missing)
  }

  return async (request) => {
    try {
      return await route(request)
    } catch (error) {
      if (error instanceof Refused) return textAnswer(error.status, error.message, undefined, error.headers)
      if (error instanceof StatusError)
        return textAnswer(error.code, JSON.stringify(error.toStatus(), null, 2), 'application/json')
      runtime.log.info(2, 'Kubelet server failed', { path: request.path, err: messageOf(error) })
      return textAnswer(500, messageOf(error))
    }
  }
}

/** `flags`: this kubelet's own, as its process may be that of the whole cluster. Of the profiles that Go has by itself a process of another kind has none. */
function profile(name: string, flags: Readonly<Record<string, string>>): ApiResponse {
  const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  if (name === 'cmdline') return textAnswer(200, ['kubelet', ...words].join('\0'), undefined, NOSNIFF)
  if (name === 'symbol') return textAnswer(200, 'num_symbols: 1\n', undefined, NOSNIFF)
  return textAnswer(404, 'Unknown profile\n', undefined, NOSNIFF)
}
