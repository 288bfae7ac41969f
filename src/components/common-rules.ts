/** What Kubernetes' components refuse of the flags that they share: versions, gates, logging, serving, front proxies, metrics. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { parseYaml } from '../api/codec/yaml.ts'
import { messageOf } from '../base/errors.ts'
import { goDurationText } from '../base/go-duration.ts'
import { whyUnread } from '../base/unread.ts'
import { type FlagsAsked, refuseAll } from './asked-flags.ts'
import { isGateEnabled, judgeFeatureGates, judgeVersions } from './feature-gates.ts'
import { labelPairs } from './flag-values.ts'

/** What they notice first, before they look at the rest. @throws FlagError */
export function judgeBeginning(asked: FlagsAsked): void {
  judgeVersions(asked.list('emulated-version'), asked.list('min-compatibility-version'))
  judgeFeatureGates(asked.list('feature-gates'))
  refuseAll(loggingProblems(asked))
}

function loggingProblems(asked: FlagsAsked): readonly string[] {
  const format = asked.text('logging-format')
  const flush = asked.duration('log-flush-frequency')
  const mayAlpha = isGateEnabled('LoggingAlphaOptions', asked.list('feature-gates'))
  const alpha = ['text', 'json'].flatMap((kind) => [
    ...(asked.isOn(`log-${kind}-split-stream`) ? [`options.${kind}.splitStream`] : []),
    ...(/^[-+]?0*[A-Za-z]*$/.test(asked.text(`log-${kind}-info-buffer-size`))
      ? []
      : [`options.${kind}.infoBufferSize`]),
  ])
  return [
    ...(flush > 0n
      ? []
      : [`flushFrequency: Invalid value: ${JSON.stringify(goDurationText(flush))}: Must be greater than zero`]),
    ...(format === 'text' || format === 'json'
      ? []
      : [`format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`]),
    ...(format !== 'text' && asked.list('vmodule').length > 0
      ? ['vmodule: Forbidden: Only supported for text log format']
      : []),
    ...(mayAlpha ? [] : alpha.map((field) => `${field}: Forbidden: Feature LoggingAlphaOptions is disabled`)),
  ]
}

const minorOf = (setting: string | undefined): number | undefined => {
  const [, minor] = /^(?:kube=)?v?1\.(\d+)(?:\.0)?$/.exec(setting?.trim() ?? '') ?? []
  return minor === undefined ? undefined : Number(minor)
}

const [OLDEST, OWN] = [34, 37]
const emulatedMinor = (asked: FlagsAsked): number => minorOf(asked.list('emulated-version')[0]) ?? OWN
export const isOwnVersion = (asked: FlagsAsked): boolean => emulatedMinor(asked) === OWN

export function versionProblems(asked: FlagsAsked): readonly string[] {
  const emulated = emulatedMinor(asked)
  const compatible =
    minorOf(asked.list('min-compatibility-version')[0]) ?? Math.max(OLDEST, Math.min(emulated, OWN) - 1)
  const lowest = asked.isGiven('min-compatibility-version') || emulated >= OLDEST ? compatible : OLDEST
  return [
    ...(emulated < OLDEST || emulated > OWN
      ? [`emulation version 1.${emulated} is not between [1.${OLDEST}, 1.${OWN}.0]`]
      : []),
    ...(emulated <= OWN && (lowest < OLDEST || lowest > emulated)
      ? [`minCompatibilityVersion version 1.${lowest} is not between [1.${OLDEST}, 1.${emulated}]`]
      : []),
  ]
}

/** Of a port that may be turned off by 0. */
export function securePortProblems(asked: FlagsAsked): readonly string[] {
  const port = asked.number('secure-port')
  if (port < 0) return [`--secure-port ${port} must be between 0 and 65535, inclusive. 0 for turning off secure port`]
  return port > 65535 ? portOutOfRange(port) : []
}

export const portOutOfRange = (port: number): readonly string[] => [
  `--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`,
]

/** The first version that has headers for uids. */
const WITH_UIDS = 33

export function frontProxyProblems(asked: FlagsAsked): readonly string[] {
  const empty = (flag: string) =>
    asked.list(flag).some((value) => value.trim() === '') ? [`empty value in "${flag}"`] : []
  const uids = asked.list('requestheader-uid-headers')
  const hasUids =
    isGateEnabled('RemoteRequestHeaderUID', asked.list('feature-gates')) && emulatedMinor(asked) >= WITH_UIDS
  return [
    ...empty('requestheader-username-headers'),
    ...empty('requestheader-group-headers'),
    ...empty('requestheader-extra-headers-prefix'),
    ...empty('requestheader-allowed-names'),
    ...(uids.length > 0 && !hasUids
      ? ['--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled']
      : []),
    ...(hasUids ? empty('requestheader-uid-headers') : []),
    ...(hasUids && uids.length > 0 && !uids.some((name) => name.toLowerCase() === 'x-remote-uid')
      ? [
          '--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work',
        ]
      : []),
  ]
}

const METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const METRIC_AND_LABEL = /^[a-zA-Z_:][a-zA-Z0-9_:]*,[a-zA-Z_][a-zA-Z0-9_]*$/
const KEYS =
  'must have keys with format `metricName,labelName` where metricName matches "[a-zA-Z_:][a-zA-Z0-9_:]*" and labelName matches "[a-zA-Z_][a-zA-Z0-9_]*"'

export function metricsProblems(asked: FlagsAsked): readonly string[] {
  const hidden = asked.text('show-hidden-metrics-for-version')
  const disabled = asked.list('disabled-metrics')
  const wrong = disabled.find((name) => !METRIC.test(name))
  const labels = sorted(
    asked
      .list('allow-metric-labels')
      .flatMap(labelPairs)
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
  )
  const manifest = asked.text('allow-metric-labels-manifest')
  const hasLabels = Object.keys(labels).length > 0
  const config = {
    ...(hidden === '' ? {} : { showHiddenMetricsForVersion: hidden }),
    ...(disabled.length === 0 ? {} : { disabledMetrics: disabled }),
    allowListMapping: labels,
    allowListMappingManifest: manifest,
  }
  return [
    ...(hidden === '' || hidden === `1.${OWN - 1}`
      ? []
      : [
          `metrics.showHiddenMetricsForVersion: Invalid value: ${JSON.stringify(hidden)}: must be omitted or have the value '1.${OWN - 1}'; only the previous minor version is allowed`,
        ]),
    ...(wrong === undefined
      ? []
      : [
          `metrics.disabledMetrics: Invalid value: ${JSON.stringify(disabled)}: must be fully qualified metric names matching "^[a-zA-Z_:][a-zA-Z0-9_:]*$", got ${JSON.stringify(wrong)}`,
        ]),
    ...labelProblems('metrics.allowListMapping', labels),
    ...(manifest === '' ? [] : manifestProblems(manifest)),
    ...(hasLabels && manifest !== ''
      ? [
          `metrics: Invalid value: ${JSON.stringify(config)}: cannot specify both allowListMapping and allowListMappingManifest`,
        ]
      : []),
  ]
}

const sorted = (pairs: readonly (readonly [string, string])[]): Readonly<Record<string, string>> =>
  Object.fromEntries([...pairs].sort(([a], [b]) => (a < b ? -1 : 1)))

const labelProblems = (path: string, labels: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(labels).every((key) => METRIC_AND_LABEL.test(key))
    ? []
    : [`${path}: Invalid value: ${JSON.stringify(labels)}: ${KEYS}`]

function manifestProblems(file: string): readonly string[] {
  const path = 'metrics.allowListMappingManifest'
  const refused = (why: string) => [`${path}: Invalid value: ${JSON.stringify(file)}: ${why}`]
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    return refused(`failed to read allow list manifest: ${whyUnread(file, cause)}`)
  }
  let found: unknown
  try {
    parseYaml(text)
    found = parse(text)
  } catch (cause) {
    return refused(`failed to parse allow list manifest: ${messageOf(cause)}`)
  }
  if (found === null || found === undefined) return []
  if (typeof found !== 'object' || Array.isArray(found)) {
    const what = Array.isArray(found) ? '!!seq' : `!!str \`${found}\``
    return refused(
      `failed to parse allow list manifest: yaml: unmarshal errors:\n  line 1: cannot unmarshal ${what} into map[string]string`,
    )
  }
  const labels = sorted(Object.entries(found).map(([key, value]) => [key, String(value)]))
  const problems = labelProblems(path, labels)
  return problems.length === 0 ? [] : refused(`invalid allow list mapping in manifest: [${problems.join(', ')}]`)
}

/** The last of two with the same path wins; a star may stand at the end alone. */
export function openPathProblem(asked: FlagsAsked): string | undefined {
  const wrong = asked
    .list('authorization-always-allow-paths')
    .find((path) => path.replace(/^\/+/, '').slice(0, -1).includes('*'))
  return wrong === undefined ? undefined : `only trailing * allowed in ${JSON.stringify(wrong)}`
}
