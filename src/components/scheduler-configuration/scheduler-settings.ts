/**
 * KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), by --config: connection, leader election and the name that pods choose the
 * scheduler by. A field that asks for more is refused by its path.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Fields } from '../api/object.ts'
import { messageOf } from '../base/errors.ts'
import { checkTimes } from '../client/leader-election.ts'
import { duration, type ReadFlags } from './flags.ts'
import { type ElectionSettings, electionOfFlags } from './leading.ts'

export interface SchedulerSettings {
  readonly kubeconfig: string | undefined
  readonly schedulerName: string
  readonly limits: { readonly qps: number; readonly burst: number }
  readonly election: ElectionSettings
}

const NAME = 'kube-scheduler'
const DEFAULT_SCHEDULER = 'default-scheduler'
const QPS = 50
const BURST = 100

/** A file goes before the flags that it has fields for, as in kube-scheduler. @throws FlagError, Error in one line */
export function schedulerSettings(flags: ReadFlags): SchedulerSettings {
  const file = flags.text('config')
  const election = electionOfFlags(flags, NAME)
  if (file === undefined)
    return {
      kubeconfig: flags.text('kubeconfig'),
      schedulerName: DEFAULT_SCHEDULER,
      limits: { qps: flags.number('kube-api-qps') || QPS, burst: flags.number('kube-api-burst') || BURST },
      election,
    }
  try {
    return fromFile(parse(readFileSync(file, 'utf8')) as Fields | null, election)
  } catch (cause) {
    throw new Error(`--config ${file}: ${messageOf(cause)}`, { cause })
  }
}

type Known = Readonly<Record<string, (value: unknown) => boolean>>
const anything = () => true
const is = (usual: unknown) => (value: unknown) => value === usual
const isEmpty = (value: unknown) => value === null || JSON.stringify(value) === '[]' || JSON.stringify(value) === '{}'

/** Fields that may be there, and with which values. */
const FIELDS: Known = {
  kind: is('KubeSchedulerConfiguration'),
  apiVersion: is('kubescheduler.config.k8s.io/v1'),
  parallelism: anything,
  leaderElection: anything,
  clientConnection: anything,
  enableProfiling: anything,
  enableContentionProfiling: anything,
  percentageOfNodesToScore: is(0),
  podInitialBackoffSeconds: is(1),
  podMaxBackoffSeconds: is(10),
  delayCacheUntilActive: is(false),
  profiles: anything,
  extenders: isEmpty,
}
const CONNECTION: Known = {
  kubeconfig: anything,
  acceptContentTypes: anything,
  contentType: anything,
  qps: anything,
  burst: anything,
}
const PROFILE: Known = {
  schedulerName: anything,
  percentageOfNodesToScore: is(0),
  plugins: isEmpty,
  pluginConfig: isEmpty,
}
const ELECTION: Known = {
  leaderElect: anything,
  leaseDuration: anything,
  renewDeadline: anything,
  retryPeriod: anything,
  resourceLock: is('leases'),
  resourceName: anything,
  resourceNamespace: anything,
}

function fromFile(config: Fields | null, usual: ElectionSettings): SchedulerSettings {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new Error('it is empty, or no mapping')
  if (config['kind'] !== 'KubeSchedulerConfiguration' || !FIELDS['apiVersion']?.(config['apiVersion']))
    throw new Error('it must be a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1')
  refuseOthers(config, FIELDS, '')
  const { clientConnection = {}, leaderElection = {}, profiles = [] } = config
  refuseOthers(clientConnection, CONNECTION, 'clientConnection.')
  refuseOthers(leaderElection, ELECTION, 'leaderElection.')
  if (profiles.length > 1) throw new Error('skiff has one profile, not several')
  refuseOthers(profiles[0] ?? {}, PROFILE, 'profiles[0].')
  const ms = (field: string, otherwise: number) => {
    const value: unknown = leaderElection[field]
    if (value === undefined) return otherwise
    const nanos = duration(String(value))
    if (nanos === undefined) throw new Error(`leaderElection.${field} "${value}" is no duration`)
    return Number(nanos) / 1e6
  }
  const election: ElectionSettings = {
    enabled: leaderElection.leaderElect ?? usual.enabled,
    namespace: leaderElection.resourceNamespace ?? usual.namespace,
    name: leaderElection.resourceName ?? usual.name,
    leaseDurationMs: ms('leaseDuration', usual.leaseDurationMs),
    renewDeadlineMs: ms('renewDeadline', usual.renewDeadlineMs),
    retryPeriodMs: ms('retryPeriod', usual.retryPeriodMs),
  }
  if (election.enabled) checkTimes(election)
  return {
    kubeconfig: clientConnection.kubeconfig || undefined,
    schedulerName: profiles[0]?.schedulerName ?? DEFAULT_SCHEDULER,
    limits: { qps: clientConnection.qps ?? QPS, burst: clientConnection.burst ?? BURST },
    election,
  }
}

function refuseOthers(object: Fields, known: Known, path: string): void {
  for (const [field, value] of Object.entries(object)) {
    const allowed = Object.hasOwn(known, field) ? known[field] : undefined
    if (allowed === undefined) throw new Error(`${path}${field}: skiff does not know this field`)
    if (!allowed(value)) throw new Error(`${path}${field}: skiff does not do what this asks for; leave it out`)
  }
}
