/** What kube-controller-manager refuses of its command line as a whole, before it reads a file: in its words and in its order. */
import { type FlagsAsked, flagsAsked, refuseAll } from './asked-flags.ts'
import { unknownControllers } from './chosen-controllers.ts'
import {
  frontProxyProblems,
  judgeBeginning,
  metricsProblems,
  securePortProblems,
  versionProblems,
} from './common-rules.ts'
import type { FlagValues } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'

/** @throws FlagError with everything that is wrong */
export function judgeControllerManagerLine(values: FlagValues): void {
  const asked = flagsAsked(KUBE_CONTROLLER_MANAGER_FLAGS, values)
  judgeBeginning(asked)
  refuseAll([
    ...versionProblems(asked),
    ...(asked.isOn('leader-elect') && asked.text('leader-elect-resource-lock') !== 'leases'
      ? ['resourceLock value must be "leases"']
      : []),
    ...unknownControllers(asked.list('controllers')),
    ...(asked.duration('attach-detach-reconcile-sync-period') < SECOND
      ? ['duration time must be greater than one second as set via command line option reconcile-sync-loop-period']
      : []),
    ...signingProblems(asked),
    ...syncProblems(asked),
    ...securePortProblems(asked),
    ...frontProxyProblems(asked),
    ...metricsProblems(asked),
    ...cloudProblems(asked),
  ])
}

const SECOND = 1_000_000_000n

/** What the flags of a signer begin with, and what it is called where they are refused. */
const SIGNERS = [
  ['kubelet-serving', 'kubelet-serving'],
  ['kubelet-client', 'kube-apiserver-client'],
  ['kube-apiserver-client', 'kube-apiserver'],
  ['legacy-unknown', 'legacy-unknown'],
] as const

function signingProblems(asked: FlagsAsked): readonly string[] {
  const fileOf = (signer: string, what: string) => asked.text(`cluster-signing-${signer}${what}-file`)
  const halves = SIGNERS.flatMap(([signer, name]) => {
    const [cert, key] = [fileOf(signer, '-cert'), fileOf(signer, '-key')]
    if ((cert === '') === (key === '')) return []
    const [given, other] = cert === '' ? ['key', 'cert'] : ['cert', 'key']
    return [`"cluster-signing-${name}": cannot specify ${given} without ${other}`]
  })
  const hasOwn = SIGNERS.some(([signer]) => fileOf(signer, '-cert') !== '' || fileOf(signer, '-key') !== '')
  const hasCommon = fileOf('cert', '') !== '' || fileOf('key', '') !== ''
  return [
    ...halves,
    ...(hasOwn && hasCommon
      ? ['cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags at the same time']
      : []),
  ]
}

/** In its order: the most there may be, where there is a limit, and how fewer than one are refused. */
const COUNTS: readonly (readonly [flag: string, words: string, most?: number])[] = [
  ['concurrent-daemonset-syncs', 'must be greater than 0, but'],
  ['concurrent-device-taint-eviction-syncs', 'must be greater than zero,'],
  ['concurrent-resourceclaim-syncs', 'must be larger than 0,'],
  ['concurrent-statefulset-syncs', 'must be greater than 0, but'],
  ['concurrent-service-endpoint-syncs', 'must not be less than 1, but', 50],
  ['max-endpoints-per-slice', 'must not be less than 1, but', 1000],
  ['mirroring-concurrent-service-endpoint-syncs', 'must not be less than 1, but', 50],
  ['mirroring-max-endpoints-per-subset', 'must not be less than 1, but', 1000],
  ['concurrent-ephemeralvolume-syncs', 'must be greater than 0, but'],
  ['concurrent-horizontal-pod-autoscaler-syncs', 'must be greater than 0, but'],
  ['concurrent-job-syncs', 'must be greater than 0, but'],
  ['concurrent-cron-job-syncs', 'must be greater than 0, but'],
]

function syncProblems(asked: FlagsAsked): readonly string[] {
  return COUNTS.flatMap(([flag, words, most = Number.POSITIVE_INFINITY]) => {
    const count = asked.number(flag)
    if (count < 1) return [`${flag} ${words} got ${count}`]
    return count > most ? [`${flag} must not be more than ${most}, but got ${count}`] : []
  })
}

function cloudProblems(asked: FlagsAsked): readonly string[] {
  const [provider, allocator] = [asked.text('cloud-provider'), asked.text('cidr-allocator-type')]
  return [
    ...(provider === '' || provider === 'external'
      ? []
      : [
          `cloud provider ${JSON.stringify(provider)} was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider`,
        ]),
    ...(allocator === '' || allocator === 'RangeAllocator'
      ? []
      : [`built-in cloud providers are disabled. The ipam ${allocator} is not available`]),
  ]
}
