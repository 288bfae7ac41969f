/** What a kubelet refuses of its command line before it looks at what its files say, in its words and order. */
import { labelValue, qualifiedName } from '../../api/names/name-formats.ts'
import type { FlagValues, ReadFlags } from '../flags.ts'

const PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const LABELS = [
  ...['beta.kubernetes.io/arch', 'beta.kubernetes.io/instance-type', 'beta.kubernetes.io/os'],
  ...['failure-domain.beta.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone', 'kubernetes.io/arch'],
  ...['kubernetes.io/hostname', 'kubernetes.io/os', 'node.kubernetes.io/instance-type'],
  ...['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'],
]

/** `flags`: of the command line alone. @throws Error in one line or more for labels */
export function judgeKubeletLine(flags: ReadFlags, given: FlagValues): void {
  if (given.has('node-labels')) judgeLabels(nodeLabelsOf(flags) ?? {})
}

const TLS_VERSIONS = ['', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13']
const MODES = ['', 'AlwaysAllow', 'Webhook']
const LOG_FORMATS = ['', 'text', 'json']

/** What a kubelet finds wrong once its configuration is valid, by flags or files. @throws Error in one line */
export function judgeSettled(flags: ReadFlags): void {
  const [version, mode, format] = (['tls-min-version', 'authorization-mode', 'logging-format'] as const).map(
    (name) => flags.text(name) ?? '',
  ) as [string, string, string]
  if (!LOG_FORMATS.includes(format))
    throw new Error(
      `initialize logging: logging.format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`,
    )
  if (!TLS_VERSIONS.includes(version))
    throw new Error(`failed to construct kubelet dependencies: unknown tls version ${JSON.stringify(version)}`)
  if (!MODES.includes(mode)) throw new Error(`failed to run Kubelet: unknown authorization mode ${mode}`)
  const endpoint = flags.text('container-runtime-endpoint') ?? ''
  if (/^[a-z]+:/.test(endpoint) && !endpoint.startsWith('unix:'))
    throw new Error('failed to run Kubelet: only support unix socket endpoint')
}

/** The labels of --node-labels: nothing between two commas is passed over, space around is not a part, and the last of one key counts. */
export function nodeLabelsOf(flags: ReadFlags): Readonly<Record<string, string>> | undefined {
  const given = flags.list('node-labels')?.filter((text) => text.trim() !== '')
  return (
    given &&
    Object.fromEntries(
      given.map((text): [string, string] => {
        const [key = '', ...value] = text.split('=')
        return [key.trim(), value.join('=').trim()]
      }),
    )
  )
}

/** A node says of itself only what it may. @throws Error */
function judgeLabels(labels: Readonly<Record<string, string>>): void {
  const unknown: string[] = []
  for (const [key, value] of Object.entries(labels)) {
    const namespace = key.includes('/') ? (key.split('/')[0] ?? '') : ''
    if (isOwn(namespace) && !isAllowed(key, namespace)) unknown.push(key)
    for (const [part, problems] of [[key, qualifiedName(key)] as const, [value, labelValue(value)] as const])
      if (problems.length > 0)
        throw new Error(`failed to validate kubelet flags: invalid node labels: '${part}' - ${problems.join('; ')}`)
  }
  if (unknown.length === 0) return
  throw new Error(
    `failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${unknown.sort().join(' ')}]
--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (${PREFIXES.join(', ')}) or be in the specifically allowed set (${LABELS.join(', ')})`,
  )
}

const isBelow = (namespace: string, domain: string) => namespace === domain || namespace.endsWith(`.${domain}`)
const isOwn = (namespace: string) => isBelow(namespace, 'kubernetes.io') || isBelow(namespace, 'k8s.io')
const isAllowed = (key: string, namespace: string) =>
  LABELS.includes(key) || PREFIXES.some((prefix) => isBelow(namespace, prefix))
