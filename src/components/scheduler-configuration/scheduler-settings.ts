/**
 * KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), by --config: connection, leader election, and the scheduler's profiles with
 * their plugins and these plugins' arguments. It is refused in kube-scheduler's words; what it asks for that skiff does not have, in ours.
 */
import { readFileSync } from 'node:fs'
import type { Fields } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import { checkTimes } from '../../client/leader-election.ts'
import { defaultProfile, type SchedulerProfile } from '../../scheduler/profile.ts'
import { type QueueTimes, USUAL_TIMES } from '../../scheduler/queue.ts'
import { checkShape, configurationIn } from '../configuration-file/decode.ts'
import type { ReadFlags } from '../flags.ts'
import { type ElectionSettings, electionOfFlags } from '../leading.ts'
import { withDefaults } from './defaults.ts'
import { CONFIGURATION } from './fields.ts'
import { profileOf } from './profiles.ts'
import { aggregate, validateConfiguration } from './validate.ts'

export interface SchedulerSettings {
  readonly kubeconfig: string | undefined
  readonly profiles: readonly SchedulerProfile[]
  readonly queueTimes: QueueTimes
  readonly limits: { readonly qps: number; readonly burst: number }
  readonly election: ElectionSettings
}

const NAME = 'kube-scheduler'
const KIND = 'KubeSchedulerConfiguration'
const VERSION = 'kubescheduler.config.k8s.io/v1'
const QPS = 50
const BURST = 100

/** A file goes before the flags that it has fields for, as in kube-scheduler. @throws FlagError, Error in one line */
export function schedulerSettings(flags: ReadFlags): SchedulerSettings {
  const file = flags.text('config')
  const election = electionOfFlags(flags, NAME)
  const flushMs = flags.ms('pod-max-in-unschedulable-pods-duration')
  if (file === undefined)
    return {
      kubeconfig: flags.text('kubeconfig'),
      profiles: [defaultProfile()],
      queueTimes: { ...USUAL_TIMES, flushMs },
      limits: { qps: flags.number('kube-api-qps') || QPS, burst: flags.number('kube-api-burst') || BURST },
      election,
    }
  try {
    return fromFile(readFileSync(file, 'utf8'), flushMs)
  } catch (cause) {
    throw new Error(`--config ${file}: ${messageOf(cause)}`, { cause })
  }
}

/** The profiles of a file whose connection and election are another's. @throws Error in one line */
export function profilesOfFile(file: string): Pick<SchedulerSettings, 'profiles' | 'queueTimes'> {
  try {
    return fromFile(readFileSync(file, 'utf8'), USUAL_TIMES.flushMs)
  } catch (cause) {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause })
  }
}

function fromFile(text: string, flushMs: number): SchedulerSettings {
  const { value, repeated } = configurationIn(text, { apiVersion: VERSION, kind: KIND })
  checkShape(CONFIGURATION, value, repeated)
  const config = withDefaults(value)
  const why = aggregate(validateConfiguration(config))
  if (why !== undefined) throw new Error(why)
  if (config['extenders'].length > 0) throw new Error('extenders: skiff asks none; leave them out')
  if (config['delayCacheUntilActive'] === true)
    throw new Error('delayCacheUntilActive: skiff does not do what this asks for; leave it out')
  const { clientConnection, leaderElection } = config
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
  return {
    kubeconfig: clientConnection.kubeconfig || undefined,
    profiles: (config['profiles'] as readonly Fields[]).map((profile) => {
      try {
        return profileOf(profile, config['percentageOfNodesToScore'])
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
    limits: { qps: clientConnection.qps || QPS, burst: clientConnection.burst || BURST },
    election,
  }
}
