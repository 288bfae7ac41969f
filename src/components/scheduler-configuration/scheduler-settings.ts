/**
 * KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), by --config: connection, leader election, and the scheduler's profiles with
 * their plugins and these plugins' arguments. It is refused in kube-scheduler's words; what it asks for that skiff does not have, in ours.
 */
import { readFileSync } from 'node:fs'
import { checkShape, configurationIn } from '../../api/configuration/decode.ts'
import type { Fields } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import { whyUnread } from '../../base/unread.ts'
import { checkTimes } from '../../client/leader-election.ts'
import type { ExtenderSettings } from '../../scheduler/extenders/extender.ts'
import { defaultProfile, type SchedulerProfile } from '../../scheduler/profile.ts'
import { type QueueTimes, USUAL_TIMES } from '../../scheduler/queue.ts'
import { FlagError, type ReadFlags } from '../flags.ts'
import { type ElectionSettings, electionOfFlags } from '../leading.ts'
import { schedulerConfigz } from './configz.ts'
import { argumentsWithDefaults, type WithDefaults, withDefaults } from './defaults.ts'
import { extenderSettings, type GivenExtender, ignoredResources } from './extenders.ts'
import { CONFIGURATION } from './fields.ts'
import { profileOf } from './profiles.ts'
import { aggregate, validateConfiguration } from './validate.ts'

export interface SchedulerSettings {
  readonly kubeconfig: string | undefined
  readonly profiles: readonly SchedulerProfile[]
  readonly queueTimes: QueueTimes
  readonly extenders: readonly ExtenderSettings[]
  readonly limits: { readonly qps: number; readonly burst: number }
  readonly election: ElectionSettings
}

const NAME = 'kube-scheduler'
const KIND = 'KubeSchedulerConfiguration'
const VERSION = 'kubescheduler.config.k8s.io/v1'
const QPS = 50
const BURST = 100

/** What is known before a scheduler is made: more is refused only then. */
export interface SchedulerConfiguration extends Pick<SchedulerSettings, 'kubeconfig' | 'limits'> {
  /** As they are given: those that are not for a client have not been replaced. */
  readonly asked: SchedulerSettings['limits']
  /** Whether a file said so. */
  readonly isFile: boolean
  /** What /configz tells. */
  configz(): Fields
  /** @throws FlagError, Error in one line for times, a plugin or an argument that is not to be had */
  settings(): SchedulerSettings
}

/**
 * A file goes before the flags that it has fields for, but those of the election go before it, as in kube-scheduler.
 *
 * @throws Error in one line
 */
export function schedulerConfiguration(flags: ReadFlags): SchedulerConfiguration {
  const file = flags.text('config')
  const flushMs = flags.ms('pod-max-in-unschedulable-pods-duration')
  if (file !== undefined) {
    const config = validated(withElection(withDefaults(fieldsOf(readConfiguration(file))), flags))
    const { kubeconfig, limits } = connectionOf(config)
    return {
      ...{ isFile: true, kubeconfig, limits, asked: limits },
      configz: () => schedulerConfigz(config, argumentsWithDefaults),
      settings: () => settingsOf(config, flushMs),
    }
  }
  const asked = { qps: flags.number('kube-api-qps') ?? QPS, burst: flags.number('kube-api-burst') ?? BURST }
  const connection = {
    kubeconfig: flags.text('kubeconfig'),
    limits: { qps: asked.qps || QPS, burst: asked.burst || BURST },
  }
  return {
    ...connection,
    asked,
    isFile: false,
    configz: () => schedulerConfigz(withElection(withDefaults(fieldsOfFlags(flags)), flags), argumentsWithDefaults),
    settings: () => {
      try {
        return {
          ...connection,
          profiles: [defaultProfile()],
          queueTimes: { ...USUAL_TIMES, flushMs },
          extenders: [],
          election: electionOfFlags(flags, NAME),
        }
      } catch (cause) {
        throw new FlagError(`couldn't create leader elector: ${messageOf(cause)}`, { cause })
      }
    },
  }
}

/** @throws FlagError, Error in one line */
export const schedulerSettings = (flags: ReadFlags): SchedulerSettings => schedulerConfiguration(flags).settings()

/** The profiles of a file whose connection and election are another's. @throws Error in one line */
export function profilesOfFile(file: string): Pick<SchedulerSettings, 'profiles' | 'queueTimes' | 'extenders'> {
  try {
    return settingsOf(validated(withDefaults(fieldsOf(readFileSync(file, 'utf8')))), USUAL_TIMES.flushMs)
  } catch (cause) {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause })
  }
}

function readConfiguration(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(whyUnread(file, cause), { cause })
  }
}

function fieldsOf(text: string): Fields {
  const { value, repeated } = configurationIn(text, { apiVersion: VERSION, kind: KIND })
  checkShape(CONFIGURATION, value, repeated)
  return value
}

/** What flags say where no file does, but of the election. */
const fieldsOfFlags = (flags: ReadFlags): Fields => ({
  clientConnection: {
    kubeconfig: flags.text('kubeconfig'),
    contentType: flags.text('kube-api-content-type'),
    qps: flags.number('kube-api-qps'),
    burst: flags.number('kube-api-burst'),
  },
  enableProfiling: flags.bool('profiling'),
  enableContentionProfiling: flags.values.has('contention-profiling') ? flags.bool('contention-profiling') : true,
})

/** With what flags say of the election. */
function withElection(config: WithDefaults, flags: ReadFlags): WithDefaults {
  const given = <T>(flag: string, field: string, read: (name: string) => T) =>
    flags.values.has(`leader-elect${flag}`) ? { [field]: read(`leader-elect${flag}`) } : {}
  return {
    ...config,
    leaderElection: {
      ...config['leaderElection'],
      ...given('', 'leaderElect', flags.bool),
      ...given('-lease-duration', 'leaseDuration', flags.ms),
      ...given('-renew-deadline', 'renewDeadline', flags.ms),
      ...given('-retry-period', 'retryPeriod', flags.ms),
      ...given('-resource-lock', 'resourceLock', (name) => flags.text(name) ?? ''),
      ...given('-resource-name', 'resourceName', (name) => flags.text(name) ?? ''),
      ...given('-resource-namespace', 'resourceNamespace', (name) => flags.text(name) ?? ''),
    },
  }
}

function validated(config: WithDefaults): WithDefaults {
  const why = aggregate(validateConfiguration(config))
  if (why !== undefined) throw new Error(why)
  return config
}

interface Connection {
  readonly kubeconfig?: string
  readonly qps?: number
  readonly burst?: number
}

function connectionOf(config: Fields) {
  const { kubeconfig, qps, burst } = config['clientConnection'] as Connection
  return { kubeconfig: kubeconfig || undefined, limits: { qps: qps || QPS, burst: burst || BURST } }
}

function extendersIn(config: Fields): readonly ExtenderSettings[] {
  try {
    const all = (config['extenders'] as readonly GivenExtender[]).map(extenderSettings)
    // What the others leave is all that may be lost with these.
    return [...all.filter(({ ignorable }) => !ignorable), ...all.filter(({ ignorable }) => ignorable)]
  } catch (cause) {
    throw new Error(`couldn't build extenders: ${messageOf(cause)}`, { cause })
  }
}

function settingsOf(config: Fields, flushMs: number): SchedulerSettings {
  const { leaderElection } = config
  const election: ElectionSettings = {
    enabled: leaderElection.leaderElect,
    namespace: leaderElection.resourceNamespace,
    name: leaderElection.resourceName,
    leaseDurationMs: leaderElection.leaseDuration,
    renewDeadlineMs: leaderElection.renewDeadline,
    retryPeriodMs: leaderElection.retryPeriod,
  }
  try {
    if (election.enabled) checkTimes(election)
  } catch (cause) {
    throw new Error(`couldn't create leader elector: ${messageOf(cause)}`, { cause })
  }
  const extenders = extendersIn(config)
  const ignored = ignoredResources(config['extenders'])
  return {
    ...connectionOf(config),
    extenders,
    profiles: (config['profiles'] as readonly Fields[]).map((profile) => {
      try {
        return profileOf(profile, config['percentageOfNodesToScore'], ignored)
      } catch (cause) {
        const about = `initializing profiles: creating profile for scheduler name ${profile['schedulerName']}`
        throw new Error(`${about}: ${messageOf(cause)}`, { cause })
      }
    }),
    queueTimes: {
      initialBackoffMs: config['podInitialBackoffSeconds'] * 1000,
      maxBackoffMs: config['podMaxBackoffSeconds'] * 1000,
      flushMs,
    },
    election,
  }
}
