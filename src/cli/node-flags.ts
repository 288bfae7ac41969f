/** skiff up's flags of kubelets that are neither eviction's nor the simulation's, named after the kubelet's own, and what they come to. */
import { InvalidArgumentError, Option } from 'commander'
import type { ClusterOptions } from '../cluster/cluster-options.ts'
import { durationArgument } from './eviction-flags.ts'

type ShutdownFlags = NonNullable<ClusterOptions['shutdown']>
type ShutdownGroups = NonNullable<ShutdownFlags['shutdownGracePeriodByPodPriority']>

export interface NodeFlags {
  readonly podManifestPath?: string
  readonly manifestUrl?: string
  readonly manifestUrlHeader?: readonly string[]
  readonly imageGcHighThreshold?: number
  readonly imageGcLowThreshold?: number
  readonly minimumImageTtlDuration?: number
  readonly imageMaximumGcAge?: number
  readonly allowedUnsafeSysctls?: readonly string[]
  readonly shutdownGracePeriod?: number
  readonly shutdownGracePeriodCriticalPods?: number
  readonly shutdownGracePeriodByPodPriority?: ShutdownGroups
}

export const nodeFlags = (): readonly Option[] => [
  new Option(
    '--pod-manifest-path <path>',
    'a folder of manifests, or one, that every node runs as static pods (default: DIR/manifests, where it is there)',
  ),
  new Option('--manifest-url <url>', 'where every node asks for further manifests of static pods'),
  new Option(
    '--manifest-url-header <list>',
    'sent with that, as name:value,name:value; may be given several times',
  ).argParser((text: string, before: readonly string[] = []) => [...before, text]),
  new Option(
    '--image-gc-high-threshold <percent>',
    'how full the disk of images is when those go that no container uses; 100: never (default: 85)',
  ).argParser(percent),
  new Option('--image-gc-low-threshold <percent>', 'until it is down to this (default: 80)').argParser(percent),
  new Option(
    '--minimum-image-ttl-duration <duration>',
    'none goes sooner after it was first seen (default: 2m)',
  ).argParser(durationArgument),
  new Option(
    '--image-maximum-gc-age <duration>',
    'those that no container has used for so long go in any case (default: 0s, which is never)',
  ).argParser(durationArgument),
  new Option(
    '--allowed-unsafe-sysctls <list>',
    'sysctls that pods may set beside the safe ones, as kernel.msg*,net.core.somaxconn (default: none)',
  ).argParser((text: string, before: readonly string[] = []) => [...before, ...text.split(',')]),
  new Option(
    '--shutdown-grace-period <duration>',
    "how long the machine's shutdown waits for pods to end, by logind (default: 0s, which is not at all)",
  ).argParser(durationArgument),
  new Option(
    '--shutdown-grace-period-critical-pods <duration>',
    'what of that is for the critical pods alone, at its end (default: 0s)',
  ).argParser(durationArgument),
  new Option(
    '--shutdown-grace-period-by-pod-priority <list>',
    'instead of both: seconds for the pods of each priority and above, as 0=60,100000=20',
  ).argParser(shutdownGroups),
]

/** @throws Error for what cannot be read */
export function nodeSettingsOf(
  flags: NodeFlags,
): Pick<ClusterOptions, 'podManifestPath' | 'manifestUrl' | 'imageGc' | 'allowedUnsafeSysctls' | 'shutdown'> {
  const { podManifestPath, manifestUrl: url, manifestUrlHeader: headers = [] } = flags
  const imageGc = {
    ...(flags.imageGcHighThreshold === undefined ? {} : { imageGCHighThresholdPercent: flags.imageGcHighThreshold }),
    ...(flags.imageGcLowThreshold === undefined ? {} : { imageGCLowThresholdPercent: flags.imageGcLowThreshold }),
    ...(flags.minimumImageTtlDuration === undefined ? {} : { imageMinimumGCAgeMs: flags.minimumImageTtlDuration }),
    ...(flags.imageMaximumGcAge === undefined ? {} : { imageMaximumGCAgeMs: flags.imageMaximumGcAge }),
  }
  const { shutdownGracePeriod: whole, shutdownGracePeriodCriticalPods: critical } = flags
  const { shutdownGracePeriodByPodPriority } = flags
  const shutdown = {
    ...(whole === undefined ? {} : { shutdownGracePeriodMs: whole }),
    ...(critical === undefined ? {} : { shutdownGracePeriodCriticalPodsMs: critical }),
    ...(shutdownGracePeriodByPodPriority === undefined ? {} : { shutdownGracePeriodByPodPriority }),
  }
  if (url === undefined && headers.length > 0) throw new Error('--manifest-url-header needs --manifest-url')
  return {
    ...(podManifestPath === undefined ? {} : { podManifestPath }),
    ...(url === undefined ? {} : { manifestUrl: { url, headers } }),
    ...(Object.keys(imageGc).length === 0 ? {} : { imageGc }),
    ...(flags.allowedUnsafeSysctls === undefined ? {} : { allowedUnsafeSysctls: flags.allowedUnsafeSysctls }),
    ...(Object.keys(shutdown).length === 0 ? {} : { shutdown }),
  }
}

function shutdownGroups(text: string, before: ShutdownGroups = []): ShutdownGroups {
  const groups = text.split(',').map((pair) => {
    const [, priority, seconds] = /^(-?\d{1,10})=(\d{1,9})$/.exec(pair) ?? []
    if (priority === undefined || seconds === undefined || Math.abs(Number(priority)) > 2 ** 31 - 1)
      throw new InvalidArgumentError('it is no list of priorities and seconds such as 0=60,100000=20.')
    return { priority: Number(priority), seconds: Number(seconds) }
  })
  return [...before, ...groups]
}

function percent(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw new InvalidArgumentError('it is no percentage.')
  return Number(text)
}
