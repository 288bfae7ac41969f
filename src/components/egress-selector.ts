/** EgressSelectorConfiguration (apiserver.k8s.io): by which ways an API server reaches nodes, webhooks and its store. Here that is directly. */
import { existsSync } from 'node:fs'
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
/** As controlplane was called, and is still read; in small letters alone, where other names are taken in any case. */
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

function nameOf({ name }: JsonObject): string {
  const text = asText(name)
  return text === FORMER_NAME ? 'controlplane' : text.toLowerCase()
}

function problemsOf(selection: JsonObject, i: number, all: readonly JsonObject[]): readonly string[] {
  const name = nameOf(selection)
  const isKnown = NAMES.includes(name)
  return [
    ...connectionProblems(asObject(selection['connection'])),
    ...(isKnown ? [] : [`service.connection: ${unsupported(name, NAMES)}`]),
    ...(isKnown && all.findIndex((other) => nameOf(other) === name) < i
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
  const { tcp, uds } = asObject(transport)
  if (protocol === 'GRPC') {
    if (!isThere(uds)) return ['service.connection.uds: Required value: UDS must be set with GRPC']
    return udsProblems(asObject(uds))
  }
  if (isThere(tcp) && isThere(uds))
    return [`service.connection.tcp: Invalid value: ${shownTcp(asObject(tcp))}: TCP and UDS cannot both be set`]
  if (isThere(tcp)) return tcpProblems(asObject(tcp))
  return isThere(uds)
    ? udsProblems(asObject(uds))
    : ['service.connection.tcp: Required value: One of TCP or UDS must be set']
}

const udsProblems = ({ udsName }: JsonObject): readonly string[] =>
  asText(udsName) === ''
    ? ['service.connection.udsName: Invalid value: "nil": must be present for UDS connections']
    : []

function tcpProblems({ url, tlsConfig }: JsonObject): readonly string[] {
  const address = asText(url)
  const hasTls = tlsConfig !== undefined && tlsConfig !== null
  if (address.startsWith('http://'))
    return hasTls
      ? ['service.connection.tlsConfig: Invalid value: "nil": config must not be present when using HTTP']
      : []
  if (!address.startsWith('https://'))
    return [
      `service.connection.url: Invalid value: ${JSON.stringify(address)}: supported connection protocols are http:// and https://`,
    ]
  return hasTls
    ? tlsProblems(asObject(tlsConfig))
    : ['service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS']
}

/** Files are only looked for once all that is needed is named; the one of authorities may be left out. */
function tlsProblems({ caBundle, clientCert, clientKey }: JsonObject): readonly string[] {
  const [authorities, certificate, key] = [asText(caBundle), asText(clientCert), asText(clientKey)]
  const at = 'service.connection.tlsConfig'
  const missing = [
    ...(certificate === '' ? [`${at}.clientCert: Invalid value: "nil": Using TLS requires clientCert`] : []),
    ...(key === '' ? [`${at}.clientKey: Invalid value: "nil": Using TLS requires requires clientKey`] : []),
  ]
  if (missing.length > 0) return missing
  const isAbsent = (file: string) => file !== '' && !existsSync(file)
  return [
    ...(isAbsent(authorities) ? [notThere(`${at}.caBundle`, authorities, 'TLS config ca bundle')] : []),
    ...(isAbsent(certificate) ? [notThere(`${at}.clientCert`, certificate, 'TLS client cert')] : []),
    ...(isAbsent(key) ? [notThere(`${at}.clientKey`, key, 'TLS client key')] : []),
  ]
}

const notThere = (at: string, file: string, what: string): string =>
  `${at}: Invalid value: ${JSON.stringify(file)}: ${what} does not exist`

/** As Go writes the internal type. */
function shownTcp({ url, tlsConfig }: JsonObject): string {
  const { caBundle, clientCert, clientKey } = asObject(tlsConfig)
  const hasTls = tlsConfig !== undefined && tlsConfig !== null
  const tls = { CABundle: asText(caBundle), ClientKey: asText(clientKey), ClientCert: asText(clientCert) }
  return JSON.stringify({ URL: asText(url), TLSConfig: hasTls ? tls : null })
}
