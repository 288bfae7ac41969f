/** What kubelet refuses of a configuration, file and flags together, in its words and its order. */
import { posix } from 'node:path'
import { labelValue, qualifiedName } from '../../api/names/name-formats.ts'
import { messageOf } from '../../base/errors.ts'
import { goDurationText } from '../../base/go-duration.ts'
import { parseCpuSet } from '../../kubelet/cpu-manager/cpu-set.ts'
import { badPattern, VERIFICATION_POLICIES } from '../../kubelet/images/pull-verification.ts'
import type { ReadFlags } from '../flags.ts'
import { memoryReservations } from './resource-managers.ts'
import { taintOf } from './values.ts'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const ENFORCED = [
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
]
const HAIRPIN = ['none', 'hairpin-veth', 'promiscuous-bridge']
const TOPOLOGY = ['none', 'best-effort', 'restricted', 'single-numa-node']
const SCOPES = ['container', 'pod']
const SWAP = ['', 'LimitedSwap', 'NoSwap']

/** @throws Error with all of it, in one line */
export function validateKubelet(flags: ReadFlags): void {
  const wrong = problems(flags)
  if (wrong.length === 0) return
  const all = wrong.length === 1 ? (wrong[0] ?? '') : `[${wrong.join(', ')}]`
  throw new Error(`failed to validate kubelet configuration, error: ${all}`)
}

function problems(flags: ReadFlags): readonly string[] {
  const found: string[] = []
  const refuse = (text: string) => found.push(`invalid configuration: ${text}`)
  const number = (name: string, otherwise = 0) => flags.number(name) ?? otherwise
  const duration = (name: string) => goDurationText(BigInt(flags.ms(name) * 1e6))
  const notNegative = (field: string, flag: string) => {
    if (number(flag) < 0) refuse(`${field} (--${flag}) ${number(flag)} must not be a negative number`)
  }
  const within = (field: string, flag: string, from: number, to: number, told = from) => {
    const value = number(flag)
    if (value < from || value > to) refuse(`${field} (--${flag}) ${value} must be between ${told} and ${to}, inclusive`)
  }
  const oneOf = (field: string, flag: string, known: readonly string[], end: string) => {
    const value = flags.text(flag) ?? ''
    if (!known.includes(value)) refuse(`option "${value}" specified for ${field} (--${flag}). Valid options are ${end}`)
  }

  if (number('nodeLeaseDurationSeconds') <= 0) refuse('nodeLeaseDurationSeconds must be greater than 0')
  notNegative('eventBurst', 'event-burst')
  notNegative('eventRecordQPS', 'event-qps')
  within('healthzPort', 'healthz-port', 0, 65535, 1)
  const quota = flags.ms('cpu-cfs-quota-period')
  if (quota < 1 || quota > 1000)
    refuse(
      `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {${duration('cpu-cfs-quota-period')}} must be between 1ms and 1sec, inclusive`,
    )
  const [high, low] = [number('image-gc-high-threshold'), number('image-gc-low-threshold')]
  within('imageGCHighThresholdPercent', 'image-gc-high-threshold', 0, 100)
  within('imageGCLowThresholdPercent', 'image-gc-low-threshold', 0, 100)
  if (low >= high)
    refuse(
      `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
    )
  const [youngest, oldest] = [flags.ms('minimum-image-ttl-duration'), flags.ms('imageMaximumGCAge')]
  if (youngest < 0) refuse(`imageMinimumGCAge ${duration('minimum-image-ttl-duration')} must not be negative`)
  if (oldest < 0) refuse(`imageMaximumGCAge ${duration('imageMaximumGCAge')} must not be negative`)
  if (oldest > 0 && oldest <= youngest)
    refuse(
      `imageMaximumGCAge ${duration('imageMaximumGCAge')} must be greater than imageMinimumGCAge ${duration('minimum-image-ttl-duration')}`,
    )
  for (const bit of ['Drop', 'Masquerade'] as const) {
    const value = number(`iptables${bit}Bit`)
    if (value < 0 || value > 31)
      refuse(`iptables${bit}Bit (--iptables-${bit.toLowerCase()}-bit) ${value} must be between 0 and 31, inclusive`)
  }
  notNegative('kubeAPIBurst', 'kube-api-burst')
  notNegative('kubeAPIQPS', 'kube-api-qps')
  if (number('node-status-max-images') < -1)
    refuse(`nodeStatusMaxImages (--node-status-max-images) ${number('node-status-max-images')} must be -1 or greater`)
  notNegative('maxOpenFiles', 'max-open-files')
  notNegative('maxPods', 'max-pods')
  within('oomScoreAdj', 'oom-score-adj', -1000, 1000)
  notNegative('podsPerCore', 'pods-per-core')
  within('port', 'port', 0, 65535, 1)
  within('readOnlyPort', 'read-only-port', 0, 65535)
  notNegative('registryBurst', 'registry-burst')
  notNegative('registryPullQPS', 'registry-qps')
  const pulls = flags.number('maxParallelImagePulls')
  if (pulls !== undefined && pulls < 1) refuse(`maxParallelImagePulls ${pulls} must be a positive number`)
  if (
    pulls !== undefined &&
    pulls > 1 &&
    flags.list('serialize-image-pulls') !== undefined &&
    flags.bool('serialize-image-pulls')
  )
    refuse(
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
    )
  for (const text of flags.list('register-with-taints') ?? []) {
    const { key, value = '', effect } = taintOf(text)
    if (qualifiedName(key).length > 0 || labelValue(value).length > 0 || !EFFECTS.includes(effect))
      found.push(`invalid taint: {${key} ${value} ${effect} <nil>}`)
  }
  if (!TOPOLOGY.includes(flags.text('topology-manager-policy') ?? ''))
    refuse(
      `topologyManagerPolicy (--topology-manager-policy) "${flags.text('topology-manager-policy')}" must be one of: [${TOPOLOGY.map((one) => `"${one}"`).join(' ')}]`,
    )
  const scope = flags.text('topology-manager-scope') ?? ''
  if (!SCOPES.includes(scope))
    refuse(`topologyManagerScope (--topology-manager-scope) "${scope}" must be one of: "container", or "pod"`)
  shutdown(flags, refuse, duration)
  const swap = flags.text('memorySwap.swapBehavior') ?? ''
  if (!SWAP.includes(swap)) refuse(`memorySwap.swapBehavior "${swap}" must be one of: "", "LimitedSwap" or "NoSwap"`)
  const longest = flags.ms('crashLoopBackOff.maxContainerRestartPeriod') / 1000
  if (longest < 1 || longest > 300)
    refuse(`CrashLoopBackOff.MaxContainerRestartPeriod (got: ${longest} seconds) must be set between 1s and 300s`)
  enforcement(flags, refuse)
  reservations(flags, refuse)
  oneOf('hairpinMode', 'hairpin-mode', HAIRPIN, '"none", "hairpin-veth" or "promiscuous-bridge"')
  verification(flags, refuse)
  if (number('userNamespaces.idsPerPod', 65536) < 65536) refuse('userNamespaces.idsPerPod must not be less than 65536')
  if (number('containerLogMaxWorkers') < 1) refuse('containerLogMaxWorkers must be greater than or equal to 1')
  if (flags.ms('containerLogMonitorInterval') < 3000)
    refuse('containerLogMonitorInterval must be a positive time duration greater than or equal to 3s')
  if (number('container-log-max-files') <= 1) refuse('containerLogMaxFiles must be greater than 1')
  const logs = flags.text('podLogsDir') ?? ''
  if (posix.normalize(logs).replace(/(?<=.)\/$/, '') !== logs) refuse(`pod logs path "${logs}" must be normalized`)
  if (Buffer.byteLength(logs) !== logs.length) refuse(`pod logs path "${logs}" mut contains ASCII characters only`)
  if (flags.bool('runonce')) refuse('runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set')
  return found
}

function shutdown(flags: ReadFlags, refuse: (text: string) => void, duration: (name: string) => string): void {
  const [all, critical] = [flags.ms('shutdownGracePeriod'), flags.ms('shutdownGracePeriodCriticalPods')]
  if (critical > all)
    refuse(
      `shutdownGracePeriodCriticalPods {${duration('shutdownGracePeriodCriticalPods')}} must be <= shutdownGracePeriod {${duration('shutdownGracePeriod')}}`,
    )
  if (all !== 0 && all < 1000)
    refuse(`shutdownGracePeriod {${duration('shutdownGracePeriod')}} must be either zero or otherwise >= 1 sec`)
  if (all !== 0 && flags.list('shutdownGracePeriodByPodPriority') !== undefined)
    refuse('Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time')
}

function reservations(flags: ReadFlags, refuse: (text: string) => void): void {
  const named = flags.text('reserved-cpus') ?? ''
  if (named !== '') {
    if (flags.text('system-reserved-cgroup') || flags.text('kube-reserved-cgroup'))
      refuse(
        "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
      )
    try {
      parseCpuSet(named)
    } catch (error) {
      refuse(`unable to parse reservedSystemCPUs (--reserved-cpus) ${named}, error: ${messageOf(error)}`)
    }
  }
  const seen = new Set<string>()
  for (const { numaNode, type, size } of memoryReservations(flags)) {
    const what = `for NUMA node ${numaNode} and resource ${JSON.stringify(type)}`
    if (size === 0) refuse(`reserved memory may not be zero ${what}`)
    if (seen.has(what)) refuse(`the reserved memory has a duplicate value ${what}`)
    seen.add(what)
  }
}

function enforcement(flags: ReadFlags, refuse: (text: string) => void): void {
  const wanted = flags.list('enforce-node-allocatable') ?? []
  const names = `"${ENFORCED.join('", "')}" or "none"`
  for (const option of wanted) {
    if (option === 'none') {
      if (wanted.length > 1)
        refuse(
          'enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified',
        )
    } else if (!ENFORCED.includes(option))
      refuse(
        `option "${option}" specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are ${names}`,
      )
    for (const [part, field, flag] of [
      ['kube', 'kubeReservedCgroup', 'kube-reserved-cgroup'],
      ['system', 'systemReservedCgroup', 'system-reserved-cgroup'],
    ] as const)
      if (option === `${part}-reserved` && flags.text(flag) === undefined)
        refuse(
          `${field} (--${flag}) must be specified when "${part}-reserved" or "${part}-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)`,
        )
  }
}

function verification(flags: ReadFlags, refuse: (text: string) => void): void {
  const policy = flags.text('imagePullCredentialsVerificationPolicy') ?? ''
  if (!VERIFICATION_POLICIES.some((one) => one === policy)) {
    const [last = '', ...before] = VERIFICATION_POLICIES.map((one) => `"${one}"`).reverse()
    const valid = `${before.reverse().join(', ')} or ${last}`
    refuse(`option "${policy}" specified for imagePullCredentialsVerificationPolicy. Valid options are ${valid}`)
  }
  const patterns = flags.list('preloadedImagesVerificationAllowlist') ?? []
  if (patterns.length > 0 && policy !== 'NeverVerifyAllowlistedImages') {
    refuse(
      'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"',
    )
    return
  }
  const bad = patterns.map(badPattern).find((why) => why !== undefined)
  if (bad !== undefined) refuse(`invalid image pattern in \`preloadedImagesVerificationAllowlist\`: ${bad}`)
}
