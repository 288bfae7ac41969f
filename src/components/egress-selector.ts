/** EgressSelectorConfiguration (apiserver.k8s.io): by which ways an API server reaches nodes, webhooks and its store. Here that is directly. */
import { kindInVersions, strictConfiguration } from '../api/configuration/decode.ts'
import { struct } from '../api/configuration/shape.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { asList, asObject, asText } from '../api/unchecked.ts'
import { messageOf } from '../base/errors.ts'

const TLS = struct('TLSConfig', { caBundle: 'string', clientKey: 'string', clientCert: 'string' })
const TRANSPORT = struct('Transport', {
  tcp: struct('TCPTransport', { url: 'string', tlsConfig: TLS }),
  uds: struct('UDSTransport', { udsName: 'string' }),
})
const SHAPE = struct('EgressSelectorConfiguration', {
  egressSelections: [
    struct('EgressSelection', {
      name: 'string',
      connection: struct('Connection', { proxyProtocol: { named: 'ProtocolType' }, transport: TRANSPORT }),
    }),
  ],
})
const KINDS = kindInVersions(SHAPE.type, 'apiserver.k8s.io', 'v1beta1', 'v1alpha1')
const NAMES = ['cluster', 'controlplane', 'etcd']
/** As controlplane was called. */
const FORMER_NAME = 'master'
const PROTOCOLS = ['Direct', 'HTTPConnect', 'GRPC']

/** What is wrong with a file's text, in the words of kube-apiserver, or that it asks for a proxy; undefined: nothing. */
export function egressSelectorProblem(text: string): string | undefined {
  let document: JsonObject
  try {
    document = strictConfiguration(text, KINDS, SHAPE) as JsonObject
  } catch (cause) {
    return `failed to read egress selector config: ${messageOf(cause)}`
  }
  const selections = asList(document['egressSelections']).map(asObject)
  const problems = selections.flatMap((selection, i) => problemsOf(selection, i, selections))
  if (problems.length > 0)
    return `failed to validate egress selector configuration: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`
  const proxied = selections.find((selection) => protocolOf(selection) !== 'Direct')
  return proxied === undefined
    ? undefined
    : `--egress-selector-config-file: skiff connects directly: the proxy for ${JSON.stringify(asText(proxied['name']))} (${protocolOf(proxied)}) is not to be had here`
}

const protocolOf = (selection: JsonObject): string => asText(asObject(selection['connection'])['proxyProtocol'])

function problemsOf(selection: JsonObject, i: number, all: readonly JsonObject[]): readonly string[] {
  // In any case.
  const name = asText(selection['name']).toLowerCase()
  const isKnown = NAMES.includes(name) || name === FORMER_NAME
  return [
    ...connectionProblems(asObject(selection['connection'])),
    ...(isKnown ? [] : [`service.connection: ${unsupported(asText(selection['name']), NAMES)}`]),
    ...(isKnown && all.findIndex((other) => asText(other['name']).toLowerCase() === name) < i
      ? [`service.connection[${i}]: Duplicate value: ${JSON.stringify(name)}`]
      : []),
  ]
}

const unsupported = (value: string, supported: readonly string[]): string =>
  `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`

function connectionProblems({ proxyProtocol, transport }: JsonObject): readonly string[] {
  const protocol = asText(proxyProtocol)
  if (!PROTOCOLS.includes(protocol)) return [`service.connection.protocol: ${unsupported(protocol, PROTOCOLS)}`]
  const isThere = (value: Json | undefined) => value !== undefined && value !== null
  if (protocol === 'Direct')
    return isThere(transport)
      ? ['service.connection.transport: Invalid value: "direct": config must be absent for direct connect']
      : []
  if (!isThere(transport))
    return [`service.connection.transport: Required value: transport must be set for ${protocol}`]
  const { uds } = asObject(transport)
  if (protocol === 'GRPC' && !isThere(uds)) return ['service.connection.uds: Required value: UDS must be set with GRPC']
  return isThere(uds) && asText(asObject(uds)['udsName']) === ''
    ? ['service.connection.udsName: Invalid value: "nil": must be present for UDS connections']
    : []
}
