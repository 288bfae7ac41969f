/** What stands beside objects: discovery, health, version, metrics and issuer by every method, and what proxies refuse. */
import type { Case, Step } from '../recording.ts'
import { CM, configMap, DEP, GET, json, POD, POST } from './hostile-requests.ts'
import { flowCases } from './surface-flows.ts'

/** Headers that say something of these answers. */
const HEADERS = [
  'allow',
  'cache-control',
  'content-encoding',
  'etag',
  'location',
  'retry-after',
  'vary',
  'x-content-type-options',
]

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']

const ask = (m: string, p: string, h: Record<string, string> = {}): Step => {
  const body = ['POST', 'PUT', 'PATCH'].includes(m) ? { b: '{}' } : {}
  const type = m === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
  return { m, p, ...body, h: { ...type, ...h } }
}

/** Paths whose answers are always the same. */
const STEADY = [
  ...['/api', '/api/v1', '/apis/batch', '/apis/batch/v1', '/apis/nope', '/apis/batch/v9', '/nope', '/logs'],
  ...[
    '/healthz',
    '/livez',
    '/readyz',
    '/healthz/ping',
    '/livez/nope',
    '/readyz/shutdown',
    '/openid/v1/jwks/x',
    '/openid/v1/x',
    '/version/x',
  ],
]
/** The bodies of these are each server's own. */
const OWN = ['/', '/index.html', '/apis', '/version', '/metrics', '/metrics/slis', '/.well-known/openid-configuration']
const RESOURCES = [
  ...[CM, `${CM}/x`, `${POD}/x/log`, `${POD}/x/binding`, `${POD}/x/eviction`, `${POD}/x/exec`],
  ...[`${POD}/x/attach`, `${POD}/x/portforward`, `${POD}/x/proxy`, `${POD}/x/proxy/a`, `${POD}/x/status`],
  ...['/api/v1/nodes/$NS-n/proxy', '/api/v1/namespaces/$NS/services/x/proxy', `${DEP}/x/scale`, `${POD}/x/nope`],
  ...['/api/v1/namespaces/$NS/finalize', '/apis/authorization.k8s.io/v1/subjectaccessreviews', '/api/v1/nope'],
  ...['/api/v1/namespaces/$NS/serviceaccounts/x/token', '/apis/batch/v1/namespaces/$NS/nope/x'],
]

function methods(): readonly Case[] {
  const every = (p: string, which: readonly string[]): Case => ({
    name: `methods ${p}`,
    ...(p.includes('$NS') ? {} : { ns: false }),
    headers: HEADERS,
    steps: which.map((m) => ask(m, p)),
  })
  return [
    ...STEADY.map((p) => every(p, METHODS)),
    ...OWN.map((p) => every(p, ['/', '/index.html', '/apis'].includes(p) ? ['HEAD'] : ['HEAD', 'DELETE'])),
    ...RESOURCES.map((p) => every(p, METHODS)),
  ]
}

const DISCOVERY = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

function discovery(): readonly Case[] {
  const accepts = [
    `application/json;${DISCOVERY}`,
    `application/yaml;${DISCOVERY}`,
    `${PROTOBUF};${DISCOVERY}`,
    `${PROTOBUF};${DISCOVERY};profile=nopeer`,
    `${PROTOBUF};${DISCOVERY},application/json;${DISCOVERY},application/json`,
    `${PROTOBUF};${DISCOVERY.replace('v=v2', 'v=v2beta1')}`,
    `application/json;${DISCOVERY.replace('v=v2', 'v=v2beta1')},application/json`,
    `application/cbor;${DISCOVERY}`,
    `*/*;${DISCOVERY}`,
    PROTOBUF,
    `${PROTOBUF},application/json`,
  ]
  const of = (p: string, accept: string): Case => ({
    name: `discovery ${p} ${accept}`,
    ns: false,
    headers: HEADERS,
    steps: [GET(p, { accept })],
  })
  return [
    ...accepts.slice(0, -2).map((accept) => of('/api', accept)),
    ...accepts.flatMap((accept) => ['/api/v1', '/apis/batch', '/apis/batch/v1'].map((p) => of(p, accept))),
  ]
}

const service = (name: string, spec: unknown) =>
  POST('/api/v1/namespaces/$NS/services', { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec })
const pod = (name: string, spec: Record<string, unknown>) =>
  POST(POD, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  })
const node = (name: string, addresses?: readonly unknown[]): readonly Step[] => [
  POST('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    ...(addresses === undefined ? {} : { status: { addresses } }),
  }),
]

function refusals(): readonly Case[] {
  const [services, nodes] = ['/api/v1/namespaces/$NS/services', '/api/v1/nodes']
  const names = (...of: readonly string[]) => of
  const serviceNames = [
    ...names(
      'empty',
      'nope',
      'nope:80',
      'nope:a',
      'two',
      'two:a',
      'two:zz',
      'two:81',
      'two:82',
      'empty:80',
      'empty:81',
    ),
    ...names(
      'https:empty:80',
      'http:empty:',
      ':empty:',
      'ftp:empty:80',
      'a:b:c:d',
      '::',
      ':x',
      'http:x',
      'ext',
      'ext:80',
    ),
    ...names('Bad_Name', 'headless'),
  ]
  const podNames = [
    ...names('un', 'on', 'on:9', 'on:web', 'https:on:9', 'on:zz', 'nope', 'nope:9', 'a:b:c:d', 'ftp:on:9', ':on', '::'),
    ...names('https:on', 'on:', 'linked', 'sixth'),
  ]
  const nodeNames = ['$NS-bare', '$NS-near', '$NS-nope', '$NS-near:9', 'https:$NS-near:9', ':$NS-bare:', 'a:b:c:d']
  const status = (name: string, podIP: string): Step => ({
    m: 'PATCH',
    p: `${POD}/${name}/status`,
    b: json({ status: { podIP, podIPs: [{ ip: podIP }], phase: 'Running' } }),
    h: { 'content-type': 'application/merge-patch+json' },
  })
  const several = {
    containers: ['c', 'd'].map((name) => ({ name, image: 'i' })),
    initContainers: [{ name: 'i', image: 'i' }],
  }
  return [
    {
      name: 'proxy to services that lead nowhere',
      headers: HEADERS,
      steps: [
        service('empty', { ports: [{ port: 80 }] }),
        service('two', { ports: ['a', 'b'].map((name, i) => ({ name, port: 80 + i })) }),
        service('ext', { type: 'ExternalName', externalName: 'example.com' }),
        service('headless', { clusterIP: 'None', ports: [{ port: 80 }] }),
        ...serviceNames.map((name) => GET(`${services}/${name}/proxy/`)),
        ...['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'].map((m) => ask(m, `${services}/empty/proxy/a/b?c=d`)),
        GET('/api/v1/namespaces/$NS-none/services/x/proxy'),
      ],
    },
    {
      name: 'proxy to pods and nodes that may not be reached',
      headers: HEADERS,
      steps: [
        ...node('$NS-bare'),
        ...node('$NS-near', [{ type: 'InternalIP', address: '127.0.0.1' }]),
        pod('un', {}),
        ...['on', 'linked', 'sixth'].map((name) => pod(name, { nodeName: '$NS-bare' })),
        status('on', '127.0.0.1'),
        status('linked', '169.254.1.1'),
        status('sixth', '::1'),
        ...podNames.map((name) => GET(`${POD}/${name}/proxy/`)),
        ...nodeNames.map((name) => GET(`${nodes}/${name}/proxy/`)),
        ...['$NS-bare', '$NS-near'].map((name) => ({ m: 'DELETE', p: `${nodes}/${name}` })),
      ],
    },
    {
      name: 'sessions with containers that there are not',
      headers: HEADERS,
      steps: [
        ...node('$NS-mute'),
        pod('un', {}),
        pod('mute', { nodeName: '$NS-mute' }),
        pod('lost', { nodeName: '$NS-gone', ...several }),
        ...['un', 'mute', 'lost', 'nope'].flatMap((name) =>
          ['log', 'log?container=zz', 'log?container=c', 'exec?command=a', 'exec?command=a&container=zz', 'attach']
            .concat(['exec?command=a&container=i', 'attach?container=zz', 'attach?container=d', 'portforward'])
            .map((what) => GET(`${POD}/${name}/${what}`)),
        ),
        { m: 'DELETE', p: `${nodes}/$NS-mute` },
      ],
    },
  ]
}

/** What is the same for every method, and what the words are where it is not. */
export function surfaceCases(): readonly Case[] {
  const health = [
    '/readyz?exclude=nope',
    '/livez?exclude=etcd&exclude=nope&verbose',
    '/healthz/ping?verbose',
    '/livez/',
  ]
  return [
    ...methods(),
    ...discovery(),
    ...refusals(),
    ...flowCases(),
    {
      name: 'a body on a GET',
      headers: HEADERS,
      steps: [POST(CM, configMap('a')), { m: 'GET', p: `${CM}/a`, b: json({}) }, { m: 'HEAD', p: `${CM}/a` }],
    },
    ...health.map((p): Case => ({ name: `health ${p}`, ns: false, headers: HEADERS, steps: [GET(p)] })),
  ]
}
