/** skiff up's flag of the scheduler, and what it comes to. */
import { Option } from 'commander'
import { messageOf } from '../base/errors.ts'
import type { ClusterOptions } from '../cluster/cluster-options.ts'
import { StartError } from '../cluster/errors.ts'
import type { Component } from '../cluster/options.ts'

export interface SchedulerFlags {
  readonly schedulerConfig?: string
  readonly components?: readonly Component[]
}

export const schedulerFlags = (): readonly Option[] => [
  new Option(
    '--scheduler-config <file>',
    'a KubeSchedulerConfiguration: profiles, their plugins, and backoffs (default: those of kube-scheduler)',
  ),
]

/** @throws StartError in one line for a file that cannot be read, is wrong, or asks for what the scheduler does not do */
export async function schedulerOf(flags: SchedulerFlags): Promise<Pick<ClusterOptions, 'scheduler'>> {
  const { schedulerConfig: file, components } = flags
  if (file === undefined) return {}
  if (components?.includes('scheduler') === false)
    throw new StartError('--scheduler-config needs the scheduler among --components')
  const { profilesOfFile } = await import('../components/scheduler-configuration/scheduler-settings.ts')
  try {
    const { profiles, queueTimes, extenders } = profilesOfFile(file)
    return { scheduler: { profiles, queueTimes, ...(extenders.length > 0 ? { extenders } : {}) } }
  } catch (cause) {
    throw new StartError(`--scheduler-config ${messageOf(cause)}`, { cause })
  }
}
