/** What the settings say of the kubelet itself: what its Node is registered with, its pace, its bounds. */
import { nanosOf, quantityValue } from '../../api/values/quantity.ts'
import { messageOf } from '../../base/errors.ts'
import { DEFAULT_VERIFICATION, VERIFICATION_POLICIES } from '../../kubelet/images/pull-verification.ts'
import type { KubeletServerSettings, KubeletSettings, RealKubeletSettings } from '../../kubelet/node-settings.ts'
import { groupsOfPeriods, type ShutdownGroup } from '../../kubelet/shutdown/shutdown-groups.ts'
import { checkUnsafeSysctls } from '../../kubelet/sysctls.ts'
import { FlagError, type ReadFlags } from '../flags.ts'
import { nodeLabelsOf } from './command-line.ts'
import { resourceManagersOf, withReservedCpus } from './resource-managers.ts'
import { taintOf } from './values.ts'

const POLICY = 'imagePullCredentialsVerificationPolicy'

/** @throws FlagError */
export function describedKubelet(flags: ReadFlags): KubeletSettings {
  const [labels, taints, providerId] = [
    nodeLabelsOf(flags),
    flags.list('register-with-taints'),
    flags.text('provider-id'),
  ]
  return {
    registers: {
      ...(labels === undefined ? {} : { labels }),
      ...(taints === undefined ? {} : { taints: taints.map(taintOf) }),
      ...(providerId === undefined ? {} : { providerId }),
    },
    registersItself: flags.bool('register-node') === true,
    lease: { seconds: flags.number('nodeLeaseDurationSeconds') ?? 0 },
    statusReportMs: flags.ms('nodeStatusReportFrequency'),
    longestBackOffMs: flags.ms('crashLoopBackOff.maxContainerRestartPeriod'),
    allowedUnsafeSysctls: sysctlsOf(flags),
    shutdownGroups: shutdownGroupsOf(flags),
  }
}

/** @throws FlagError */
export function describedRealKubelet(flags: ReadFlags): RealKubeletSettings {
  const named = ['system-reserved', 'kube-reserved'].map((name) => reservedOf(flags, name))
  const reserved = withReservedCpus(flags, named)
  return {
    logs: {
      largest: Number(
        quantityOf('--container-log-max-size', flags.text('container-log-max-size') ?? '', quantityValue),
      ),
      mostFiles: flags.number('container-log-max-files') ?? 0,
    },
    mostImages: flags.number('node-status-max-images') ?? 0,
    reserved,
    managers: resourceManagersOf(flags, reserved),
    limits: {
      periodUs: flags.bool('cpu-cfs-quota') ? flags.ms('cpu-cfs-quota-period') * 1000 : undefined,
      ...((flags.number('pod-max-pids') ?? -1) > 0 ? { pids: flags.number('pod-max-pids') ?? 0 } : {}),
      holdsAllPods: (flags.list('enforce-node-allocatable') ?? ['pods']).includes('pods'),
    },
    swap: {
      behavior: flags.text('memorySwap.swapBehavior') === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap',
      killsSingleProcess: flags.bool('singleProcessOOMKill') === true,
    },
    seccompDefault: flags.bool('seccomp-default') === true,
    pullVerification: {
      policy: VERIFICATION_POLICIES.find((one) => one === flags.text(POLICY)) ?? DEFAULT_VERIFICATION.policy,
      allowlist: flags.list('preloadedImagesVerificationAllowlist') ?? [],
    },
    podLogsDir: flags.text('podLogsDir') ?? '/var/log/pods',
    resolvConf: flags.values.has('resolv-conf') ? (flags.values.get('resolv-conf')?.at(-1) ?? '') : '/etc/resolv.conf',
    ...describedServer(flags),
  }
}

/** Safe where nothing is said, also without a file. @throws FlagError */
export function describedServer(flags: ReadFlags): Required<KubeletServerSettings> {
  const said = (flag: string, field: string) => (flags.values.has(flag) ? flag : field)
  const mode = flags.text(said('authorization-mode', 'authorization.mode'))
  if (mode !== 'Webhook' && mode !== 'AlwaysAllow')
    throw new FlagError(`failed to run Kubelet: unknown authorization mode ${mode}`)
  return {
    accessTimes: {
      tokenMs: flags.ms('authentication-token-webhook-cache-ttl'),
      allowedMs: flags.ms('authorization-webhook-cache-authorized-ttl'),
      deniedMs: flags.ms('authorization-webhook-cache-unauthorized-ttl'),
    },
    accessRules: {
      anonymous: flags.bool(said('anonymous-auth', 'authentication.anonymous.enabled')) === true,
      tokens: flags.bool(said('authentication-token-webhook', 'authentication.webhook.enabled')) === true,
      allowsAll: mode === 'AlwaysAllow',
    },
    debugging: flags.bool('enable-debugging-handlers') === true,
    flags: flagsOf(flags),
    readOnlyPort: flags.number('read-only-port') ?? 0,
  }
}

/** A header of manifests' requests may prove an identity, and is not told. */
const flagsOf = ({ values }: ReadFlags): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...values]
      .filter(([name]) => /^[a-z0-9-]+$/.test(name) && name !== 'manifest-url-header')
      .map(([name, given]) => [name, given.join(',')]),
  )

function shutdownGroupsOf(flags: ReadFlags): readonly ShutdownGroup[] {
  const own = flags.text('shutdownGracePeriodByPodPriority')
  if (own === undefined)
    return groupsOfPeriods(flags.ms('shutdownGracePeriod') / 1000, flags.ms('shutdownGracePeriodCriticalPods') / 1000)
  const groups = JSON.parse(own) as readonly {
    readonly priority?: number
    readonly shutdownGracePeriodSeconds?: number
  }[]
  return groups.map(({ priority = 0, shutdownGracePeriodSeconds = 0 }) => ({
    priority,
    seconds: shutdownGracePeriodSeconds,
  }))
}

function sysctlsOf(flags: ReadFlags): readonly string[] {
  const allowed = flags.list('allowed-unsafe-sysctls') ?? []
  try {
    checkUnsafeSysctls(allowed)
    return allowed
  } catch (cause) {
    throw new FlagError(messageOf(cause), { cause })
  }
}

function quantityOf<T>(flag: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (cause) {
    throw new FlagError(`${flag}: ${JSON.stringify(text)} is no quantity: ${messageOf(cause)}`, { cause })
  }
}

/** kubelet knows these names, each less than the capacity in any case. */
const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid']

function reservedOf(flags: ReadFlags, name: string): Readonly<Record<string, string>> {
  const pairs = (flags.list(name) ?? []).map((text): [string, string] => {
    const [resource = '', amount = ''] = text.split('=', 2)
    if (!RESERVABLE.includes(resource))
      throw new FlagError(`--${name}: cannot reserve ${JSON.stringify(resource)} resource`)
    if (quantityOf(`--${name}`, amount, nanosOf) < 0n) throw new FlagError(`--${name}: ${resource} is negative`)
    return [resource, amount]
  })
  return Object.fromEntries(pairs)
}
