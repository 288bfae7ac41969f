/** skiff up: in the foreground until a signal, or detached until it is ready. */

import { formatTime } from '../base/clock.ts'
import { liveClock } from '../base/live-clock.ts'
import { collectWhenQuiet } from '../base/quiet-collection.ts'
import type { Cluster } from '../cluster/cluster-options.ts'
import { clusterDirectory, hold } from '../cluster/directory.ts'
import type { ClockKind, Component, ControlName } from '../cluster/options.ts'
import { type SecurityOptions, securityOf } from '../cluster/security.ts'
import { stopOnSignals } from '../cluster/signals.ts'
import type { StoreState } from '../storage/engine.ts'
import { type EtcdFlags, etcdOf } from './etcd-flags.ts'
import { type EvictionFlagOptions, evictionFlagsOf } from './eviction-flags.ts'
import { type FaultFlags, faultsOf } from './fault-commands.ts'
import { type NodeFlags, nodeSettingsOf } from './node-flags.ts'
import { type SchedulerFlags, schedulerOf } from './scheduler-flags.ts'
import { type SimulationFlags, simulationOptions } from './simulation-flags.ts'

export interface UpOptions
  extends SecurityOptions,
    EtcdFlags,
    EvictionFlagOptions,
    NodeFlags,
    FaultFlags,
    SimulationFlags,
    SchedulerFlags {
  readonly dataDir: string
  readonly port: number
  readonly bindAddress: string
  readonly advertiseAddress?: string
  readonly nodes: number
  readonly clusterCidr?: string
  readonly runtime: 'simulated' | 'cri'
  readonly criEndpoint?: string
  readonly kubeconfig?: string
  readonly components?: Component[]
  readonly disableAdmissionPlugins: string[]
  readonly enableAdmissionPlugins: string[]
  readonly allowPrivileged?: boolean
  readonly clock?: ClockKind
  readonly controls: readonly ControlName[]
  readonly crds: readonly string[]
  readonly objects: readonly string[]
  readonly detach?: boolean
  /** What the options were read from, beginning with `up`. */
  readonly commandLine: readonly string[]
  readonly verbosity: number
}

/** What the detached process tells the one that waits for it. */
export type Report =
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'ready'; readonly lines: readonly string[] }
  | { readonly type: 'failed'; readonly message: string }

export async function up(options: UpOptions): Promise<void> {
  if (options.detach === true) return (await import('./detach.ts')).detach(options)
  const { progressOn } = await import('./progress.ts')
  const report = process.send === undefined ? undefined : (message: Report) => process.send?.(message)
  // Standard output is the audit log's where it is sent there.
  const out = options.auditLogPath === '-' ? process.stderr : process.stdout
  const progress = report === undefined ? progressOn(out) : reporting(report)
  // What reads the output may go: the cluster stays.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  const directory = clusterDirectory(options.dataDir)
  let release = () => {}
  let running: Cluster | undefined
  const onStoreState = (state: StoreState) => {
    if (state.type !== 'failed') {
      if (running !== undefined && report === undefined) progress.done([wordsOf(state)])
      return
    }
    const { message } = state.error
    if (running === undefined && report !== undefined) report({ type: 'failed', message })
    else process.stderr.write(`skiff: ${message}\n`)
    const end = () => {
      release()
      process.exit(1)
    }
    if (running === undefined) end()
    else running.stop().then(end, end)
  }
  try {
    release = hold(directory)
    const eviction = evictionFlagsOf(options)
    const settings = nodeSettingsOf(options)
    const scheduler = await schedulerOf(options)
    const { startCluster } = await import('../cluster/cluster.ts')
    const cluster = await startCluster({
      ...(options.clock === undefined ? {} : { clock: options.clock }),
      controls: options.controls,
      crds: options.crds,
      objects: options.objects,
      ...faultsOf(options),
      dataDir: options.dataDir,
      port: options.port,
      host: options.bindAddress,
      ...(options.advertiseAddress === undefined ? {} : { advertiseAddress: options.advertiseAddress }),
      nodes: options.nodes,
      ...(options.clusterCidr === undefined ? {} : { clusterCidr: options.clusterCidr }),
      containerRuntime: options.runtime,
      ...(options.criEndpoint === undefined ? {} : { criEndpoint: options.criEndpoint }),
      ...settings,
      simulation: simulationOptions(options),
      ...(eviction === undefined ? {} : { eviction }),
      ...(options.components === undefined ? {} : { components: options.components }),
      ...scheduler,
      disableAdmissionPlugins: options.disableAdmissionPlugins,
      enableAdmissionPlugins: options.enableAdmissionPlugins,
      ...(options.allowPrivileged === undefined ? {} : { allowPrivileged: options.allowPrivileged }),
      security: securityOf(options),
      ...etcdOf(options),
      logLevel: options.verbosity,
      directoryHeld: true,
      ...(options.kubeconfig === undefined ? {} : { kubeconfigFile: options.kubeconfig }),
      onProgress: progress.step,
      onStoreState,
      onUnhandled: 'process',
    })
    running = cluster
    stopOnSignals(cluster.stop, release, (stopped) => {
      // The starter of one that was detached reads no more.
      if (report !== undefined) return
      if (stopped) progress.done([`stopped; its objects stay in ${options.etcdServers ?? directory.path}`])
      else progress.step('stopping')
    })
    surviveMistakes(cluster)
    collectWhenQuiet(liveClock())
    progress.done(summary(options, cluster, process.uptime() * 1000))
  } catch (error) {
    release()
    progress.end()
    if (report !== undefined && error instanceof Error) {
      report({ type: 'failed', message: error.message })
      process.disconnect?.()
    }
    throw error
  }
}

const wordsOf = (state: Exclude<StoreState, { type: 'failed' }>): string =>
  state.type === 'well' ? 'the store takes writes again' : state.error.message

function reporting(report: (message: Report) => void) {
  return {
    step: (text: string) => report({ type: 'progress', text }),
    done: (lines: readonly string[]) => {
      report({ type: 'ready', lines })
      process.disconnect?.()
    },
    end: () => {},
  }
}

function summary(options: UpOptions, cluster: Cluster, elapsedMs: number): string[] {
  const { url, kubeconfigFile: kubeconfig, clock } = cluster
  const nodes = options.components?.includes('kubelet') !== false ? options.nodes : 0
  return [
    `ready in ${Math.round(elapsedMs)} ms at ${url}`,
    ...(nodes === 0 || options.runtime === 'cri'
      ? []
      : [`${nodes === 1 ? 'one node' : `${nodes} nodes`}, simulated: pods run no real containers`]),
    ...(nodes > 0 && options.runtime === 'cri' ? [realNodes(nodes), ...besideThem(options)] : []),
    ...(clock.isManual
      ? [`time stands still at ${formatTime(clock.now.getTime())}: skiff clock advance moves it`]
      : []),
    ...(options.fault === undefined ? [] : [faultLine(cluster)]),
    `export KUBECONFIG=${/^[\w@%+=:,./-]+$/.test(kubeconfig) ? kubeconfig : `'${kubeconfig.replaceAll("'", "'\\''")}'`}`,
  ]
}

/** With the seed that brings the same faults again. */
function faultLine({ faults }: Cluster): string {
  const { seed, faults: rules } = faults.status()
  return `faults on purpose, seed ${seed}: ${rules.map(({ fault }) => fault).join('; ')}`
}

const realNodes = (nodes: number): string =>
  nodes === 1
    ? 'one node: this machine, pods run real containers'
    : `${nodes} nodes: this machine, and ${nodes - 1} in namespaces of their own; pods run real containers`

const besideThem = ({ simulatedNodes = 0 }: UpOptions): readonly string[] =>
  simulatedNodes === 0 ? [] : [`beside ${nodesOf(simulatedNodes)}, simulated, for pods that tolerate it`]

const nodesOf = (count: number): string => (count === 1 ? 'one node' : `${count} nodes`)

/** A rejection without a handler is a mistake of ours in one corner: it is logged, and the cluster lives on. */
function surviveMistakes({ log, stop }: Cluster): void {
  // What libraries say there is for the log: standard error is the command's own.
  console.error = (...said) => log.error('said on standard error', said.find((part) => part instanceof Error) ?? said)
  process.on('unhandledRejection', (error) => log.error('unhandled rejection', error))
  process.on('uncaughtException', (error) => {
    log.error('uncaught exception', error)
    process.stderr.write(`skiff: stopping after an error of its own: ${error.message}\n`)
    void stop().finally(() => process.exit(1))
  })
}
