/** What the settings say of the kubelet itself: what its Node is registered with, its pace, its bounds. */
import { nanosOf, quantityValue } from '../../api/objects/quantity.ts'
import { labelValue, qualifiedName } from '../../api/validation/names.ts'
import { messageOf } from '../../base/errors.ts'
import type { KubeletServerSettings, KubeletSettings, RealKubeletSettings } from '../../kubelet/node-settings.ts'
import { groupsOfPeriods, type ShutdownGroup } from '../../kubelet/shutdown/shutdown-groups.ts'
import { checkUnsafeSysctls } from '../../kubelet/sysctls.ts'
import { FlagError, type ReadFlags } from '../flags.ts'
import { resourceManagersOf, withReservedCpus } from './resource-managers.ts'
import { taintOf } from './values.ts'

/** @throws FlagError */
export function describedKubelet(flags: ReadFlags): KubeletSettings {
  const [labels, taints, providerId] = [labelsOf(flags), flags.list('register-with-taints'), flags.text('provider-id')]
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
    },
    swap: {
      behavior: flags.text('memorySwap.swapBehavior') === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap',
      killsSingleProcess: flags.bool('singleProcessOOMKill') === true,
    },
    seccompDefault: flags.bool('seccomp-default') === true,
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

/** What of the names that belong to Kubernetes a kubelet may give its Node. */
const OWN_LABELS = [
  ...['beta.kubernetes.io/arch', 'beta.kubernetes.io/instance-type', 'beta.kubernetes.io/os'],
  ...['failure-domain.beta.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone'],
  ...['kubernetes.io/arch', 'kubernetes.io/hostname', 'kubernetes.io/os', 'node.kubernetes.io/instance-type'],
  ...['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'],
]
const OWN_PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io']

function labelsOf(flags: ReadFlags): Readonly<Record<string, string>> | undefined {
  const given = flags.list('node-labels')
  if (given === undefined) return undefined
  const labels = Object.fromEntries(
    given.map((text): [string, string] => {
      const [key = '', ...value] = text.split('=')
      return [key.trim(), value.join('=').trim()]
    }),
  )
  const foreign = Object.keys(labels)
    .filter((key) => !OWN_LABELS.includes(key) && isOfKubernetes(key.split('/', 1)[0] ?? '', key))
    .sort()
  if (foreign.length > 0) {
    const allowed = `${OWN_PREFIXES.join(', ')}) or be in the specifically allowed set (${OWN_LABELS.join(', ')}`
    throw new FlagError(
      `failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${foreign.join(' ')}]; --node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (${allowed})`,
    )
  }
  for (const [key, value] of Object.entries(labels))
    for (const [text, wrong] of [
      [key, qualifiedName(key)],
      [value, labelValue(value)],
    ] as const)
      if (wrong.length > 0)
        throw new FlagError(`failed to validate kubelet flags: invalid node labels: '${text}' - ${wrong.join(', ')}`)
  return labels
}

function isOfKubernetes(prefix: string, key: string): boolean {
  if (!key.includes('/')) return false
  const isBelow = (domain: string) => prefix === domain || prefix.endsWith(`.${domain}`)
  return (isBelow('kubernetes.io') || isBelow('k8s.io')) && !OWN_PREFIXES.some(isBelow)
}
