import assert from 'node:assert/strict'
import { test } from 'node:test'
import { egressSelectorProblem } from './egress-selector.ts'

const HEAD = 'apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\n'
const selections = (...given: readonly string[]) =>
  `${HEAD}egressSelections:\n${given.map((one) => `- ${one}\n`).join('')}`
const direct = (name: string) => `{name: ${name}, connection: {proxyProtocol: Direct}}`
const connect = (transport: string) =>
  selections(`{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: ${transport}}}`)
const HERE = import.meta.filename
const INVALID = 'failed to validate egress selector configuration: '

// What a kube-apiserver v1.37.1 said of these (2026-11-27); nothing where it served.
for (const [text, words] of [
  [`${HEAD}egressSelections: []\n`, undefined],
  [HEAD.replace('v1beta1', 'v1alpha1'), undefined],
  [selections(direct('cluster'), direct('etcd'), direct('Controlplane')), undefined],
  [
    selections(direct('master'), direct('controlplane')),
    `${INVALID}service.connection[1]: Duplicate value: "controlplane"`,
  ],
  [
    selections(direct('Master')),
    `${INVALID}service.connection: Unsupported value: "master": supported values: "cluster", "controlplane", "etcd"`,
  ],
  [connect('{}'), `${INVALID}service.connection.tcp: Required value: One of TCP or UDS must be set`],
  [
    connect("{uds: {udsName: /tmp/x}, tcp: {url: 'http://a'}}"),
    `${INVALID}service.connection.tcp: Invalid value: {"URL":"http://a","TLSConfig":null}: TCP and UDS cannot both be set`,
  ],
  [
    connect("{tcp: {url: 'ftp://127.0.0.1:1'}}"),
    `${INVALID}service.connection.url: Invalid value: "ftp://127.0.0.1:1": supported connection protocols are http:// and https://`,
  ],
  [
    connect("{tcp: {url: 'http://127.0.0.1:1', tlsConfig: {caBundle: /x}}}"),
    `${INVALID}service.connection.tlsConfig: Invalid value: "nil": config must not be present when using HTTP`,
  ],
  [
    connect("{tcp: {url: 'https://127.0.0.1:1'}}"),
    `${INVALID}service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS`,
  ],
  [
    connect("{tcp: {url: 'https://127.0.0.1:1', tlsConfig: {caBundle: /nope}}}"),
    `${INVALID}[service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert, service.connection.tlsConfig.clientKey: Invalid value: "nil": Using TLS requires requires clientKey]`,
  ],
  [
    connect(
      `{tcp: {url: 'https://127.0.0.1:1', tlsConfig: {caBundle: /nope, clientCert: ${HERE}, clientKey: ${HERE}}}}`,
    ),
    `${INVALID}service.connection.tlsConfig.caBundle: Invalid value: "/nope": TLS config ca bundle does not exist`,
  ],
  [
    connect(`{tcp: {url: 'https://127.0.0.1:1', tlsConfig: {clientCert: /nope, clientKey: ${HERE}}}}`),
    `${INVALID}service.connection.tlsConfig.clientCert: Invalid value: "/nope": TLS client cert does not exist`,
  ],
  [
    selections(direct('foo')),
    `${INVALID}service.connection: Unsupported value: "foo": supported values: "cluster", "controlplane", "etcd"`,
  ],
  [
    selections('{name: cluster, connection: {proxyProtocol: Foo}}'),
    `${INVALID}service.connection.protocol: Unsupported value: "Foo": supported values: "Direct", "HTTPConnect", "GRPC"`,
  ],
  [
    selections("{name: cluster, connection: {proxyProtocol: Direct, transport: {tcp: {url: 'https://x'}}}}"),
    `${INVALID}service.connection.transport: Invalid value: "direct": config must be absent for direct connect`,
  ],
  [
    selections('{name: cluster, connection: {proxyProtocol: GRPC}}'),
    `${INVALID}service.connection.transport: Required value: transport must be set for GRPC`,
  ],
  [
    selections("{name: cluster, connection: {proxyProtocol: GRPC, transport: {tcp: {url: 'https://x'}}}}"),
    `${INVALID}service.connection.uds: Required value: UDS must be set with GRPC`,
  ],
  [
    selections("{name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: ''}}}}"),
    `${INVALID}service.connection.udsName: Invalid value: "nil": must be present for UDS connections`,
  ],
  [selections(direct('cluster'), direct('cluster')), `${INVALID}service.connection[1]: Duplicate value: "cluster"`],
  [
    selections("{name: '', connection: {}}"),
    `${INVALID}[service.connection.protocol: Unsupported value: "": supported values: "Direct", "HTTPConnect", "GRPC", service.connection: Unsupported value: "": supported values: "cluster", "controlplane", "etcd"]`,
  ],
  [`${HEAD}bogus: 1\n`, 'failed to read egress selector config: strict decoding error: unknown field "bogus"'],
  ['', "failed to read egress selector config: Object 'Kind' is missing in ''"],
  [
    HEAD.replace('v1beta1', 'v1'),
    'failed to read egress selector config: no kind "EgressSelectorConfiguration" is registered for version "apiserver.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
] as const)
  test(`egress: ${words ?? text.replaceAll('\n', ' ')}`, () => {
    assert.equal(egressSelectorProblem(text), words)
  })

test('a proxy is refused in a line that says which', () => {
  assert.match(
    egressSelectorProblem(
      selections('{name: cluster, connection: {proxyProtocol: GRPC, transport: {uds: {udsName: /x}}}}'),
    ) ?? '',
    /^--egress-selector-config-file: skiff connects directly: the proxy for "cluster" \(GRPC\) is not to be had here$/,
  )
})
