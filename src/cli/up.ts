/** skiff up: in the foreground until a signal, or detached until it is ready. */

import type { Cluster } from '../cluster/cluster.ts'
import { clusterDirectory, hold } from '../cluster/directory.ts'
import type { Component } from '../cluster/options.ts'
import type { SecurityOptions } from '../cluster/security.ts'
import type { StoreState } from '../storage/engine.ts'
import { stopOnSignals } from './signals.ts'

export interface UpOptions extends SecurityOptions {
  readonly dataDir: string
  readonly port: number
  readonly nodes: number
  readonly runtime: 'simulated' | 'cri'
  readonly criEndpoint?: string
  readonly kubeconfig?: string
  readonly components: Component[]
  readonly disableAdmissionPlugins: string[]
  readonly enableAdmissionPlugins: string[]
  readonly allowPrivileged?: boolean
  readonly detach?: boolean
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
  // Whoever reads what is said may go: the cluster stays.
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
    const { startCluster } = await import('../cluster/cluster.ts')
    const cluster = await startCluster({
      dataDir: options.dataDir,
      port: options.port,
      nodes: options.nodes,
      containerRuntime: options.runtime,
      ...(options.criEndpoint === undefined ? {} : { criEndpoint: options.criEndpoint }),
      components: options.components,
      disableAdmissionPlugins: options.disableAdmissionPlugins,
      enableAdmissionPlugins: options.enableAdmissionPlugins,
      ...(options.allowPrivileged === undefined ? {} : { allowPrivileged: options.allowPrivileged }),
      security: options,
      logLevel: options.verbosity,
      directoryHeld: true,
      ...(options.kubeconfig === undefined ? {} : { kubeconfigFile: options.kubeconfig }),
      onProgress: progress.step,
      onStoreState,
      onUnhandled: 'process',
    })
    running = cluster
    stopOnSignals(cluster.stop, release, (stopped) => {
      // Nobody listens any more to one that was detached.
      if (report !== undefined) return
      if (stopped) progress.done([`stopped; its objects stay in ${directory.path}`])
      else progress.step('stopping')
    })
    surviveMistakes(cluster)
    progress.done(summary(options, cluster.url, process.uptime() * 1000, cluster.kubeconfigFile))
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

function summary(options: UpOptions, url: string, elapsedMs: number, kubeconfig: string): string[] {
  const nodes = options.components.includes('kubelet') ? options.nodes : 0
  return [
    `ready in ${Math.round(elapsedMs)} ms at ${url}`,
    ...(nodes === 0 || options.runtime === 'cri'
      ? []
      : [`${nodes === 1 ? 'one node' : `${nodes} nodes`}, simulated: pods run no real containers`]),
    ...(nodes > 0 && options.runtime === 'cri' ? ['one node: this machine, pods run real containers'] : []),
    `export KUBECONFIG=${/^[\w@%+=:,./-]+$/.test(kubeconfig) ? kubeconfig : `'${kubeconfig.replaceAll("'", "'\\''")}'`}`,
  ]
}

/** A rejection nobody waited for is a mistake of ours in one corner: it is logged, and the cluster lives on. */
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
