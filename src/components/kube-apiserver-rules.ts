/**
 * What kube-apiserver refuses of its command line as a whole: in its words and, where several things are wrong, in its order. First what it
 * notices while it completes its options, the first of which ends it, then all that it finds when it validates them.
 */

import { readFileSync } from 'node:fs'
import { parseIPRange } from '../api/objects/ip-range.ts'
import { withoutLeadingZeros } from '../api/values/ip.ts'
import { KNOWN_PLUGINS } from '../apiserver/admission/plugin-order.ts'
import { LEAST_ADDRESSES } from '../apiserver/registry/allocators/service-network.ts'
import { whyUnread } from '../base/unread.ts'
import { apiVersionsHere, fairnessConflicts, whyNoRuntimeConfig } from '../cluster/runtime-config.ts'
import { isPinned, NOT_PINNED } from '../cluster/server-flags.ts'
import { type FlagsAsked, flagsAsked, refuseAll } from './asked-flags.ts'
import {
  frontProxyProblems,
  isOwnVersion,
  judgeBeginning,
  metricsProblems,
  portOutOfRange,
  versionProblems,
} from './common-rules.ts'
import { egressSelectorProblem } from './egress-selector.ts'
import { FlagError, type FlagValues } from './flags.ts'
import { auditProblems } from './kube-apiserver-audit-rules.ts'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.ts'
import { authenticationProblems, authorizationProblems, tokenRequestProblems } from './kube-apiserver-identity-rules.ts'

export interface RulesOptions {
  /** Whether the store is an etcd that has to be named, and tokens are signed with keys that have to be. */
  readonly needsStoreAndKeys: boolean
  /** What is wrong with an expression (RE2), for --cors-allowed-origins. Default: nothing; it is not loaded where that flag is not given. */
  readonly patternError?: (expression: string) => string | undefined
}

/** @throws FlagError with everything that is wrong */
export function judgeCommandLine(values: FlagValues, { needsStoreAndKeys, patternError }: RulesOptions): void {
  const asked = flagsAsked(KUBE_APISERVER_FLAGS, values)
  judgeBeginning(asked)
  judgeCompletion(asked)
  const problems = [
    ...servingProblems(asked, patternError),
    ...storageProblems(asked, needsStoreAndKeys),
    ...(asked.isOn('enable-priority-and-fairness') ? fairnessConflicts(asked.list('runtime-config')) : []),
    ...portProblems(asked),
    ...authenticationProblems(asked, needsStoreAndKeys),
    ...frontProxyProblems(asked),
    ...authorizationProblems(asked),
    ...auditProblems(asked),
    ...admissionProblems(asked),
    ...runtimeConfigProblems(asked),
    ...tokenRequestProblems(asked, needsStoreAndKeys),
    ...metricsProblems(asked),
    ...leadershipProblems(asked),
    ...serviceProblems(asked),
  ]
  refuseAll(problems)
  const later = laterProblem(asked)
  if (later !== undefined) refuseAll([later])
}

/** What it notices when it has validated them all and makes use of them: the first. */
function laterProblem(asked: FlagsAsked): string | undefined {
  const authorities = asked.text('peer-ca-file')
  const why = authorities === '' ? undefined : whyNotRead(authorities)
  if (why !== undefined) return `failed to create proxy transport: ${why}`
  const egress = egressProblem(asked.text('egress-selector-config-file'))
  if (egress !== undefined) return egress
  const reconciler = asked.text('endpoint-reconciler-type')
  return RECONCILERS.includes(reconciler) ? undefined : `Reconciler not implemented: ${reconciler}`
}

const RECONCILERS = ['', 'lease', 'master-count', 'none']

function egressProblem(file: string): string | undefined {
  if (file === '') return undefined
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    return `failed to read egress selector config: unable to read egress selector configuration from ${JSON.stringify(file)} [${whyUnread(file, cause)}]`
  }
  return egressSelectorProblem(text)
}

function whyNotRead(file: string): string | undefined {
  try {
    readFileSync(file)
    return undefined
  } catch (cause) {
    return whyUnread(file, cause)
  }
}

const HOUR = 3_600_000_000_000n
const MOST_TOKEN_SECONDS = 2n ** 32n

function judgeCompletion(asked: FlagsAsked): void {
  const [first, second] = asked.text('service-cluster-ip-range').split(',').map(withoutLeadingZeros)
  const range = first === undefined || first === '' ? undefined : parseIPRange(first)
  if (range === undefined && (first !== '' || second !== undefined))
    throw new FlagError('service-cluster-ip-range[0] is not a valid cidr')
  if (range !== undefined && range.size < LEAST_ADDRESSES)
    throw new FlagError(
      `error determining service IP ranges for primary service cidr: the service cluster IP range must be at least ${LEAST_ADDRESSES} IP addresses`,
    )
  if (second !== undefined && parseIPRange(second) === undefined)
    throw new FlagError('service-cluster-ip-range[1] is not an ip net')
  const longest = asked.duration('service-account-max-token-expiration')
  if (longest !== 0n && (longest < HOUR || longest > MOST_TOKEN_SECONDS * 1_000_000_000n))
    throw new FlagError('the service-account-max-token-expiration must be between 1 hour and 2^32 seconds')
  for (const size of asked.list('watch-cache-sizes')) {
    const parts = size.split('#')
    if (parts.length !== 2) throw new FlagError(`invalid value of watch cache size: ${size}`)
    if (!/^[-+]?\d+$/.test(parts[1] as string)) throw new FlagError(`invalid size of watch cache size: ${size}`)
    if (Number(parts[1]) < 0) throw new FlagError(`watch cache size cannot be negative: ${size}`)
  }
}

const CORS_HELP =
  "List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain matching. If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start with '^' or including the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. Examples of valid expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'"

function servingProblems(asked: FlagsAsked, patternError: RulesOptions['patternError']): readonly string[] {
  const negative = (name: string, words = `--${name} can not be negative value`) =>
    (KUBE_APISERVER_FLAGS.get(name)?.type === 'duration' ? asked.duration(name) < 0n : asked.number(name) < 0)
      ? [words]
      : []
  const goaway = Number(asked.text('goaway-chance') || 0)
  const sameVersion = 'cannot be set to true if the emulation version is the same as the binary version'
  const emulates = !isOwnVersion(asked)
  return [
    ...negative('livez-grace-period', '--livez-grace-period can not be a negative value'),
    ...negative('max-requests-inflight'),
    ...negative('max-mutating-requests-inflight'),
    ...negative('request-timeout'),
    ...(goaway < 0 || goaway > 0.02 ? ['--goaway-chance can not be less than 0 or greater than 0.02'] : []),
    ...negative('min-request-timeout'),
    ...negative('storage-initialization-timeout'),
    ...negative('shutdown-delay-duration'),
    ...negative(
      'shutdown-watch-termination-grace-period',
      'shutdown-watch-termination-grace-period, if provided, can not be a negative value',
    ),
    ...(asked
      .list('strict-transport-security-directives')
      .every((one) => /^(max-age=|includeSubDomains$|preload$)/.test(one))
      ? []
      : [
          '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information',
        ]),
    ...asked.list('cors-allowed-origins').flatMap((expression) => {
      const why = patternError?.(expression) ?? (isPinned(expression) ? undefined : NOT_PINNED)
      return why === undefined
        ? []
        : [`--cors-allowed-origins has an invalid regular expression: ${why}, help: ${CORS_HELP}`]
    }),
    ...versionProblems(asked),
    ...(asked.isOn('emulation-forward-compatible') && !emulates
      ? [`ServerRunOptions.EmulationForwardCompatible ${sameVersion}`]
      : []),
    ...(asked.isOn('runtime-config-emulation-forward-compatible') && !emulates
      ? [`ServerRunOptions.RuntimeConfigEmulationForwardCompatible ${sameVersion}`]
      : []),
  ]
}

const MEDIA_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml']

function storageProblems(asked: FlagsAsked, needsStore: boolean): readonly string[] {
  const backend = asked.text('storage-backend')
  const mediaType = asked.text('storage-media-type')
  return [
    ...(needsStore && asked.list('etcd-servers').length === 0 ? ['--etcd-servers must be specified'] : []),
    ...(backend === 'etcd3' || backend === ''
      ? []
      : ["--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"]),
    ...(asked.isOn('encryption-provider-config-automatic-reload') && asked.text('encryption-provider-config') === ''
      ? ['--encryption-provider-config-automatic-reload must be set with --encryption-provider-config']
      : []),
    ...asked
      .list('etcd-servers-overrides')
      .filter((one) => !/^[^/#]*\/[^/#]*#[^#;]+(;[^#;]+)*$/.test(one))
      .map(
        () =>
          '--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated',
      ),
    ...(mediaType === '' || MEDIA_TYPES.includes(mediaType)
      ? []
      : [`--storage-media-type ${JSON.stringify(mediaType)} invalid, allowed values: ${MEDIA_TYPES.join(', ')}`]),
  ]
}

function portProblems(asked: FlagsAsked): readonly string[] {
  const port = asked.number('secure-port')
  return port < 1 || port > 65535 ? portOutOfRange(port) : []
}

function admissionProblems(asked: FlagsAsked): readonly string[] {
  const flags = ['admission-control', 'enable-admission-plugins', 'disable-admission-plugins']
  const [enabled, disabled] = [asked.list('enable-admission-plugins'), asked.list('disable-admission-plugins')]
  const both = enabled.filter((plugin) => disabled.includes(plugin)).sort()
  return [
    ...(asked.isGiven('admission-control') && flags.slice(1).some((flag) => asked.isGiven(flag))
      ? ['admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive']
      : []),
    ...flags.flatMap((flag) =>
      asked
        .list(flag)
        .flatMap((plugin) => (KNOWN_PLUGINS.has(plugin) ? [] : [`${flag} plugin "${plugin}" is unknown`])),
    ),
    ...(both.length > 0
      ? [`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]
      : []),
  ]
}

function runtimeConfigProblems(asked: FlagsAsked): readonly string[] {
  const why = whyNoRuntimeConfig(asked.list('runtime-config'), apiVersionsHere())
  return why === undefined ? [] : [why]
}

function leadershipProblems(asked: FlagsAsked): readonly string[] {
  const [lease, renew, retry] = ['lease-duration', 'renew-deadline', 'retry-period'].map((name) =>
    asked.duration(`coordinated-leadership-${name}`),
  ) as [bigint, bigint, bigint]
  const after = (first: string, second: string) =>
    `--coordinated-leadership-${first} must be greater than --coordinated-leadership-${second}`
  return [
    ...(lease > renew ? [] : [after('lease-duration', 'renew-deadline')]),
    ...(renew > retry ? [] : [after('renew-deadline', 'retry-period')]),
  ]
}

function serviceProblems(asked: FlagsAsked): readonly string[] {
  const ranges = asked.text('service-cluster-ip-range').split(',')
  const isV6 = (text: string) => text.includes(':')
  const port = asked.number('kubernetes-service-node-port')
  const count = asked.number('apiserver-count')
  const range = asked.text('service-node-port-range').trim() || '30000-32767'
  const [low = 0, second] = range.split(/[-+]/).map(Number)
  const high = second === undefined ? low : range.includes('+') ? low + second : second
  return [
    ...(ranges.length > 2 ? ['--service-cluster-ip-range must not contain more than two entries'] : []),
    ...(ranges.length > 1 && isV6(ranges[0] as string) === isV6(ranges[1] as string)
      ? ['--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family']
      : []),
    ...(port < 0 || port > 65535
      ? [
          `--kubernetes-service-node-port ${port} must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP`,
        ]
      : []),
    ...(port > 0 && (port < low || port > high)
      ? [`kubernetes service node port range ${low}-${high} doesn't contain ${port}`]
      : []),
    ...(count > 0 ? [] : [`--apiserver-count should be a positive number, but value '${count}' provided`]),
  ]
}
