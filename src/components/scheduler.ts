/** skiff scheduler: the scheduler against any Kubernetes API server, under kube-scheduler's flags. */
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { createMetricsPages } from '../apiserver/handlers/metrics.ts'
import { messageOf } from '../base/errors.ts'
import { createMetrics } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import { fencedTransport } from '../client/held-transports.ts'
import { createClient } from '../client/transport.ts'
import type { HealthCheck } from '../http/health-pages.ts'
import { DEFAULT_SCHEDULER } from '../scheduler/profile.ts'
import { startScheduler } from '../scheduler/scheduler.ts'
import { accessOf, judgeConnection, judgedKubeconfig, limitedBy, untilAnswered } from './access.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import { KUBE_SCHEDULER_FLAGS } from './kube-scheduler-flags.ts'
import { judgeSchedulerLine, lockProblem } from './kube-scheduler-rules.ts'
import { createElections } from './leading.ts'
import type { ComponentCommand, ComponentProcess } from './process.ts'
import { schedulerConfiguration } from './scheduler-configuration/scheduler-settings.ts'
import { serve } from './serving.ts'
import { madeCertificate, servingFiles } from './serving-files.ts'

const NAME = 'kube-scheduler'
const PORT = 10259
const PATHS = ['/configz', '/flagz', '/healthz', '/livez', '/metrics', '/readyz']

export const scheduler: ComponentCommand = {
  name: 'scheduler',
  counterpart: NAME,
  flags: KUBE_SCHEDULER_FLAGS,
  introduction: `The scheduler of skiff against any Kubernetes API server, under the flags of ${NAME}.`,
  judge: judgeSchedulerLine,
  start,
}

/** All that files and flags say, read and refused in kube-scheduler's order. @throws FlagError, Error in one line */
export function schedulerOfFlags(runtime: Runtime, flags: ReadFlags) {
  const made = madeCertificate(runtime, flags, NAME)
  const configuration = schedulerConfiguration(flags)
  const master = flags.text('master')
  const kubeconfig = judgedKubeconfig(configuration.kubeconfig, master)
  const files = servingFiles(flags, KUBE_SCHEDULER_FLAGS, made)
  judgeConnection(kubeconfig, master, configuration.asked)
  const lock = flags.values.get('leader-elect-resource-lock')?.at(-1) ?? 'leases'
  const why = configuration.isFile || !flags.bool('leader-elect') ? undefined : lockProblem(lock)
  if (why !== undefined) throw new FlagError(why)
  const settings = configuration.settings()
  if (files?.whyNoHttp2 !== undefined) throw new Error(`failed to start secure server: ${files.whyNoHttp2}`)
  return { settings, files, kubeconfig, configz: configuration.configz }
}

async function start(flags: ReadFlags, process: ComponentProcess): Promise<void> {
  const { runtime, onStop, fail } = process
  const { settings, files, kubeconfig, configz } = schedulerOfFlags(runtime, flags)
  const access = accessOf(runtime, kubeconfig, flags.text('master'))
  onStop(() => access.transport.close())
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const { profiles, queueTimes, extenders } = settings
  const elections = createElections(settings.election, process, access.transport, {
    component: profiles[0]?.schedulerName ?? DEFAULT_SCHEDULER,
    userAgent: NAME,
  })
  const elected = elections.of(settings.election.name)
  const resourceMetrics = createMetrics()
  let syncing = false
  const checks: HealthCheck[] = [
    elected.check,
    { name: 'ping', endpoints: ['livez'], check: () => {} },
    { name: 'shutdown', endpoints: ['readyz'], check: () => stopping.signal.throwIfAborted() },
    {
      name: 'sched-handler-sync',
      endpoints: ['readyz'],
      check: () => {
        if (syncing) throw new Error('handlers are not synced')
      },
    },
  ]
  if (files !== undefined)
    await serve(flags, process, files, {
      port: PORT,
      name: NAME,
      checks,
      table: KUBE_SCHEDULER_FLAGS,
      paths: PATHS,
      configz,
      pages: [createMetricsPages(runtime.clock, { '/metrics/resources': resourceMetrics })],
    })
  onStop(() => stopping.abort())
  await untilAnswered(access, process, stopping.signal)
  const leadership = await elected.won()
  // Stopped before the Lease is given back: the one that takes it works alone.
  onStop(() => stopping.abort())
  leadership?.ended.addEventListener('abort', () => stopping.abort())
  const transport = leadership === undefined ? access.transport : fencedTransport(access.transport, leadership)
  const client = createClient(runtime, limitedBy(runtime, transport, settings.limits), { userAgent: NAME })
  syncing = true
  try {
    await startScheduler({
      runtime: { ...runtime, log: runtime.log.named('scheduler') },
      client,
      host: hostname(),
      profiles,
      queueTimes,
      extenders,
      resourceMetrics,
      signal: stopping.signal,
    })
  } catch (error) {
    if (!stopping.signal.aborted) fail(`the scheduler cannot start: ${messageOf(error)}`)
    return
  }
  syncing = false
  runtime.log.info(0, 'The scheduler runs')
}
