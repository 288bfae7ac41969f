/** The parameters that paths take. One object per parameter: what all operations of a path share is told by identity. */

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  /** Its name among the shared parameters of OpenAPI v2; those without stand in each operation. */
  readonly shared?: string
}

const query = (name: string, type: Parameter['type'], suffix?: string): Parameter => ({
  name,
  in: 'query',
  type,
  ...(suffix === undefined ? {} : { shared: `${name}-${suffix}` }),
})

export const NAME: Parameter = { name: 'name', in: 'path', type: 'string' }
export const NAMESPACE: Parameter = { name: 'namespace', in: 'path', type: 'string', shared: 'namespace-vgWSWtn3' }
export const REST: Parameter = { name: 'path', in: 'path', type: 'string', shared: 'path-z6Ciiujn' }

export const PRETTY = query('pretty', 'string', 'tJGM1-ng')
const dryRun = query('dryRun', 'string')
const fieldManager = query('fieldManager', 'string', 'Qy4HdaTW')
/** An apply must name its manager: another parameter of the same name. */
const patchFieldManager = query('fieldManager', 'string', '7c6nTn1T')
const fieldValidation = query('fieldValidation', 'string')

const selection: readonly Parameter[] = [
  query('continue', 'string', 'QfD61s0i'),
  query('fieldSelector', 'string', 'xIcQKXFG'),
  query('labelSelector', 'string', '5Zw57w4C'),
  query('limit', 'integer', '1NfNmdNH'),
  query('resourceVersion', 'string', '5WAnf1kx'),
  query('resourceVersionMatch', 'string', 't8XhRHeC'),
  query('sendInitialEvents', 'boolean', 'rLXlEK_k'),
  query('shardSelector', 'string', 'Kgyki_3_'),
  query('timeoutSeconds', 'integer', 'yvYezaOC'),
]

const deletion: readonly Parameter[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', '-K5HaBOS'),
  query('ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean', 'QbNkfIqj'),
  query('orphanDependents', 'boolean', 'uRB25kX5'),
  query('propagationPolicy', 'string', '6jk3prlO'),
]

export const LIST: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'HC2hJt-J'),
  ...selection,
  query('watch', 'boolean', 'XNNPZGbK'),
  PRETTY,
]
export const DELETE: readonly Parameter[] = [...deletion, PRETTY]
export const DELETE_COLLECTION: readonly Parameter[] = [...selection, ...deletion, PRETTY]
export const WRITE: readonly Parameter[] = [dryRun, fieldManager, fieldValidation, PRETTY]
export const PATCH: readonly Parameter[] = [
  dryRun,
  patchFieldManager,
  fieldValidation,
  query('force', 'boolean', 'tOGGb0Yi'),
  PRETTY,
]
/** Custom resources document that a GET takes a version. */
export const GET_CUSTOM: readonly Parameter[] = [selection[4] as Parameter, PRETTY]

export const LOG: readonly Parameter[] = [
  query('container', 'string', '1GeXxFDC'),
  query('follow', 'boolean', '9OIXh_2R'),
  query('insecureSkipTLSVerifyBackend', 'boolean', 'gM00jVbe'),
  query('limitBytes', 'integer', 'zwd1RXuc'),
  PRETTY,
  query('previous', 'boolean', '1jxDPu3y'),
  query('sinceSeconds', 'integer', 'vE2NLdnP'),
  query('stream', 'string', 'l-48cgXv'),
  query('tailLines', 'integer', '9xQLWHMV'),
  query('timestamps', 'boolean', 'c17fW1w_'),
]

/** By the kind of a connection's options. */
export const CONNECT: Readonly<Record<string, readonly Parameter[]>> = {
  PodAttachOptions: [
    query('container', 'string', '_Q-EJ3nR'),
    query('stderr', 'boolean', '26jJhFUR'),
    query('stdin', 'boolean', 'sEFnN3IS'),
    query('stdout', 'boolean', '005YMKE6'),
    query('tty', 'boolean', 'g7MlET_l'),
  ],
  PodExecOptions: [
    query('command', 'string', 'Py3eQybp'),
    query('container', 'string', 'i5dOmRiM'),
    query('stderr', 'boolean', 'W_1TNlWc'),
    query('stdin', 'boolean', 'PSzNhyUC'),
    query('stdout', 'boolean', '-EZLRwV1'),
    query('tty', 'boolean', 's0flW37O'),
  ],
  PodPortForwardOptions: [query('ports', 'integer', '91KROJmm')],
  PodProxyOptions: [query('path', 'string', 'oPbzgLUj')],
  ServiceProxyOptions: [query('path', 'string', 'QCf0eosM')],
  NodeProxyOptions: [query('path', 'string', 'rFDtV0x9')],
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
