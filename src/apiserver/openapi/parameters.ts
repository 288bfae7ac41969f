/** The parameters that paths take. One object per parameter: what all operations of a path share is told by identity. */
import { type Descriptions, fieldText } from './descriptions.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  /** Its name among the shared parameters of OpenAPI v2; those without stand in each operation. */
  readonly shared?: string
  /** The type whose descriptions have the parameter as a field: `meta.ListOptions`. */
  readonly of: string
}

/** @throws Error for a parameter without a description: a mistake in this table */
export function parameterText(descriptions: Descriptions, { of, name }: Parameter): string {
  const text = fieldText(descriptions, of, name)
  if (text === undefined) throw new Error(`parameter ${name} of ${of} has no description`)
  return text
}

const queryOf =
  (of: string) =>
  (name: string, type: Parameter['type'], suffix?: string): Parameter => ({
    name,
    in: 'query',
    type,
    of,
    ...(suffix === undefined ? {} : { shared: `${name}-${suffix}` }),
  })
const listing = queryOf('meta.ListOptions')
const writing = queryOf('meta.CreateOptions')
const patching = queryOf('meta.PatchOptions')
const deleting = queryOf('meta.DeleteOptions')
const logging = queryOf('core.PodLogOptions')
const PATH = { in: 'path', type: 'string', of: 'http.Parameter' } as const

export const NAME: Parameter = { name: 'name', ...PATH }
export const NAMESPACE: Parameter = { name: 'namespace', ...PATH, shared: 'namespace-vgWSWtn3' }
export const REST: Parameter = { name: 'path', ...PATH, shared: 'path-z6Ciiujn' }

export const PRETTY = queryOf('http.Parameter')('pretty', 'string', 'tJGM1-ng')
const dryRun = writing('dryRun', 'string')
const fieldManager = writing('fieldManager', 'string', 'Qy4HdaTW')
/** An apply must name its manager: another parameter of the same name. */
const patchFieldManager = patching('fieldManager', 'string', '7c6nTn1T')
const fieldValidation = writing('fieldValidation', 'string')

const selection: readonly Parameter[] = [
  listing('continue', 'string', 'QfD61s0i'),
  listing('fieldSelector', 'string', 'xIcQKXFG'),
  listing('labelSelector', 'string', '5Zw57w4C'),
  listing('limit', 'integer', '1NfNmdNH'),
  listing('resourceVersion', 'string', '5WAnf1kx'),
  listing('resourceVersionMatch', 'string', 't8XhRHeC'),
  listing('sendInitialEvents', 'boolean', 'rLXlEK_k'),
  listing('shardSelector', 'string', 'Kgyki_3_'),
  listing('timeoutSeconds', 'integer', 'yvYezaOC'),
]

const deletion: readonly Parameter[] = [
  dryRun,
  deleting('gracePeriodSeconds', 'integer', '-K5HaBOS'),
  deleting('ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean', 'QbNkfIqj'),
  deleting('orphanDependents', 'boolean', 'uRB25kX5'),
  deleting('propagationPolicy', 'string', '6jk3prlO'),
]

export const LIST: readonly Parameter[] = [
  listing('allowWatchBookmarks', 'boolean', 'HC2hJt-J'),
  ...selection,
  listing('watch', 'boolean', 'XNNPZGbK'),
  PRETTY,
]
export const DELETE: readonly Parameter[] = [...deletion, PRETTY]
export const DELETE_COLLECTION: readonly Parameter[] = [...selection, ...deletion, PRETTY]
export const WRITE: readonly Parameter[] = [dryRun, fieldManager, fieldValidation, PRETTY]
export const PATCH: readonly Parameter[] = [
  dryRun,
  patchFieldManager,
  fieldValidation,
  patching('force', 'boolean', 'tOGGb0Yi'),
  PRETTY,
]
/** Custom resources document that a GET takes a version. */
export const GET_CUSTOM: readonly Parameter[] = [selection[4] as Parameter, PRETTY]

export const LOG: readonly Parameter[] = [
  logging('container', 'string', '1GeXxFDC'),
  logging('follow', 'boolean', '9OIXh_2R'),
  logging('insecureSkipTLSVerifyBackend', 'boolean', 'gM00jVbe'),
  logging('limitBytes', 'integer', 'zwd1RXuc'),
  PRETTY,
  logging('previous', 'boolean', '1jxDPu3y'),
  logging('sinceSeconds', 'integer', 'vE2NLdnP'),
  logging('stream', 'string', 'l-48cgXv'),
  logging('tailLines', 'integer', '9xQLWHMV'),
  logging('timestamps', 'boolean', 'c17fW1w_'),
]

const attaching = queryOf('core.PodAttachOptions')
const executing = queryOf('core.PodExecOptions')

/** By the kind of a connection's options. */
export const CONNECT: Readonly<Record<string, readonly Parameter[]>> = {
  PodAttachOptions: [
    attaching('container', 'string', '_Q-EJ3nR'),
    attaching('stderr', 'boolean', '26jJhFUR'),
    attaching('stdin', 'boolean', 'sEFnN3IS'),
    attaching('stdout', 'boolean', '005YMKE6'),
    attaching('tty', 'boolean', 'g7MlET_l'),
  ],
  PodExecOptions: [
    executing('command', 'string', 'Py3eQybp'),
    executing('container', 'string', 'i5dOmRiM'),
    executing('stderr', 'boolean', 'W_1TNlWc'),
    executing('stdin', 'boolean', 'PSzNhyUC'),
    executing('stdout', 'boolean', '-EZLRwV1'),
    executing('tty', 'boolean', 's0flW37O'),
  ],
  PodPortForwardOptions: [queryOf('core.PodPortForwardOptions')('ports', 'integer', '91KROJmm')],
  PodProxyOptions: [queryOf('core.PodProxyOptions')('path', 'string', 'oPbzgLUj')],
  ServiceProxyOptions: [queryOf('core.ServiceProxyOptions')('path', 'string', 'QCf0eosM')],
  NodeProxyOptions: [queryOf('core.NodeProxyOptions')('path', 'string', 'rFDtV0x9')],
}

/** All that OpenAPI v2 holds once for all operations. */
export const SHARED: readonly Parameter[] = [
  ...new Set([
    NAMESPACE,
    REST,
    ...LIST,
    ...DELETE_COLLECTION,
    ...WRITE,
    ...PATCH,
    ...LOG,
    ...Object.values(CONNECT).flat(),
  ]),
].filter((parameter) => parameter.shared !== undefined)
